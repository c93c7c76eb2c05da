# SPDX-License-Identifier: MIT
"""What can go wrong above the single call."""

from __future__ import annotations

from nfsclient.errors import NfsClientError


class ServerViolation(NfsClientError):
    """The server answered what the RFC forbids and what would corrupt data if it were believed."""


class NoProgress(NfsClientError):
    """The server keeps answering success without executing the calls."""


class LinkNotFollowed(NfsClientError):
    """A symbolic link leads out of the export, or there are too many of them."""

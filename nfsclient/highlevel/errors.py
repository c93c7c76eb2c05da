# SPDX-License-Identifier: MIT
"""What can go wrong above the single call."""

from __future__ import annotations

from nfsclient.errors import EndlessListing, NfsClientError, NoProgress

__all__ = ["EndlessListing", "LinkNotFollowed", "NoProgress", "ServerViolation"]


class ServerViolation(NfsClientError):
    """The server answered what the RFC forbids and what would corrupt data if it were believed."""


class LinkNotFollowed(NfsClientError):
    """A symbolic link leads out of the export, or there are too many of them."""

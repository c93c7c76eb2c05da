# SPDX-License-Identifier: MIT
"""What can go wrong above the single call."""

from __future__ import annotations

from nfsclient.errors import EndlessListing, NfsClientError, NoProgress, ServerViolation

__all__ = ["EndlessListing", "LinkNotFollowed", "NoProgress", "ServerViolation"]


class LinkNotFollowed(NfsClientError):
    """A symbolic link leads out of the export, or there are too many of them."""

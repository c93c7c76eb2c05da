# SPDX-License-Identifier: MIT
"""What can go wrong above the single call."""

from __future__ import annotations

import errno

from nfsclient.errors import EndlessListing, NfsClientError, NoProgress, ServerViolation

__all__ = ["EndlessListing", "LinkNotFollowed", "NoProgress", "ServerViolation"]


class LinkNotFollowed(NfsClientError, OSError):
    """A symbolic link leads out of the export, or there are too many of them. `errno` is ELOOP."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.errno = errno.ELOOP

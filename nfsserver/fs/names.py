# SPDX-License-Identifier: MIT
"""Which names an entry can have."""

from __future__ import annotations

import errno

from nfsserver.fs.errors import FsError
from nfsserver.fs.limits import Limits

SELF = b"."
PARENT = b".."


def check_characters(name: bytes, limits: Limits) -> None:
    """Refuse names that no object can have here, except for aliases.

    The empty name and illegal characters give EACCES (RFC 1813 section 3.2 items 1 and 5), names longer than
    the limit ENAMETOOLONG (item 4, no_trunc being TRUE).
    """
    if not name or b"/" in name or b"\0" in name:
        raise FsError(errno.EACCES, f"{name!r} is no name")
    if not limits.allows("name_max", len(name)):
        raise FsError(errno.ENAMETOOLONG)


def is_alias(name: bytes) -> bool:
    """Whether `name` stands for a directory that has another name (RFC 1813 section 3.2 items 2 and 3)."""
    return name in (SELF, PARENT)


def check_new(name: bytes, limits: Limits) -> None:
    """Refuse what cannot name a new object; the aliases always exist already."""
    check_characters(name, limits)
    if is_alias(name):
        raise FsError(errno.EEXIST)

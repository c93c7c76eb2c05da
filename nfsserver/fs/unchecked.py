# SPDX-License-Identifier: MIT
"""Creating a file that may be there already: CREATE of NFSv2, and of NFSv3 with UNCHECKED."""

from __future__ import annotations

import errno

from nfsserver.fs.changes import Changes
from nfsserver.fs.errors import FsError
from nfsserver.fs.inode import Inode, Kind
from nfsserver.fs.permissions import Caller


def create_unchecked(caller: Caller, directory: Inode, name: bytes, changes: Changes) -> Inode:
    """A new regular file; an existing one is not changed, except for a given size.

    EEXIST: the name is that of something else than a regular file; and what `FileSystem.create` raises.
    """
    try:
        return directory.fs.create(caller, directory, name, changes)
    except FsError as refusal:
        if refusal.errno != errno.EEXIST:
            raise
    existing = directory.fs.lookup(caller, directory, name)
    if existing.kind is not Kind.REGULAR:
        raise FsError(errno.EEXIST)
    if changes.size is not None:
        directory.fs.setattr(caller, existing, Changes(size=changes.size))
    return existing

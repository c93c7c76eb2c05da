# SPDX-License-Identifier: MIT
"""The types of Spritely NFS: what its paper adds to those of NFSv2 (sections 3.1 and 3.2), and what recovery needs.

Names are those of the paper, in snake case. Where the paper declares a name and no type, or leaves something open,
docs/spritely.md has the decision and its reason: statuses from 20001 on, the results of CLOSE and CALLBACK, REOPEN.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2.types import Fattr, Fhandle
from nfsclient.xdr import Case, Struct, Union, Void, XdrEnum, u32


class Snfsstat(XdrEnum):
    """stat: how OPEN, CLOSE, CALLBACK, REOPEN and RECOVERED ended: those of NFSv2, and three more."""

    NFS_OK = 0
    NFSERR_PERM = 1
    NFSERR_NOENT = 2
    NFSERR_IO = 5
    NFSERR_NXIO = 6
    NFSERR_ACCES = 13
    NFSERR_EXIST = 17
    NFSERR_NODEV = 19
    NFSERR_NOTDIR = 20
    NFSERR_ISDIR = 21
    NFSERR_FBIG = 27
    NFSERR_NOSPC = 28
    NFSERR_ROFS = 30
    NFSERR_NAMETOOLONG = 63
    NFSERR_NOTEMPTY = 66
    NFSERR_DQUOT = 69
    NFSERR_STALE = 70
    """The client may not use this handle: it has nothing open there, or it counts as dead (section 3.2)."""
    NFSERR_WFLUSH = 99
    SNFS_INCONSISTENT = 20001
    """The open succeeded, and the file may lack what a client did not write back (section 3.2)."""
    SNFS_CLOSED = 20002
    """Of CALLBACK: done, and the file is closed at this client (section 6.2)."""
    SNFS_RECOVERING = 20003
    """The server has restarted, and waits for clients to reopen what they had (section 2.4)."""


class CbMode(XdrEnum):
    """cbMode: what a callback asks for (section 3.2)."""

    SNFS_CBWRITE = 1
    """Write dirty blocks back."""
    SNFS_CBINVAL = 2
    """Drop all blocks, and cache no more."""
    SNFS_WRINVAL = 3
    """Both, in this order."""

    @property
    def writes_back(self) -> bool:
        """Whether dirty blocks are to be written before the reply."""
        return self in (CbMode.SNFS_CBWRITE, CbMode.SNFS_WRINVAL)

    @property
    def invalidates(self) -> bool:
        """Whether caching ends."""
        return self in (CbMode.SNFS_CBINVAL, CbMode.SNFS_WRINVAL)


class Openargs(Struct):
    """The arguments of OPEN (section 3.1)."""

    file: Fhandle
    mdev: u32
    """Comes back in callbacks; means nothing to the server."""
    write_mode: bool
    """Whether the client intends to write."""


class Openok(Struct):
    """What OPEN gives (section 3.1)."""

    cache_version: u32
    """The version of the file from now on."""
    old_cache_vers: u32
    """That from before this OPEN. Cached data of another version than these two is invalid."""
    cache_enabled: bool
    """Whether the client may cache data of the file."""
    attributes: Fattr
    """As GETATTR would return them."""


class Openopres(Union):
    """openopres: the result of OPEN and REOPEN (section 3.1)."""

    status: Snfsstat
    openok: t.Annotated[Openok | None, Case(Snfsstat.NFS_OK, Snfsstat.SNFS_INCONSISTENT)] = None
    __void_default__ = True

    @property
    def resok(self) -> Openok | None:
        """`openok`."""
        return self.openok


class Closeargs(Struct):
    """The arguments of CLOSE (section 3.1)."""

    file: Fhandle
    write_mode: bool
    """As in the OPEN that it ends."""


class Closeopres(Struct):
    """closeopres: the result of CLOSE and RECOVERED: a status."""

    status: Snfsstat

    @property
    def resok(self) -> Void | None:
        """Nothing, but there on success."""
        return Void() if self.status is Snfsstat.NFS_OK else None


class Callbackargs(Struct):
    """The arguments of CALLBACK (section 3.2)."""

    file: Fhandle
    cbmode: CbMode
    mdev: u32
    """That of the OPEN."""
    attr: Fattr


class Cbackopres(Struct):
    """cbackopres: the result of CALLBACK, when everything is written back: a status."""

    status: Snfsstat

    @property
    def resok(self) -> Void | None:
        """Nothing, but there on success."""
        return Void() if self.status is Snfsstat.NFS_OK else None


class Reopenargs(Struct):
    """The arguments of REOPEN: what a client had of a file when the server restarted (section 2.4)."""

    file: Fhandle
    mdev: u32
    readers: u32
    """Opens for reading only."""
    writers: u32
    """Opens for writing."""
    dirty: bool
    """Whether it may have dirty blocks of it."""
    cache_version: u32
    """The version that the last OPEN returned."""

# SPDX-License-Identifier: MIT
"""Byte-range locks (RFC 5661 sections 18.10 to 18.12; RELEASE_LOCKOWNER in RFC 7530 section 16.37)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs4.types import (
    Length4,
    NfsLockType4,
    Nfsstat4,
    Offset4,
    Seqid4,
    Stateid4,
    StateOwner4,
)
from nfsclient.xdr import Case, Struct, Union


class OpenToLockOwner4(Struct):
    """open_to_lock_owner4: the first lock of a lock owner in an open (section 18.10)."""

    open_seqid: Seqid4
    open_stateid: Stateid4
    lock_seqid: Seqid4
    lock_owner: StateOwner4


class ExistLockOwner4(Struct):
    """exist_lock_owner4: a later lock (section 18.10)."""

    lock_stateid: Stateid4
    lock_seqid: Seqid4


class Locker4(Union):
    """locker4 (section 18.10)."""

    new_lock_owner: bool
    open_owner: t.Annotated[OpenToLockOwner4 | None, Case(True)] = None
    lock_owner: t.Annotated[ExistLockOwner4 | None, Case(False)] = None


class Lock4Args(Struct):
    """LOCK4args (section 18.10)."""

    locktype: NfsLockType4
    reclaim: bool
    offset: Offset4
    length: Length4
    """NFS4_MAXFILELEN means to the end of the file."""
    locker: Locker4


class Lock4Denied(Struct):
    """LOCK4denied: the lock in the way, or a part of it (section 18.10)."""

    offset: Offset4
    length: Length4
    locktype: NfsLockType4
    owner: StateOwner4


class Lock4ResOk(Struct):
    """LOCK4resok (section 18.10)."""

    lock_stateid: Stateid4


class Lock4Res(Union):
    """LOCK4res (section 18.10)."""

    status: Nfsstat4
    resok4: t.Annotated[Lock4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    denied: t.Annotated[Lock4Denied | None, Case(Nfsstat4.NFS4ERR_DENIED)] = None
    __void_default__ = True


class Lockt4Args(Struct):
    """LOCKT4args (section 18.11)."""

    locktype: NfsLockType4
    offset: Offset4
    length: Length4
    owner: StateOwner4


class Lockt4Res(Union):
    """LOCKT4res: NFS4_OK has no body (section 18.11)."""

    status: Nfsstat4
    denied: t.Annotated[Lock4Denied | None, Case(Nfsstat4.NFS4ERR_DENIED)] = None
    __void_default__ = True


class Locku4Args(Struct):
    """LOCKU4args (section 18.12)."""

    locktype: NfsLockType4
    seqid: Seqid4
    lock_stateid: Stateid4
    offset: Offset4
    length: Length4


class Locku4Res(Union):
    """LOCKU4res (section 18.12)."""

    status: Nfsstat4
    lock_stateid: t.Annotated[Stateid4 | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class ReleaseLockowner4Args(Struct):
    """RELEASE_LOCKOWNER4args (RFC 7530 section 16.37)."""

    lock_owner: StateOwner4


class ReleaseLockowner4Res(Struct):
    """RELEASE_LOCKOWNER4res (RFC 7530 section 16.37)."""

    status: Nfsstat4

# SPDX-License-Identifier: MIT
"""ACLs: made of a mode, kept as they were set, and mapped to a mode (RFC 5661 sections 6.3 and 6.4).

Permissions are those of the mode. So only entries are taken that a mode can follow: for OWNER@, GROUP@ and EVERYONE@,
without inheritance. What is refused gets ATTRNOTSUPP (section 6.4.1 lets a server refuse what it cannot enforce).
"""

from __future__ import annotations

import errno
import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsace4, Nfsstat4
from nfsserver.bounds import MOST
from nfsserver.fs import FsError, Inode
from nfsserver.nfs4.common import Nfs4Error

_READ: t.Final = p.ACE4_READ_DATA
_WRITE: t.Final = p.ACE4_WRITE_DATA | p.ACE4_APPEND_DATA
_EXECUTE: t.Final = p.ACE4_EXECUTE
_ALWAYS: t.Final = p.ACE4_READ_ATTRIBUTES | p.ACE4_READ_ACL | p.ACE4_SYNCHRONIZE
_OWNERS: t.Final = p.ACE4_WRITE_ATTRIBUTES | p.ACE4_WRITE_ACL | p.ACE4_WRITE_OWNER
_CLASSES: t.Final = (
    # who, shift of its bits in the mode, whose entries count
    (p.ACE4_WHO_OWNER, 6, frozenset({p.ACE4_WHO_OWNER, p.ACE4_WHO_EVERYONE})),
    (p.ACE4_WHO_GROUP, 3, frozenset({p.ACE4_WHO_GROUP, p.ACE4_WHO_EVERYONE})),
    (p.ACE4_WHO_EVERYONE, 0, frozenset({p.ACE4_WHO_EVERYONE})),
)


def acl_of(inode: Inode) -> list[Nfsace4]:
    """The ACL of an object: what was set, or what its mode says."""
    if inode.acl is not None:
        return list(inode.acl)
    return of_mode(inode.mode, is_directory=inode.directory is not None)


def of_mode(mode: int, *, is_directory: bool) -> list[Nfsace4]:
    """An ACL that grants what a mode does. A class with fewer bits than one after it is denied the rest first."""
    entries: list[Nfsace4] = []
    later = 0
    allowed = {shift: _mask(mode >> shift & 7, is_directory) for _, shift, _ in _CLASSES}
    for who, shift, _ in reversed(_CLASSES):
        flags = p.ACE4_IDENTIFIER_GROUP if who == p.ACE4_WHO_GROUP else 0
        mine = allowed[shift] | _ALWAYS | (_OWNERS if who == p.ACE4_WHO_OWNER else 0)
        block = [Nfsace4(p.ACE4_ACCESS_ALLOWED_ACE_TYPE, flags, mine, who)]
        if later & ~allowed[shift]:
            block.insert(0, Nfsace4(p.ACE4_ACCESS_DENIED_ACE_TYPE, flags, later & ~allowed[shift], who))
        entries[:0] = block
        later |= allowed[shift]
    return entries


def _mask(bits: int, is_directory: bool) -> int:
    write = _WRITE | (p.ACE4_DELETE_CHILD if is_directory else 0)
    return (_READ if bits & 4 else 0) | (write if bits & 2 else 0) | (_EXECUTE if bits & 1 else 0)


def mode_of(acl: list[Nfsace4], mode: int) -> int:
    """The mode that an ACL gives to an object (section 6.3.2). Raises ATTRNOTSUPP, INVAL."""
    if len(acl) > MOST.acl_entries:
        raise Nfs4Error(Nfsstat4.NFS4ERR_ATTRNOTSUPP)
    whos = {who for who, _, _ in _CLASSES}
    for entry in acl:
        is_plain = entry.type in {p.ACE4_ACCESS_ALLOWED_ACE_TYPE, p.ACE4_ACCESS_DENIED_ACE_TYPE}
        if not is_plain or bytes(entry.who) not in whos or entry.flag & ~p.ACE4_IDENTIFIER_GROUP:
            raise Nfs4Error(Nfsstat4.NFS4ERR_ATTRNOTSUPP)
    bits = sum(_granted(acl, counted) << shift for _, shift, counted in _CLASSES)
    return mode & ~0o777 | bits


def require_room(inode: Inode, acl: list[Nfsace4] | None) -> None:
    """Whether the file system of an object may keep one more ACL. Raises `FsError` (ENOSPC)."""
    if acl is not None:
        kept = sum(len(kept_inode.acl) for kept_inode in inode.fs.objects if kept_inode.acl is not None)
        if kept + len(acl) > MOST.all_acl_entries:
            raise FsError(errno.ENOSPC)


def _granted(acl: list[Nfsace4], counted: frozenset[bytes]) -> int:
    decided, granted = 0, 0
    for entry in acl:
        if bytes(entry.who) in counted:
            if entry.type == p.ACE4_ACCESS_ALLOWED_ACE_TYPE:
                granted |= entry.access_mask & ~decided
            decided |= entry.access_mask
    return (
        (4 if granted & _READ else 0)
        | (2 if granted & _WRITE == _WRITE else 0)
        | (1 if granted & _EXECUTE else 0)
    )

# SPDX-License-Identifier: MIT
"""Permissions: UNIX credentials compared with owner, group and mode (RFC 1813 section 4.4)."""

from __future__ import annotations

import enum
import typing as t
from dataclasses import dataclass

if t.TYPE_CHECKING:
    from nfsserver.fs.inode import Inode

READ = 4
WRITE = 2
EXECUTE = 1

NOBODY = 65_534
"""The uid and gid that stand for a squashed or an unknown caller."""


class Access(enum.IntFlag):
    """The bits of ACCESS (RFC 1813 section 3.3.4); NFSv4 has the same values."""

    READ = 0x01
    LOOKUP = 0x02
    MODIFY = 0x04
    EXTEND = 0x08
    DELETE = 0x10
    EXECUTE = 0x20


@dataclass(frozen=True, slots=True)
class Caller:
    """The identity that an operation runs under."""

    uid: int
    gid: int
    groups: frozenset[int] = frozenset()

    @property
    def is_superuser(self) -> bool:
        """Whether permissions do not restrict this caller."""
        return self.uid == 0

    def in_group(self, gid: int) -> bool:
        """Whether the caller has this group, as its main one or another."""
        return gid == self.gid or gid in self.groups

    def squashed(self) -> Caller:
        """This caller after root squashing: uid 0, and group 0 in any place, become nobody."""
        if self.uid == 0:
            return Caller(NOBODY, NOBODY)
        gid = NOBODY if self.gid == 0 else self.gid
        return Caller(self.uid, gid, self.groups - {0})


SUPERUSER = Caller(0, 0)
ANONYMOUS = Caller(NOBODY, NOBODY)


def granted_by_mode(caller: Caller, inode: Inode) -> int:
    """READ, WRITE and EXECUTE as the mode bits give them, before any allowance for a stateless server.

    The superuser may do everything except execute a non-directory that nobody may execute.
    """
    if caller.is_superuser:
        anybody_executes = inode.directory is not None or bool(inode.mode & 0o111)
        return READ | WRITE | (EXECUTE if anybody_executes else 0)
    if caller.uid == inode.uid:
        return inode.mode >> 6 & 7
    if caller.in_group(inode.gid):
        return inode.mode >> 3 & 7
    return inode.mode & 7


def may(caller: Caller, inode: Inode, wanted: int) -> bool:
    """Whether the mode bits grant all of `wanted`."""
    return granted_by_mode(caller, inode) & wanted == wanted


def may_read_data(caller: Caller, inode: Inode) -> bool:
    """The owner may read whatever the mode says, since no open is seen here; who may execute may page in."""
    return caller.uid == inode.uid or granted_by_mode(caller, inode) & (READ | EXECUTE) != 0


def may_write_data(caller: Caller, inode: Inode) -> bool:
    """The owner may write whatever the mode says, since no open is seen here."""
    return caller.uid == inode.uid or may(caller, inode, WRITE)


def may_remove(caller: Caller, directory: Inode, inode: Inode) -> bool:
    """Whether the sticky bit of `directory` lets this caller take the entry of `inode` away."""
    if not directory.mode & 0o1000:
        return True
    return caller.is_superuser or caller.uid in (directory.uid, inode.uid)


def access_rights(caller: Caller, inode: Inode) -> Access:
    """The answer to ACCESS: the mode bits alone, as an open would check them.

    Bits that have no meaning for the type stay clear: LOOKUP and DELETE outside directories, EXECUTE on them.
    """
    granted = granted_by_mode(caller, inode)
    rights = Access(0)
    if granted & READ:
        rights |= Access.READ
    if inode.directory is not None:
        if granted & EXECUTE:
            rights |= Access.LOOKUP
        if granted & WRITE and granted & EXECUTE:
            rights |= Access.MODIFY | Access.EXTEND | Access.DELETE
    else:
        if granted & WRITE:
            rights |= Access.MODIFY | Access.EXTEND
        if granted & EXECUTE:
            rights |= Access.EXECUTE
    return rights

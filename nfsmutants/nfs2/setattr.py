# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_setattr.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import IGNORED, SETATTR, Attrstat, Nfsstat2, Sattr, Sattrargs, Timeval
from nfsclient.xdr import replace
from nfsmutants.bending import inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs2.calls import Setattr
from nfsserver.fs import SUPERUSER, Changes, FsError, Inode, Kind
from nfsserver.handlers import ServerApi
from nfsserver.nfs2.common import fattr

_OLDEST: t.Final = frozenset({0, 1, 2**31 - 1, 2**31, 2**32 - 2})


def _given(attributes: Sattr) -> list[str]:
    """The names of the fields that are not -1."""
    numbers = [name for name in ("mode", "uid", "gid", "size") if getattr(attributes, name) != IGNORED]
    return numbers + [name for name in ("atime", "mtime") if getattr(attributes, name).seconds != IGNORED]


def _is_mode_alone(attributes: Sattr) -> bool:
    return _given(attributes) == ["mode"]


@mutant(SETATTR)
def setattr2_inverts_write_for_group(call: Setattr) -> Attrstat:
    """SETATTR inverts the write permission of the group"""
    if not _is_mode_alone(call.args.attributes) or call.args.attributes.mode > 0o777:
        return call.proceed()
    return call.proceed_with("attributes", mode=call.args.attributes.mode ^ 0o020)


@mutant(SETATTR)
def setattr2_type_bits_change_permissions(call: Setattr) -> Attrstat:
    """SETATTR of a mode with type bits sets wrong permission bits"""
    mode = call.args.attributes.mode
    return (
        call.proceed_with("attributes", mode=mode & 0o7777 | 0o001)
        if mode != IGNORED and mode & 0o100000
        else call.proceed()
    )


@mutant(SETATTR)
def setattr2_keeps_the_owner(call: Setattr) -> Attrstat:
    """SETATTR does not change the owner, but answers success"""
    return call.proceed_with("attributes", uid=IGNORED, gid=IGNORED)


@mutant(SETATTR)
def setattr2_swaps_atime_and_mtime(call: Setattr) -> Attrstat:
    """SETATTR swaps atime and mtime"""
    if (
        _given(call.args.attributes) not in (["atime"], ["mtime"])
        or call.args.attributes.mtime.seconds == 946_684_800
    ):
        return call.proceed()
    return call.proceed_with("attributes", atime=call.args.attributes.mtime, mtime=call.args.attributes.atime)


@mutant(SETATTR)
def setattr2_changes_extreme_times(call: Setattr) -> Attrstat:
    """SETATTR changes times at either end of the range"""
    seconds = call.args.attributes.mtime.seconds
    return (
        call.proceed_with("attributes", mtime=Timeval(seconds ^ 0x10000, 0))
        if seconds in _OLDEST
        else call.proceed()
    )


@mutant(SETATTR)
def setattr2_rounds_times_up(call: Setattr) -> Attrstat:
    """SETATTR rounds times to the next second"""
    mtime = call.args.attributes.mtime
    late = 0 < mtime.useconds < 1_000_000
    return call.proceed_with("attributes", mtime=Timeval(mtime.seconds + 1, 0)) if late else call.proceed()


@mutant(SETATTR)
def setattr2_sets_an_unset_field(call: Setattr) -> Attrstat:
    """SETATTR also sets another field if only one is given"""
    given = _given(call.args.attributes)
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    if inode is None or len(given) != 1 or reply.attributes is None or call.args.attributes.size == 0:
        return reply
    if given == ["mode"]:
        inode.mtime -= 10**12
    else:
        inode.mode ^= 0o010
    return replace(reply, attributes=fattr(inode))


@mutant(SETATTR)
def setattr2_of_nothing_updates_times(call: Setattr) -> Attrstat:
    """SETATTR with -1 in all fields updates the times of the file"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    if inode is not None and not _given(call.args.attributes):
        inode.mtime = call.backend.fs.stamp() + 10**9
    return reply


@mutant(SETATTR)
def setattr2_sets_only_the_first_field(call: Setattr) -> Attrstat:
    """SETATTR sets the first of several fields only"""
    given = _given(call.args.attributes)
    if len(given) < 2:
        return call.proceed()
    return call.proceed_with(
        attributes=replace(Sattr(), **{given[0]: getattr(call.args.attributes, given[0])})
    )


@mutant(SETATTR)
def setattr2_returns_old_attributes(call: Setattr) -> Attrstat:
    """SETATTR returns the attributes from before the change"""
    inode = inode_of(call.server, call.args.file)
    before = None if inode is None else fattr(inode)
    reply = call.proceed()
    return reply if reply.attributes is None else replace(reply, attributes=before)


@mutant(SETATTR)
def setattr2_anybody_changes_the_mode(call: Setattr) -> Attrstat:
    """SETATTR lets anybody change the mode of any file"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    if reply.status != Nfsstat2.NFSERR_PERM or inode is None:
        return reply
    inode.fs.setattr(SUPERUSER, inode, Changes(mode=call.args.attributes.mode))
    return Attrstat(Nfsstat2.NFS_OK, fattr(inode))


# ---------------------------------------------------------------- sizes


@mutant(SETATTR)
def setattr2_ignores_size_0(call: Setattr) -> Attrstat:
    """SETATTR ignores a size of 0"""
    return call.proceed_with("attributes", size=IGNORED) if call.args.attributes.size == 0 else call.proceed()


def _file(server: ServerApi, args: Sattrargs) -> Inode | None:
    inode = inode_of(server, args.file)
    return inode if inode is not None and inode.data is not None else None


@mutant(SETATTR)
def setattr2_truncates_a_byte_too_much(call: Setattr) -> Attrstat:
    """SETATTR that truncates a file loses the last of the remaining bytes"""
    inode, size = _file(call.server, call.args), call.args.attributes.size
    cuts = inode is not None and 0 < size < inode.size
    reply = call.proceed()
    if cuts and inode is not None and inode.data is not None:
        inode.data.write(size - 1, b"\0", stable=True)
    return reply


@mutant(SETATTR)
def setattr2_does_not_extend(call: Setattr) -> Attrstat:
    """SETATTR does not extend files, but answers success"""
    inode, size = _file(call.server, call.args), call.args.attributes.size
    extends = inode is not None and inode.size < size < IGNORED
    return call.proceed_with("attributes", size=IGNORED) if extends else call.proceed()


@mutant(SETATTR)
def setattr2_halves_large_sizes(call: Setattr) -> Attrstat:
    """SETATTR halves sizes of 2^31-1 and more"""
    size = call.args.attributes.size
    return call.proceed_with("attributes", size=size // 2) if 2**31 - 1 <= size < IGNORED else call.proceed()


@mutant(SETATTR)
def setattr2_extension_restores_old_data(call: Setattr) -> Attrstat:
    """SETATTR that extends a file restores the data that was cut off"""
    kept: dict[bytes, bytes] = call.state.setdefault("kept", {})
    inode, size = _file(call.server, call.args), call.args.attributes.size
    old_size = 0 if inode is None else inode.size
    if inode is not None and inode.data is not None and size < old_size:
        kept[call.args.file] = inode.data.read(0, old_size)
    reply = call.proceed()
    if inode is not None and inode.data is not None and old_size < size < IGNORED and call.args.file in kept:
        inode.data.write(old_size, kept[call.args.file][old_size:size], stable=True)
    return reply


@mutant(SETATTR)
def setattr2_same_size_clears(call: Setattr) -> Attrstat:
    """SETATTR of the size that a file has clears the last byte"""
    inode, size = _file(call.server, call.args), call.args.attributes.size
    is_same = inode is not None and inode.size == size > 0
    reply = call.proceed()
    if is_same and inode is not None and inode.data is not None:
        inode.data.write(size - 1, b"\0", stable=True)
    return reply


@mutant(SETATTR)
def setattr2_truncates_non_files(call: Setattr) -> Attrstat:
    """SETATTR of size 0 empties directories and links"""
    inode = inode_of(call.server, call.args.file)
    if inode is not None and call.args.attributes.size == 0:
        if inode.kind is Kind.SYMLINK:
            inode.target = b""
        elif inode.directory is not None:
            for name in inode.directory.names():
                try:
                    inode.fs.remove(SUPERUSER, inode, name)
                except FsError:
                    continue
    return call.proceed()

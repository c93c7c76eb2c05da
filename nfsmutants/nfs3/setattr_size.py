# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_setattr_size.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import DONT_CHANGE_TIME, SETATTR, Nfsstat3, Setattr3Res, Setattr3ResOk
from nfsmutants.bending import inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import refuse_setattr
from nfsmutants.nfs3.calls import Setattr
from nfsserver.fs import Kind
from nfsserver.fs.pages import PagedData
from nfsserver.nfs3.common import Watched

_BLOCK: t.Final = 512


def _success(call: Setattr) -> Setattr3Res:
    """A reply with OK to a call that is not executed."""
    watched = Watched(call.server, call.args.object)
    return Setattr3Res(Nfsstat3.NFS3_OK, Setattr3ResOk(watched.wcc()))


class _Resized(t.NamedTuple):
    """What a successful SETATTR did to the size of a regular file."""

    data: PagedData
    before: int
    asked: int


def _resize(call: Setattr) -> tuple[Setattr3Res, _Resized | None]:
    """The reply, and the change of the size if there was one."""
    inode, asked = inode_of(call.server, call.args.object), call.args.new_attributes.size
    before = 0 if inode is None else inode.size
    reply = call.proceed()
    if inode is None or inode.data is None or asked is None or reply.status != Nfsstat3.NFS3_OK:
        return reply, None
    return reply, _Resized(inode.data, before, asked)


# ---------------------------------------------------------------- mode, owner and group


@mutant(SETATTR)
def setattr3_anybody_truncates(call: Setattr) -> Setattr3Res:
    """SETATTR lets anybody set the size of a file"""
    return call.proceed() if call.args.new_attributes.size is None else call.proceed_as_root()


# ---------------------------------------------------------------- size


@mutant(SETATTR)
def setattr3_truncates_to_whole_blocks(call: Setattr) -> Setattr3Res:
    """SETATTR truncates a file only to whole blocks"""
    inode = inode_of(call.server, call.args.object)
    size = call.args.new_attributes.size
    if inode is None or size is None or not _BLOCK < size < inode.size:
        return call.proceed()
    return call.proceed_with("new_attributes", size=min(-(-size // _BLOCK) * _BLOCK, inode.size))


@mutant(SETATTR)
def setattr3_ignores_size_zero(call: Setattr) -> Setattr3Res:
    """SETATTR ignores a size of 0"""
    inode = inode_of(call.server, call.args.object)
    is_file = inode is not None and inode.kind is Kind.REGULAR
    is_meant = is_file and call.args.new_attributes.size == 0
    return call.proceed_with("new_attributes", size=None) if is_meant else call.proceed()


@mutant(SETATTR)
def setattr3_truncates_large_sizes(call: Setattr) -> Setattr3Res:
    """SETATTR stores only the lower 32 bits of a size"""
    asked = call.args.new_attributes
    return (
        call.proceed()
        if asked.size is None
        else call.proceed_with("new_attributes", size=asked.size & 0xFFFF_FFFF)
    )


@mutant(SETATTR)
def setattr3_truncation_clears_a_byte_too_many(call: Setattr) -> Setattr3Res:
    """SETATTR that truncates clears the last remaining byte"""
    reply, file = _resize(call)
    if file is not None and _BLOCK < file.asked < file.before:
        file.data.write(file.asked - 1, b"\0", stable=True)
    return reply


@mutant(SETATTR)
def setattr3_same_size_clears(call: Setattr) -> Setattr3Res:
    """SETATTR of the present size clears the data of the file"""
    reply, file = _resize(call)
    if file is not None and file.asked == file.before:
        file.data.truncate(0)
        file.data.truncate(file.asked)
    return reply


@mutant(SETATTR)
def setattr3_extends_with_garbage(call: Setattr) -> Setattr3Res:
    """SETATTR extends with bytes other than zero"""
    reply, file = _resize(call)
    if file is not None and 0 < file.before < file.asked < 1 << 20:
        garbage = b"garbage"[: file.asked - file.before]
        file.data.write((file.before + file.asked) // 2, garbage, stable=True)
    return reply


@mutant(SETATTR)
def setattr3_extension_clears_the_data(call: Setattr) -> Setattr3Res:
    """SETATTR that extends clears the old data of the file"""
    reply, file = _resize(call)
    if file is not None and 0 < file.before < file.asked:
        file.data.truncate(0)
        file.data.truncate(file.asked)
    return reply


@mutant(SETATTR)
def setattr3_extension_restores_old_data(call: Setattr) -> Setattr3Res:
    """SETATTR that extends restores data that an earlier one cut off"""
    args = call.args
    inode, asked = inode_of(call.server, args.object), args.new_attributes.size
    if inode is None or inode.data is None or asked is None:
        return call.proceed()
    cut_off = call.state.setdefault("files", {})
    size = inode.size
    end = inode.data.read(asked, size - asked) if asked < size else b""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3_OK:
        return reply
    if asked < size:
        cut_off[args.object] = (asked, end)
    elif asked > size and args.object in cut_off:
        at, data = cut_off.pop(args.object)
        inode.data.write(at, data[: asked - at], stable=True)
    return reply


@mutant(SETATTR)
def setattr3_refuses_to_extend(call: Setattr) -> Setattr3Res:
    """SETATTR answers INVAL to a size above that of the file, up to 4 GiB"""
    inode, asked = inode_of(call.server, call.args.object), call.args.new_attributes.size
    if inode is not None and asked is not None and 0 < inode.size < asked < 1 << 32:
        return refuse_setattr(call, Nfsstat3.NFS3ERR_INVAL)
    return call.proceed()


@mutant(SETATTR)
def setattr3_refuses_2_gib(call: Setattr) -> Setattr3Res:
    """SETATTR answers INVAL to a size above 2 GiB, though maxfilesize is larger"""
    if (call.args.new_attributes.size or 0) > 2**31:
        return refuse_setattr(call, Nfsstat3.NFS3ERR_INVAL)
    return call.proceed()


@mutant(SETATTR)
def setattr3_size_leaves_mtime(call: Setattr) -> Setattr3Res:
    """SETATTR of a size does not change mtime"""
    inode = inode_of(call.server, call.args.object)
    mtime = 0 if inode is None else inode.mtime
    reply = call.proceed()
    asked = call.args.new_attributes
    if inode is not None and asked.size is not None and asked.mtime == DONT_CHANGE_TIME:
        inode.mtime = mtime
    return reply


def _take_a_size(call: Setattr, kind: Kind) -> Setattr3Res:
    inode = inode_of(call.server, call.args.object)
    is_meant = inode is not None and inode.kind is kind and call.args.new_attributes.size is not None
    return _success(call) if is_meant else call.proceed()


@mutant(SETATTR)
def setattr3_accepts_a_size_of_directories(call: Setattr) -> Setattr3Res:
    """SETATTR of the size of a directory answers OK, and does nothing"""
    return _take_a_size(call, Kind.DIRECTORY)


@mutant(SETATTR)
def setattr3_accepts_a_size_of_fifos(call: Setattr) -> Setattr3Res:
    """SETATTR of the size of a FIFO answers OK, and does nothing"""
    return _take_a_size(call, Kind.FIFO)


@mutant(SETATTR)
def setattr3_size_empties_directories(call: Setattr) -> Setattr3Res:
    """SETATTR of the size of a directory is refused, but removes its entries"""
    inode = inode_of(call.server, call.args.object)
    if inode is not None and inode.directory is not None and call.args.new_attributes.size is not None:
        for name in inode.directory.names():
            inode.fs.remove(call.caller, inode, name)
    return call.proceed()

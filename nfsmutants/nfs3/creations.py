# SPDX-License-Identifier: MIT
"""More mutants of CREATE, MKDIR, SYMLINK and MKNOD: initial attributes, repeated creation, data of links."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    MKDIR,
    MKNOD,
    READLINK,
    SYMLINK,
    Create3Res,
    CreateMode3,
    Ftype3,
    Mkdir3Args,
    Mknod3Args,
    Mknod3Res,
    Mknoddata3,
    Nfsstat3,
    Readlink3Res,
    Readlink3ResFail,
    Sattr3,
    Symlink3Args,
    Symlink3Res,
)
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import find
from nfsmutants.nfs3.calls import Create, Mknod, Symlink
from nfsmutants.rules import RFC1813_CREATE, RFC1813_MKNOD, RFC1813_READLINK, RFC1813_SYMLINK
from nfsserver.fs import Inode

_MADE: t.Final = frozenset({Ftype3.NF3BLK, Ftype3.NF3CHR, Ftype3.NF3SOCK, Ftype3.NF3FIFO, Ftype3.NF3REG})
_OPEN: t.Final = Sattr3(mode=0o777)


@mutant((CREATE, MKDIR, MKNOD), RFC1813_CREATE)
def creations3_ignore_initial_attributes(call: AnyCall) -> t.Any:
    """What is created has other attributes than was asked: mode 777, and nothing else"""
    if isinstance(call.args, Mkdir3Args):
        return call.proceed_with(attributes=_OPEN)
    if isinstance(call.args, Mknod3Args):
        return call.proceed_with("what", pipe_attributes=_OPEN)
    if call.args.how.obj_attributes is None:
        return call.proceed()
    return call.proceed_with("how", obj_attributes=_OPEN)


def _repeated(call: Create) -> tuple[Create3Res, Inode | None]:
    """The reply, and the file when an EXCLUSIVE CREATE of it was repeated."""
    there = find(call.server, call.args.where)
    reply = call.proceed()
    is_repeated = reply.status == Nfsstat3.NFS3_OK and call.args.how.mode == CreateMode3.EXCLUSIVE
    return reply, there if is_repeated else None


@mutant(CREATE, RFC1813_CREATE)
def create3_exclusive_truncates_again(call: Create) -> Create3Res:
    """EXCLUSIVE CREATE that is repeated empties the file"""
    reply, file = _repeated(call)
    if file is not None and file.data is not None:
        file.data.truncate(0)
    return reply


@mutant(CREATE, RFC1813_CREATE)
def create3_exclusive_resets_the_mode(call: Create) -> Create3Res:
    """EXCLUSIVE CREATE that is repeated resets the mode"""
    reply, file = _repeated(call)
    if file is not None:
        file.mode = 0o644
    return reply


@mutant(SYMLINK, RFC1813_READLINK)
def symlink3_adds_a_byte(call: Symlink) -> Symlink3Res:
    """SYMLINK stores a slash after what it was given, in place of the last byte of the longest"""
    data = call.args.symlink.symlink_data[: call.server.fs.limits.path_max - 1] + b"/"
    return call.proceed_with("symlink", symlink_data=data)


@mutant((SYMLINK, READLINK), RFC1813_SYMLINK)
def symlink3_takes_two_steps(call: AnyCall) -> t.Any:
    """SYMLINK makes the link first and its data later: the first READLINK after it fails"""
    state = call.state
    if isinstance(call.args, Symlink3Args):
        state["between"] = True
    elif state.pop("between", False):
        return Readlink3Res(Nfsstat3.NFS3ERR_IO, resfail=Readlink3ResFail(None))
    return call.proceed()


@mutant(MKNOD, RFC1813_MKNOD)
def mknod3_makes_what_it_cannot(call: Mknod) -> Mknod3Res:
    """MKNOD makes a FIFO when it is asked for a type that it does not make, regular files excepted"""
    if call.args.what.type in _MADE:
        return call.proceed()
    from_nothing = Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=Sattr3(mode=0o644))
    return call.proceed_with(what=from_nothing)

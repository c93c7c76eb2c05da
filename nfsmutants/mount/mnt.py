# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/mount/test_mnt.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import (
    FHSIZE,
    MNT1,
    MNT2,
    MNT3,
    PROGRAM,
    DirpathArgs,
    Mnt1Res,
    Mnt3Res,
    Mountres3Ok,
    MountStat1,
    MountStat3,
)
from nfsclient.rpc.messages import AcceptStat, CallHeader
from nfsclient.rpc.service import Refused
from nfsclient.xdr import XdrError
from nfsmutants.bending import amend, count
from nfsmutants.form import AnyCall, Call, Message, mutant, wire_mutant
from nfsmutants.mount.bending import Res, _is_call, _word, first_directory, gives
from nfsmutants.rules import (
    RFC1813_MOUNT_SIZES,
    RFC1813_MOUNT_STATUS,
)
from nfsserver.fs import FsError, Inode
from nfsserver.middleware import Answer
from nfsserver.mount import AUTH_SYS

_RESULTS = 24
"""Where the results begin in a reply with an empty verifier."""


# ---------------------------------------------------------------- handles


@mutant((MNT1, MNT2), kills_many="whatever is mounted by these versions begins with MNT")
def mnt1_returns_an_unusable_handle(call: Call[DirpathArgs, Mnt1Res]) -> Mnt1Res:
    """MNT of versions 1 and 2 returns a handle that every procedure refuses"""
    reply = call.proceed()
    return reply if reply.directory is None else Mnt1Res(MountStat1.OK, b"x" * FHSIZE)


@mutant((MNT1, MNT2), kills_many="whatever is mounted by these versions begins with MNT")
def mnt1_mounts_another_directory(call: Call[DirpathArgs, Res]) -> Res:
    """MNT of versions 1 and 2 returns the first directory in the export instead of the export"""
    reply = call.proceed()
    other = first_directory(call)
    return reply if other is None else gives(call, other)


@mutant(MNT2, kills_many="checks of MNT, UMNT and DUMP mount paths that must be refused")
def mnt2_mounts_unknown_paths(call: Call[DirpathArgs, Mnt1Res]) -> Mnt1Res:
    """MNT of version 2 answers an unknown path with the handle of the first export"""
    reply = call.proceed()
    if reply.resok is not None:
        return reply
    return Mnt1Res(MountStat1.OK, call.backend.handle_of(call.backend.fs.root))


@wire_mutant(kills_many="whatever is mounted by these versions begins with MNT")
def mnt1_returns_64_bytes(message: Message) -> Answer:
    """MNT of versions 1 and 2 returns a handle of 64 bytes"""
    reply = message.proceed()
    if reply is None or not _is_call(message.data, MNT1.number, (1, 2)):
        return reply
    return [*reply, bytes(FHSIZE)]


@wire_mutant(kills_many="whatever is mounted begins with MNT")
def mnt3_returns_72_bytes(message: Message) -> Answer:
    """MNT of version 3 returns a handle of 72 bytes"""
    reply = message.proceed()
    if reply is None or not _is_call(message.data, MNT3.number, (3,)):
        return reply
    whole = b"".join(reply)
    if whole[_RESULTS : _RESULTS + 4] != bytes(4):
        return [whole]
    at = _RESULTS + 8
    length = int.from_bytes(whole[at - 4 : at], "big")
    handle = whole[at : at + length].ljust(72, b"\0")
    return [whole[: at - 4] + _word(72) + handle + whole[at + length :]]


@mutant(MNT3)
def mnt3_lists_a_refused_flavor(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT lists AUTH_NONE as well, which NFS refuses"""
    return amend(call.proceed(), auth_flavors=[1, 0])


# ---------------------------------------------------------------- access


@mutant(MNT3)
def mnt3_denial_is_io(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT answers IO instead of a status for missing permission"""
    reply = call.proceed()
    is_denied = reply.fhs_status == MountStat3.MNT3ERR_ACCES
    return Mnt3Res(MountStat3.MNT3ERR_IO) if is_denied else reply


@mutant(MNT3)
def mnt3_mounts_unknown_paths(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT answers an unknown path with the handle of the first export"""
    reply = call.proceed()
    if reply.fhs_status != MountStat3.MNT3ERR_NOENT:
        return reply
    return Mnt3Res(MountStat3.MNT3_OK, Mountres3Ok(call.backend.handle_of(call.backend.fs.root), [AUTH_SYS]))


@mutant(MNT1, kills_many="checks of MNT, UMNT and DUMP mount paths that must be refused")
def mnt1_mounts_unknown_paths(call: Call[DirpathArgs, Mnt1Res]) -> Mnt1Res:
    """MNT of version 1 answers an unknown path with the handle of the first export"""
    reply = call.proceed()
    if reply.directory is not None:
        return reply
    return Mnt1Res(MountStat1.OK, call.backend.handle_of(call.backend.fs.root))


@mutant(MNT3)
def mnt3_mounts_a_file(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT answers the path of a file with the handle of the first export"""
    reply = call.proceed()
    if reply.fhs_status != MountStat3.MNT3ERR_NOTDIR:
        return reply
    return Mnt3Res(MountStat3.MNT3_OK, Mountres3Ok(call.backend.handle_of(call.backend.fs.root), [AUTH_SYS]))


@mutant(MNT3, kills_many="whatever is mounted begins with MNT")
def mnt3_returns_an_unusable_handle(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT returns a handle that every procedure refuses"""
    return amend(call.proceed(), fhandle=b"no handle of this server")


@mutant(MNT3)
def mnt3_mounts_another_directory(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """Every second MNT returns the handle of the first directory in the export instead of that of the export"""
    reply = call.proceed()
    other = first_directory(call)
    if count(call.state) % 2 or other is None:
        return reply
    return amend(reply, fhandle=call.backend.handle_of(other))


@mutant(MNT3)
def mnt3_lists_only_a_refused_flavor(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT lists AUTH_NONE alone, which NFS refuses"""
    return amend(call.proceed(), auth_flavors=[0])


ALL = (MNT1, MNT2, MNT3)


def _below(call: AnyCall, names: t.Sequence[bytes]) -> Inode | None:
    """The object that a path names; the first of `names` is the export."""
    inode = call.backend.fs.root
    try:
        for name in names[1:]:
            inode = call.backend.fs.lookup(call.caller, inode, name)
    except FsError:
        return None
    return inode


@mutant(ALL)
def mnt_below_export_returns_the_export(call: Call[DirpathArgs, Res]) -> Res:
    """MNT answers the path of a directory below an export with the handle of the export"""
    reply = call.proceed()
    return reply if reply.resok is None else gives(call, call.backend.fs.root)


@mutant(ALL)
def mnt_swaps_the_dots(call: Call[DirpathArgs, Res]) -> Res:
    """MNT treats a dot at the end of a path as two dots, and two dots as one"""
    *names, last = call.args.dirpath.lstrip(b"/").split(b"/")
    if last not in (b".", b"..") or len(names) < 2:
        return call.proceed()
    inode = _below(call, names[:-1] if last == b"." else names)
    return call.proceed() if inode is None else gives(call, inode)


@mutant(ALL)
def mnt_stops_at_a_double_slash(call: Call[DirpathArgs, Res]) -> Res:
    """MNT of a path with an empty name in the middle or at the end returns a directory above the right one"""
    names = call.args.dirpath.lstrip(b"/").split(b"/")
    if len(names) < 4 or b"" not in names:
        return call.proceed()
    at = names.index(b"")
    inode = _below(call, names[: at - (at == len(names) - 1)])
    return call.proceed() if inode is None else gives(call, inode)


@mutant(ALL)
def mnt_returns_handles_of_links(call: Call[DirpathArgs, Res]) -> Res:
    """MNT answers the path of a symbolic link with the handle of the link"""
    reply = call.proceed()
    inode = None
    if reply.resok is None:
        inode = _below(call, call.args.dirpath.strip(b"/").split(b"/"))
    return reply if inode is None or not inode.target else gives(call, inode)


@mutant((MNT1, MNT2))
def mnt1_mounts_files(call: Call[DirpathArgs, Res]) -> Res:
    """MNT of versions 1 and 2 answers NOTDIR with the handle of the export instead"""
    reply = call.proceed()
    is_refused = int(reply.status) == MountStat3.MNT3ERR_NOTDIR
    return gives(call, call.backend.fs.root) if is_refused else reply


@mutant(ALL)
def mnt_ignores_names_after_a_file(call: Call[DirpathArgs, Res]) -> Res:
    """MNT of a path that continues after a file returns the directory of the file"""
    reply = call.proceed()
    *names, _ = call.args.dirpath.lstrip(b"/").split(b"/")
    inode = None if reply.resok is not None else _below(call, names)
    if inode is None or inode.directory is not None:
        return reply
    parent = _below(call, names[:-1])
    return reply if parent is None else gives(call, parent)


@mutant(ALL)
def mnt_caches_handles_by_path(call: Call[DirpathArgs, Res]) -> Res:
    """MNT of a nested path repeats the answer of the first MNT of this path"""
    known = call.state
    key = f"{call.context.version} {call.args.dirpath!r}"
    if key in known:
        remembered: Res = known[key]
        return remembered
    reply = call.proceed()
    if reply.resok is not None and call.args.dirpath.rstrip(b"/").count(b"/") > 1:
        known[key] = reply
    return reply


@mutant(ALL)
def mnt_does_not_decode_long_paths(call: Call[DirpathArgs, Res]) -> Res:
    """MNT answers GARBAGE_ARGS to paths of 1023 and 1024 bytes"""
    if len(call.args.dirpath) >= 1023:
        raise Refused(accept_stat=AcceptStat.GARBAGE_ARGS)
    return call.proceed()


@wire_mutant(breaks=RFC1813_MOUNT_SIZES)
def mnt_cuts_long_paths(message: Message) -> Answer:
    """MNT cuts paths of more than 1024 bytes after the name of the export"""
    try:
        header, end = CallHeader.unpack_from(message.data)
    except XdrError:
        return message.proceed()
    length = int.from_bytes(message.data[end : end + 4], "big")
    if (header.prog, header.proc) != (PROGRAM, 1) or length <= 1024:
        return message.proceed()
    return message.proceed(
        message.data[:end] + DirpathArgs(next(iter(message.server.backend.exports))).to_xdr()
    )


def _invent_a_status(call: Call[DirpathArgs, Mnt3Res], *, is_meant: bool) -> Mnt3Res:
    """A status that MOUNT does not define (EREMOTE of many systems), instead of a refusal."""
    reply = call.proceed()
    return Mnt3Res(MountStat3(66)) if reply.resok is None and is_meant else reply


@mutant(MNT3)
def mnt3_invents_a_status_for_short_paths(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT refuses paths of up to 8 bytes with a status that MOUNT does not define"""
    return _invent_a_status(call, is_meant=len(call.args.dirpath) <= 8)


@mutant(MNT3)
def mnt3_invents_a_status_for_strange_paths(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT refuses paths with bytes other than printable ASCII with a status that MOUNT does not define"""
    return _invent_a_status(call, is_meant=any(not 32 <= byte < 127 for byte in call.args.dirpath))


@mutant(MNT3)
def mnt3_invents_a_status_for_long_paths(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT refuses paths of 256 to 1000 bytes with a status that MOUNT does not define"""
    return _invent_a_status(call, is_meant=256 <= len(call.args.dirpath) <= 1000)


@mutant(MNT3, breaks=RFC1813_MOUNT_STATUS)
def mnt3_too_long_is_io(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT answers IO if a name in the path is too long"""
    reply = call.proceed()
    is_too_long = reply.fhs_status == MountStat3.MNT3ERR_NAMETOOLONG
    return Mnt3Res(MountStat3.MNT3ERR_IO) if is_too_long else reply

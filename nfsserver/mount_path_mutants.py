# SPDX-License-Identifier: MIT
"""Mutants of the paths that MNT takes, in all versions."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import (
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
from nfsclient.rpc.service import CallContext, Refused
from nfsclient.xdr import XdrError
from nfsserver.fs import FsError, Inode
from nfsserver.mount import AUTH_SYS
from nfsserver.mutants import Answer, Proceed, ProceedWire, mutant, wire_mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

Res: t.TypeAlias = Mnt1Res | Mnt3Res
ALL = (MNT1, MNT2, MNT3)
_MNT = "RFC 1813 section 5.2.1"
_SIZES = "RFC 1813 section 5.1.4"
_STATUS = "RFC 1813 section 5.1.5"


def gives(server: Server, context: CallContext, inode: Inode) -> Res:
    """Success with the handle of `inode`, in the version of the call."""
    handle = server.handle_of(inode)
    if context.version == 3:
        return Mnt3Res(MountStat3.MNT3_OK, Mountres3Ok(handle, [AUTH_SYS]))
    return Mnt1Res(MountStat1.OK, handle)


def _below(server: Server, context: CallContext, names: t.Sequence[bytes]) -> Inode | None:
    """What is at the end of these names, the first of which is the export."""
    inode = server.fs.root
    try:
        for name in names[1:]:
            inode = server.fs.lookup(server.caller(context), inode, name)
    except FsError:
        return None
    return inode


@mutant(
    "mnt-gives-the-export-for-what-lies-below",
    bends=ALL,
    breaks=_MNT,
    gist="MNT answers the path of a directory in a directory of the export with the handle of the export",
)
def mnt_gives_the_export_for_what_lies_below(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Res]
) -> Res:
    """Only for paths that are written in the ordinary way."""
    reply = proceed(context, args)
    names = args.dirpath.split(b"/")
    is_ordinary = b"" not in names[1:] and names[-1] == b"inner"
    return gives(server, context, server.fs.root) if reply.resok is not None and is_ordinary else reply


@mutant(
    "mnt-takes-dot-for-dot-dot",
    bends=ALL,
    breaks=_MNT,
    gist="MNT takes a dot at the end of a path for two, and two for one",
)
def mnt_takes_dot_for_dot_dot(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Res]
) -> Res:
    """Walk the other way."""
    *names, last = args.dirpath.lstrip(b"/").split(b"/")
    if last not in (b".", b"..") or len(names) < 2:
        return proceed(context, args)
    inode = _below(server, context, names[:-1] if last == b"." else names)
    return proceed(context, args) if inode is None else gives(server, context, inode)


@mutant(
    "mnt-stops-at-an-empty-name",
    bends=ALL,
    breaks=_MNT,
    gist="MNT leaves out what lies around an empty name in the middle or at the end of a path",
)
def mnt_stops_at_an_empty_name(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Res]
) -> Res:
    """``/a/b//c`` is taken for ``/a/b``, and ``/a/b/`` for ``/a``."""
    names = args.dirpath.lstrip(b"/").split(b"/")
    if len(names) < 4 or b"" not in names:
        return proceed(context, args)
    at = names.index(b"")
    inode = _below(server, context, names[: at - (at == len(names) - 1)])
    return proceed(context, args) if inode is None else gives(server, context, inode)


@mutant(
    "mnt-gives-symbolic-links",
    bends=ALL,
    breaks=_MNT,
    gist="MNT answers the path of a symbolic link with the handle of the link",
)
def mnt_gives_symbolic_links(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Res]
) -> Res:
    """Hand it out as it is."""
    reply = proceed(context, args)
    inode = None
    if reply.resok is None:
        inode = _below(server, context, args.dirpath.strip(b"/").split(b"/"))
    return reply if inode is None or not inode.target else gives(server, context, inode)


@mutant(
    "mnt1-mounts-what-is-no-directory",
    bends=(MNT1, MNT2),
    breaks="RFC 1094 section A.4.3",
    gist="MNT of versions 1 and 2 answers NOTDIR with the handle of the export instead",
)
def mnt1_mounts_what_is_no_directory(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Res]
) -> Res:
    """Turn NOTDIR into success."""
    reply = proceed(context, args)
    is_refused = int(reply.status) == MountStat3.MNT3ERR_NOTDIR
    return gives(server, context, server.fs.root) if is_refused else reply


@mutant(
    "mnt-ignores-what-follows-a-file",
    bends=ALL,
    breaks=_MNT,
    gist="MNT of a path that goes on behind a file answers with the directory that has the file",
)
def mnt_ignores_what_follows_a_file(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Res]
) -> Res:
    """Stop at the directory."""
    reply = proceed(context, args)
    *names, _ = args.dirpath.lstrip(b"/").split(b"/")
    inode = None if reply.resok is not None else _below(server, context, names)
    if inode is None or inode.directory is not None:
        return reply
    parent = _below(server, context, names[:-1])
    return reply if parent is None else gives(server, context, parent)


@mutant(
    "mnt-remembers-paths",
    bends=ALL,
    breaks=_MNT,
    gist="MNT of a nested path answers what it answered when the path was first mounted",
)
def mnt_remembers_paths(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Res]
) -> Res:
    """Never forget."""
    known = server.mutant_state("mnt-remembers-paths")
    key = f"{context.version} {args.dirpath!r}"
    if key in known:
        remembered: Res = known[key]
        return remembered
    reply = proceed(context, args)
    if reply.resok is not None and args.dirpath.rstrip(b"/").count(b"/") > 1:
        known[key] = reply
    return reply


@mutant(
    "mnt-cannot-decode-long-paths",
    bends=ALL,
    breaks=_SIZES,
    gist="MNT answers GARBAGE_ARGS to paths of 1023 and 1024 bytes",
)
def mnt_cannot_decode_long_paths(
    _server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Res]
) -> Res:
    """Refuse them."""
    if len(args.dirpath) >= 1023:
        raise Refused(accept_stat=AcceptStat.GARBAGE_ARGS)
    return proceed(context, args)


@wire_mutant(
    "mnt-cuts-long-paths",
    breaks=_SIZES,
    gist="MNT cuts paths of more than 1024 bytes behind the name of the export",
)
def mnt_cuts_long_paths(server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Put the first export in the place of the path."""
    try:
        header, end = CallHeader.unpack_from(message)
    except XdrError:
        return proceed(message)
    length = int.from_bytes(message[end : end + 4], "big")
    if (header.prog, header.proc) != (PROGRAM, 1) or length <= 1024:
        return proceed(message)
    return proceed(message[:end] + DirpathArgs(next(iter(server.exports))).to_xdr())


def _invents(name: str, gist: str, is_meant: t.Callable[[bytes], bool]) -> None:
    @mutant(name, bends=MNT3, breaks=_STATUS, gist=gist)
    def invent(
        _server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt3Res]
    ) -> Mnt3Res:
        """Answer EREMOTE of many systems, which is no status of MNT."""
        reply = proceed(context, args)
        return Mnt3Res(MountStat3(66)) if reply.resok is None and is_meant(args.dirpath) else reply


_invents(
    "mnt3-invents-a-status-for-short-paths",
    "MNT refuses paths of up to 8 bytes with a status that MOUNT does not have",
    lambda path: len(path) <= 8,
)
_invents(
    "mnt3-invents-a-status-for-strange-paths",
    "MNT refuses paths with bytes that are no printable ASCII with a status that MOUNT does not have",
    lambda path: any(not 32 <= byte < 127 for byte in path),
)
_invents(
    "mnt3-invents-a-status-for-long-paths",
    "MNT refuses paths of 256 to 1000 bytes with a status that MOUNT does not have",
    lambda path: 256 <= len(path) <= 1000,
)


@mutant(
    "mnt3-too-long-is-io",
    bends=MNT3,
    breaks=_STATUS,
    gist="MNT answers IO where a name in the path is too long",
)
def mnt3_too_long_is_io(
    _server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt3Res]
) -> Mnt3Res:
    """Take another status."""
    reply = proceed(context, args)
    is_too_long = reply.fhs_status == MountStat3.MNT3ERR_NAMETOOLONG
    return Mnt3Res(MountStat3.MNT3ERR_IO) if is_too_long else reply

# SPDX-License-Identifier: MIT
"""Mutants of MOUNT."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import (
    EXPORT3,
    MNT1,
    MNT3,
    NULL3,
    UMNT3,
    UMNTALL3,
    DirpathArgs,
    Exports,
    Mnt1Res,
    Mnt3Res,
    Mountres3Ok,
    MountStat1,
    MountStat3,
)
from nfsclient.protocol.nfs3 import GETATTR, Getattr3Args, Getattr3Res, Nfsstat3
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import Void, replace
from nfsserver.mount import AUTH_SYS
from nfsserver.mutants import Answer, Proceed, ProceedWire, mutant, wire_mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_MNT = "RFC 1813 section 5.2.1"


@wire_mutant(
    "mount3-null-returns-results",
    breaks="RFC 1813 section 5.2.0",
    gist="NULL of MOUNT version 3 returns a word where there are no results",
)
def mount3_null_returns_results(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Append a word to the reply."""
    reply = proceed(message)
    target = b"".join(number.to_bytes(4, "big") for number in (NULL3.program, NULL3.version, NULL3.number))
    return [*reply, bytes(4)] if reply is not None and message[12:24] == target else reply


@mutant(
    "mnt3-mounts-what-is-not-there",
    bends=MNT3,
    breaks=_MNT,
    gist="MNT answers an unknown path with the handle of the first export",
)
def mnt3_mounts_what_is_not_there(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt3Res]
) -> Mnt3Res:
    """Turn NOENT into success."""
    reply = proceed(context, args)
    if reply.fhs_status != MountStat3.MNT3ERR_NOENT:
        return reply
    return Mnt3Res(MountStat3.MNT3_OK, Mountres3Ok(server.handle_of(server.fs.root), [AUTH_SYS]))


@mutant(
    "mnt1-mounts-what-is-not-there",
    bends=MNT1,
    breaks="RFC 1094 appendix A.5",
    gist="MNT of version 1 answers an unknown path with the handle of the first export",
)
def mnt1_mounts_what_is_not_there(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt1Res]
) -> Mnt1Res:
    """Turn a refusal into success."""
    reply = proceed(context, args)
    if reply.directory is not None:
        return reply
    return Mnt1Res(MountStat1.OK, server.handle_of(server.fs.root))


@mutant(
    "mnt3-mounts-a-file",
    bends=MNT3,
    breaks=_MNT,
    gist="MNT answers the path of a file with the handle of the first export",
)
def mnt3_mounts_a_file(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt3Res]
) -> Mnt3Res:
    """Turn NOTDIR into success."""
    reply = proceed(context, args)
    if reply.fhs_status != MountStat3.MNT3ERR_NOTDIR:
        return reply
    return Mnt3Res(MountStat3.MNT3_OK, Mountres3Ok(server.handle_of(server.fs.root), [AUTH_SYS]))


def _is_odd_call(server: Server, name: str) -> bool:
    """Whether this is the first, third, ... call that the mutant sees."""
    state = server.mutant_state(name)
    state["calls"] = state.get("calls", 0) + 1
    return bool(state["calls"] % 2)


def _bent(reply: Mnt3Res, **changes: t.Any) -> Mnt3Res:
    """A successful answer with other results."""
    if reply.mountinfo is None:
        return reply
    return replace(reply, mountinfo=replace(reply.mountinfo, **changes))


@mutant(
    "mnt3-gives-an-unusable-handle",
    bends=MNT3,
    breaks=_MNT,
    gist="every second MNT gives a handle that no procedure takes",
)
def mnt3_gives_an_unusable_handle(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt3Res]
) -> Mnt3Res:
    """Make a handle up, every second time."""
    reply = proceed(context, args)
    if _is_odd_call(server, "mnt3-gives-an-unusable-handle"):
        return reply
    return _bent(reply, fhandle=b"no handle of this server")


@mutant(
    "mnt3-mounts-another-directory",
    bends=MNT3,
    breaks=_MNT,
    gist="every second MNT gives the handle of the first directory in the export instead of the export's own",
)
def mnt3_mounts_another_directory(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt3Res]
) -> Mnt3Res:
    """Alternate."""
    reply = proceed(context, args)
    if _is_odd_call(server, "mnt3-mounts-another-directory"):
        return reply
    entries = server.fs.readdir(server.caller(context), server.fs.root, 0)
    below = [
        entry.inode
        for entry in entries
        if entry.name not in {b".", b".."} and entry.inode.directory is not None
    ]
    return _bent(reply, fhandle=server.handle_of(below[0])) if below else reply


@mutant(
    "mnt3-names-no-flavors",
    bends=MNT3,
    breaks=_MNT,
    gist="MNT names AUTH_NONE alone, which NFS does not take",
)
def mnt3_names_no_flavors(
    _server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt3Res]
) -> Mnt3Res:
    """Name another flavor."""
    return _bent(proceed(context, args), auth_flavors=[0])


@mutant("mnt3-records-nothing", bends=MNT3, breaks=_MNT, gist="MNT adds nothing to the list of mounts")
def mnt3_records_nothing(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt3Res]
) -> Mnt3Res:
    """Take the entry away again."""
    reply = proceed(context, args)
    server.mounts.forget(context, args.dirpath)
    return reply


@mutant(
    "umnt3-removes-nothing",
    bends=UMNT3,
    breaks="RFC 1813 section 5.2.3",
    gist="UMNT leaves the list as it is",
)
def umnt3_removes_nothing(
    _server: Server, _context: CallContext, _args: DirpathArgs, _proceed: Proceed[DirpathArgs, Void]
) -> Void:
    """Do nothing."""
    return Void()


@mutant(
    "umnt3-revokes-handles",
    bends=(UMNT3, GETATTR),
    breaks="RFC 1813 section 5.2.3",
    gist="after UMNT the handle of the export's root is stale",
)
def umnt3_revokes_handles(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> Void | Getattr3Res:
    """Remember UMNT, refuse GETATTR of the root."""
    state = server.mutant_state("umnt3-revokes-handles")
    if not isinstance(args, Getattr3Args):
        state["unmounted"] = True
    elif state.get("unmounted") and args.object == server.handle_of(server.fs.root):
        return Getattr3Res(Nfsstat3.NFS3ERR_STALE)
    result: Void | Getattr3Res = proceed(context, args)
    return result


@mutant(
    "umntall3-removes-nothing",
    bends=UMNTALL3,
    breaks="RFC 1813 section 5.2.4",
    gist="UMNTALL leaves the list as it is",
)
def umntall3_removes_nothing(
    _server: Server, _context: CallContext, _args: Void, _proceed: Proceed[Void, Void]
) -> Void:
    """Do nothing."""
    return Void()


@mutant(
    "export3-omits-the-first-export",
    bends=EXPORT3,
    breaks="RFC 1813 section 5.2.5",
    gist="EXPORT does not list the first export",
)
def export3_omits_the_first_export(
    _server: Server, context: CallContext, args: Void, proceed: Proceed[Void, Exports]
) -> Exports:
    """Drop it."""
    return Exports(proceed(context, args).entries[1:])


@mutant(
    "mnt3-answers-stale",
    bends=MNT3,
    breaks="RFC 1813 section 5.1.5",
    gist="MNT of an unknown path answers 70, a status of NFS that MOUNT does not have",
)
def mnt3_answers_stale(
    _server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt3Res]
) -> Mnt3Res:
    """Take the number of NFS3ERR_STALE."""
    reply = proceed(context, args)
    if reply.fhs_status != MountStat3.MNT3ERR_NOENT:
        return reply
    return Mnt3Res(MountStat3(int(Nfsstat3.NFS3ERR_STALE)))

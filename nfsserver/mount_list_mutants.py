# SPDX-License-Identifier: MIT
"""Mutants of the list of mounts and of the list of exports, in all versions of MOUNT."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol.mount import (
    DUMP1,
    DUMP2,
    DUMP3,
    EXPORT1,
    EXPORT2,
    EXPORT3,
    FHSIZE,
    MNT1,
    MNT2,
    MNT3,
    PROGRAM,
    UMNT1,
    UMNT2,
    UMNT3,
    UMNTALL1,
    UMNTALL2,
    UMNTALL3,
    DirpathArgs,
    Exports,
    Mountlist,
)
from nfsclient.rpc.messages import AcceptStat
from nfsclient.rpc.service import CallContext, Refused
from nfsclient.xdr import Void
from nfsserver.mutants import Answer, Proceed, ProceedWire, mutant, wire_mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

MNTS = (MNT1, MNT2, MNT3)
DUMPS = (DUMP1, DUMP2, DUMP3)
UMNTS = (UMNT1, UMNT2, UMNT3)
UMNTALLS = (UMNTALL1, UMNTALL2, UMNTALL3)
EXPORTS = (EXPORT1, EXPORT2, EXPORT3)
_DUMP = "RFC 1813 section 5.2.2"
_UMNT = "RFC 1813 section 5.2.3"
_UMNTALL = "RFC 1813 section 5.2.4"
_OLD = "RFC 1094 section A.5"
_SIZES = "RFC 1813 section 5.1.4"

AnyProceed: t.TypeAlias = "Proceed[t.Any, t.Any]"


# ---------------------------------------------------------------- the list of mounts


@mutant("mnt1-records-nothing", bends=(MNT1, MNT2), breaks=_OLD, gist="MNT of versions 1 and 2 is not listed")
def mnt1_records_nothing(
    server: Server, context: CallContext, args: DirpathArgs, proceed: AnyProceed
) -> t.Any:
    """Take the entry away again."""
    reply = proceed(context, args)
    server.mounts.forget(context, args.dirpath)
    return reply


@mutant("dump-has-entries-twice", bends=DUMPS, breaks=_DUMP, gist="DUMP has every entry twice")
def dump_has_entries_twice(
    _server: Server, context: CallContext, args: Void, proceed: Proceed[Void, Mountlist]
) -> Mountlist:
    """Repeat the list."""
    return Mountlist(proceed(context, args).entries * 2)


@mutant("mnt-records-what-is-refused", bends=MNTS, breaks=_DUMP, gist="MNT lists also what it refuses")
def mnt_records_what_is_refused(
    server: Server, context: CallContext, args: DirpathArgs, proceed: AnyProceed
) -> t.Any:
    """Record first."""
    server.mounts.record(context, args.dirpath)
    return proceed(context, args)


@mutant(
    "umnt1-removes-nothing", bends=(UMNT1, UMNT2), breaks=_OLD, gist="UMNT of versions 1 and 2 does nothing"
)
def umnt1_removes_nothing(
    _server: Server, _context: CallContext, _args: DirpathArgs, _proceed: AnyProceed
) -> Void:
    """Do nothing."""
    return Void()


@mutant(
    "umnt-fails-for-what-was-not-mounted",
    bends=UMNTS,
    breaks=_UMNT,
    gist="UMNT of a path that the client has not mounted fails with an error of RPC",
)
def umnt_fails_for_what_was_not_mounted(
    server: Server, context: CallContext, args: DirpathArgs, proceed: AnyProceed
) -> t.Any:
    """Look for it in the list."""
    if args.dirpath not in {path for _, path in server.mounts.entries()}:
        raise Refused(accept_stat=AcceptStat.GARBAGE_ARGS)
    return proceed(context, args)


@mutant(
    "umnt-removes-every-entry",
    bends=UMNTS,
    breaks=_UMNT,
    gist="UMNT of a nested directory does what UMNTALL does",
)
def umnt_removes_every_entry(
    server: Server, context: CallContext, args: DirpathArgs, proceed: AnyProceed
) -> t.Any:
    """Forget them all."""
    if args.dirpath.endswith(b"/inner"):
        server.mounts.forget_all(context)
    return proceed(context, args)


@mutant(
    "umntall-fails-without-mounts",
    bends=(*UMNTALLS, *MNTS),
    breaks=_UMNTALL,
    gist="UMNTALL behind UMNTALL, without MNT between them, fails with an error of RPC",
)
def umntall_fails_without_mounts(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Remember which came last."""
    state = server.mutant_state("umntall-fails-without-mounts")
    is_mount = context.procedure in MNTS
    if not is_mount and state.get("last") == "UMNTALL":
        raise Refused(accept_stat=AcceptStat.GARBAGE_ARGS)
    state["last"] = "MNT" if is_mount else "UMNTALL"
    return proceed(context, args)


@mutant(
    "umntall1-removes-nothing",
    bends=(UMNTALL1, UMNTALL2),
    breaks=_OLD,
    gist="UMNTALL of versions 1 and 2 does nothing",
)
def umntall1_removes_nothing(
    _server: Server, _context: CallContext, _args: Void, _proceed: AnyProceed
) -> Void:
    """Do nothing."""
    return Void()


@mutant(
    "umntall-keeps-the-last-entry",
    bends=UMNTALLS,
    breaks=_UMNTALL,
    gist="UMNTALL leaves the latest of two or more mounts in the list",
)
def umntall_keeps_the_last_entry(
    server: Server, context: CallContext, args: Void, proceed: AnyProceed
) -> t.Any:
    """Put it back."""
    paths = [path for host, path in server.mounts.entries() if host == context.peer[0].encode()]
    reply = proceed(context, args)
    if len(paths) > 1:
        server.mounts.record(context, paths[-1])
    return reply


@mutant(
    "umnt-and-umntall-forget-every-client",
    bends=(*UMNTS, *UMNTALLS),
    breaks=_UMNTALL,
    gist="UMNT and UMNTALL of one client remove entries of the others as well",
)
def umnt_and_umntall_forget_every_client(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Do it for everybody who is listed."""
    reply = proceed(context, args)
    for host, _ in server.mounts.entries():
        proceed(replace_peer(context, host.decode()), args)
    return reply


def replace_peer(context: CallContext, host: str) -> CallContext:
    """The same call from another host."""
    return CallContext(
        (host, context.peer[1]),
        context.transport,
        context.credential,
        context.xid,
        context.program,
        context.version,
        context.procedure,
    )


@mutant(
    "umnt-and-umntall-revoke-handles",
    bends=(*UMNTS, *UMNTALLS, nfs2.GETATTR, nfs3.GETATTR),
    breaks=_UMNT,
    gist="after UMNT or UMNTALL the handle of the export's root is stale",
)
def umnt_and_umntall_revoke_handles(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Remember it, refuse GETATTR of the root."""
    state = server.mutant_state("umnt-and-umntall-revoke-handles")
    if context.program == PROGRAM:
        state["unmounted"] = True
        return proceed(context, args)
    root = server.handle_of(server.fs.root)
    if not state.get("unmounted") or args.to_xdr()[-FHSIZE:] != root[-FHSIZE:]:
        return proceed(context, args)
    return (
        nfs3.Getattr3Res(nfs3.Nfsstat3.NFS3ERR_STALE)
        if context.version == 3
        else nfs2.Attrstat(nfs2.Nfsstat2.NFSERR_STALE)
    )


# ---------------------------------------------------------------- form


def _long_entry(name: str, number: int, gist: str, entry: bytes, *, least: int = 0) -> None:
    """In replies of at least so many bytes."""

    @wire_mutant(name, breaks=_SIZES, gist=gist)
    def bend(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
        """Put an entry in front of the list: its first word says that there is one."""
        reply = proceed(message)
        call = (message[12:16], message[20:24])
        if reply is None or call != (PROGRAM.to_bytes(4, "big"), number.to_bytes(4, "big")):
            return reply
        whole = b"".join(reply)
        return [whole[:24] + entry + whole[24:]] if len(whole) >= least else [whole]


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


_THERE_IS = (1).to_bytes(4, "big")
_long_entry(
    "dump-has-names-that-are-too-long",
    DUMP3.number,
    "DUMP lists a host whose name has 256 bytes, where the list is not short",
    _THERE_IS + _string(b"h" * 256) + _string(b"/dir"),
    least=240,
)
_long_entry(
    "export-has-paths-that-are-too-long",
    EXPORT3.number,
    "EXPORT lists a path of 1028 bytes",
    _THERE_IS + _string(b"/" * 1028) + bytes(4),
)


# ---------------------------------------------------------------- the list of exports, and UDP


@mutant(
    "export1-omits-the-first-export",
    bends=(EXPORT1, EXPORT2),
    breaks=_OLD,
    gist="EXPORT of versions 1 and 2 does not list the first export",
)
def export1_omits_the_first_export(
    _server: Server, context: CallContext, args: Void, proceed: Proceed[Void, Exports]
) -> Exports:
    """Drop it."""
    return Exports(proceed(context, args).entries[1:])


@mutant(
    "export-is-empty-over-udp",
    bends=EXPORTS,
    breaks="RFC 1813 section 5.1.3",
    gist="EXPORT over UDP lists nothing",
)
def export_is_empty_over_udp(
    _server: Server, context: CallContext, args: Void, proceed: Proceed[Void, Exports]
) -> Exports:
    """Drop everything."""
    reply = proceed(context, args)
    return Exports([]) if context.transport == "udp" else reply


@mutant(
    "dump-is-empty-over-udp", bends=DUMPS, breaks="RFC 1813 section 5.1.3", gist="DUMP over UDP lists nothing"
)
def dump_is_empty_over_udp(
    _server: Server, context: CallContext, args: Void, proceed: Proceed[Void, Mountlist]
) -> Mountlist:
    """Drop everything."""
    reply = proceed(context, args)
    return Mountlist([]) if context.transport == "udp" else reply


@mutant(
    "umnt-removes-nothing-over-udp",
    bends=UMNTS,
    breaks="RFC 1813 section 5.1.3",
    gist="UMNT over UDP leaves the list as it is",
)
def umnt_removes_nothing_over_udp(
    _server: Server, context: CallContext, args: DirpathArgs, proceed: AnyProceed
) -> t.Any:
    """Do nothing."""
    return Void() if context.transport == "udp" else proceed(context, args)

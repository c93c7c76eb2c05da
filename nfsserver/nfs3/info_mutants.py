# SPDX-License-Identifier: MIT
"""Mutants of NULL, FSSTAT, FSINFO and PATHCONF, and of procedures that make their claims untrue."""

from __future__ import annotations

import dataclasses
import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    CREATE,
    FSINFO,
    FSSTAT,
    LINK,
    LOOKUP,
    NULL,
    PATHCONF,
    SETATTR,
    SYMLINK,
    Create3Args,
    Create3Res,
    Fsinfo3Res,
    Fsinfo3ResFail,
    Fsstat3Res,
    Fsstat3ResFail,
    Link3Args,
    Link3Res,
    Link3ResFail,
    Lookup3Args,
    Lookup3Res,
    Nfsstat3,
    Nfstime3,
    Pathconf3Args,
    Pathconf3Res,
    Pathconf3ResFail,
    Setattr3Args,
    Setattr3Res,
    SetTime,
    Symlink3Args,
    Symlink3Res,
    Symlink3ResFail,
    WccData,
)
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.messages import AuthStat
from nfsclient.rpc.service import CallContext, Refused
from nfsclient.rpc.sockets import Address
from nfsclient.xdr import Void, replace, u32
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.common import fattr3

if t.TYPE_CHECKING:
    from nfsserver.server import Server

AnyProceed: t.TypeAlias = Proceed[t.Any, t.Any]
BendResult: t.TypeAlias = "Callable[[Server, bytes, t.Any], t.Any]"

_HANDLE_OF: t.Final = {FSSTAT: "fsroot", FSINFO: "fsroot", PATHCONF: "object"}
_SECTION: t.Final = {FSSTAT: "3.3.18", FSINFO: "3.3.19", PATHCONF: "3.3.20"}


def _bends_result(
    name: str, procedure: t.Any, gist: str, section: str | None = None
) -> Callable[[BendResult], BendResult]:
    """Register what bends the results of a success: (server, handle, resok) -> resok."""

    def register(bend: BendResult) -> BendResult:
        clause = f"RFC 1813 section {section or _SECTION[procedure]}"

        @mutant(name, bends=(procedure,), breaks=clause, gist=gist)
        def middleware(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
            reply = proceed(context, args)
            if reply.resok is None:
                return reply
            handle = getattr(args, _HANDLE_OF[procedure])
            return replace(reply, resok=bend(server, handle, reply.resok))

        return bend

    return register


class _Word(Void):
    """Results of NULL, which has none."""

    word: u32 = 0


def _is_file(server: Server, handle: bytes) -> bool:
    return server.resolve(handle).directory is None


@mutant(
    "null3-returns-results",
    bends=NULL,
    breaks="RFC 1813 section 3.3.0",
    gist="NULL returns a word where there are no results, from the second call on a connection on",
)
def null3_returns_results(
    server: Server, context: CallContext, args: Void, proceed: Proceed[Void, Void]
) -> Void:
    """Answer with a word. The first call is left alone: by it a run sees that the server is there."""
    callers: set[Address] = server.mutant_state("null3-returns-results").setdefault("callers", set())
    if context.peer in callers:
        return _Word()
    callers.add(context.peer)
    return proceed(context, args)


@mutant(
    "null3-asks-for-authentication",
    bends=NULL,
    breaks="RFC 1813 section 3.3.0",
    gist="NULL is refused with AUTH_TOOWEAK when it comes without authentication",
)
def null3_asks_for_authentication(
    _server: Server, context: CallContext, args: Void, proceed: Proceed[Void, Void]
) -> Void:
    """Want to know who asks."""
    if not isinstance(context.credential, AuthSys):
        raise Refused(auth_stat=AuthStat.AUTH_TOOWEAK)
    return proceed(context, args)


# ---------------------------------------------------------------- attributes of another object

for _procedure, _prefix in ((FSSTAT, "fsstat3"), (FSINFO, "fsinfo3"), (PATHCONF, "pathconf3")):

    @_bends_result(
        f"{_prefix}-attributes-of-the-root",
        _procedure,
        f"{_procedure.name} returns the attributes of the export's root, whatever it was asked about",
    )
    def attributes_of_the_root(server: Server, _handle: bytes, resok: t.Any) -> t.Any:
        """Take them from the root."""
        return replace(resok, obj_attributes=fattr3(server.fs.root))


@mutant(
    "info3-attributes-of-the-root",
    bends=(FSSTAT, FSINFO, PATHCONF),
    breaks="RFC 1813 sections 3.3.18 to 3.3.20",
    gist="FSSTAT, FSINFO and PATHCONF return the attributes of the export's root for all but regular files",
)
def info3_attributes_of_the_root(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Take them from the root."""
    reply = proceed(context, args)
    handle = getattr(args, _HANDLE_OF[t.cast("t.Any", context.procedure)])
    if reply.resok is None or server.resolve(handle).data is not None:
        return reply
    return replace(reply, resok=replace(reply.resok, obj_attributes=fattr3(server.fs.root)))


@mutant(
    "info3-refuses-what-is-no-file",
    bends=(FSSTAT, FSINFO, PATHCONF),
    breaks="RFC 1813 sections 3.3.18 to 3.3.20",
    gist="FSSTAT, FSINFO and PATHCONF answer SERVERFAULT for what is no regular file, but for the export's root",
)
def info3_refuses_what_is_no_file(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Answer for files only."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    inode = server.resolve(getattr(args, _HANDLE_OF[t.cast("t.Any", context.procedure)]))
    if inode.data is not None or inode is inode.fs.root:
        return reply
    resfail = {FSSTAT: Fsstat3ResFail, FSINFO: Fsinfo3ResFail}.get(t.cast("t.Any", context.procedure))
    return type(reply)(Nfsstat3.NFS3ERR_SERVERFAULT, resfail=(resfail or Pathconf3ResFail)(None))


# ---------------------------------------------------------------- FSSTAT, FSINFO


@mutant(
    "fsstat3-refuses-a-file",
    bends=(FSSTAT,),
    breaks="RFC 1813 section 3.3.18",
    gist="FSSTAT answers SERVERFAULT for what is no directory",
)
def fsstat3_refuses_a_file(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Answer for directories only."""
    if not _is_file(server, args.fsroot):
        return proceed(context, args)
    return Fsstat3Res(Nfsstat3.NFS3ERR_SERVERFAULT, resfail=Fsstat3ResFail(None))


@mutant(
    "fsinfo3-refuses-a-file",
    bends=(FSINFO,),
    breaks="RFC 1813 section 3.3.19",
    gist="FSINFO answers SERVERFAULT for what is no directory",
)
def fsinfo3_refuses_a_file(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Answer for directories only."""
    if not _is_file(server, args.fsroot):
        return proceed(context, args)
    return Fsinfo3Res(Nfsstat3.NFS3ERR_SERVERFAULT, resfail=Fsinfo3ResFail(None))


@_bends_result(
    "fsinfo3-malformed-time-delta", FSINFO, "FSINFO gives a time_delta of 2,000,000,000 nanoseconds", "2.5"
)
def malformed_time_delta(_server: Server, _handle: bytes, resok: t.Any) -> t.Any:
    """Overfill the nanoseconds."""
    return replace(resok, time_delta=Nfstime3(0, 2_000_000_000))


@_bends_result("fsinfo3-reads-nothing", FSINFO, "FSINFO says that READ transfers at most 0 bytes")
def reads_nothing(_server: Server, _handle: bytes, resok: t.Any) -> t.Any:
    """Say 0."""
    return replace(resok, rtmax=0)


@mutant(
    "link3-is-not-supported",
    bends=LINK,
    breaks="RFC 1813 section 3.3.19",
    gist="LINK answers NOTSUPP though FSINFO claims hard links",
)
def link3_is_not_supported(
    _server: Server, _context: CallContext, _args: Link3Args, _proceed: Proceed[Link3Args, Link3Res]
) -> Link3Res:
    """Refuse."""
    return Link3Res(Nfsstat3.NFS3ERR_NOTSUPP, resfail=Link3ResFail(None, WccData()))


@mutant(
    "symlink3-is-not-supported",
    bends=SYMLINK,
    breaks="RFC 1813 section 3.3.19",
    gist="SYMLINK answers NOTSUPP though FSINFO claims symbolic links",
)
def symlink3_is_not_supported(
    _server: Server, _context: CallContext, _args: Symlink3Args, _proceed: Proceed[Symlink3Args, Symlink3Res]
) -> Symlink3Res:
    """Refuse."""
    return Symlink3Res(Nfsstat3.NFS3ERR_NOTSUPP, resfail=Symlink3ResFail(WccData()))


@mutant(
    "setattr3-rounds-times-to-minutes",
    bends=SETATTR,
    breaks="RFC 1813 section 3.3.19",
    gist="SETATTR keeps a given mtime to the minute, though time_delta is a nanosecond",
)
def setattr3_rounds_times(
    _server: Server, context: CallContext, args: Setattr3Args, proceed: Proceed[Setattr3Args, Setattr3Res]
) -> Setattr3Res:
    """Cut the seconds off."""
    time = args.new_attributes.mtime.time
    if time is None:
        return proceed(context, args)
    rounded = SetTime(args.new_attributes.mtime.set_it, Nfstime3(time.seconds // 60 * 60))
    return proceed(context, replace(args, new_attributes=replace(args.new_attributes, mtime=rounded)))


@_bends_result(
    "fsinfo3-prefers-more-than-it-moves", FSINFO, "FSINFO prefers transfers of twice the largest size"
)
def prefers_more_than_it_moves(_server: Server, _handle: bytes, resok: t.Any) -> t.Any:
    """Double it."""
    return replace(resok, rtpref=2 * resok.rtmax, wtpref=2 * resok.wtmax)


# ---------------------------------------------------------------- PATHCONF


@_bends_result("pathconf3-understates-linkmax", PATHCONF, "PATHCONF says that an object may have 8 links")
def understates_linkmax(_server: Server, _handle: bytes, resok: t.Any) -> t.Any:
    """Say 8."""
    return replace(resok, linkmax=8)


@_bends_result(
    "pathconf3-differs-by-type", PATHCONF, "PATHCONF says another linkmax for files than for directories"
)
def differs_by_type(server: Server, handle: bytes, resok: t.Any) -> t.Any:
    """Take one from the linkmax of files."""
    return replace(resok, linkmax=resok.linkmax - 1) if _is_file(server, handle) else resok


@_bends_result("pathconf3-overstates-name-max", PATHCONF, "PATHCONF says twice the real name_max")
def overstates_name_max(_server: Server, _handle: bytes, resok: t.Any) -> t.Any:
    """Double it."""
    return replace(resok, name_max=resok.name_max * 2)


@mutant(
    "pathconf3-understates-name-max",
    bends=PATHCONF,
    breaks="RFC 1813 section 3.3.20",
    gist="PATHCONF says no_trunc and half of the real name_max, so longer names are not refused",
)
def pathconf3_understates_name_max(
    _server: Server,
    context: CallContext,
    args: Pathconf3Args,
    proceed: Proceed[Pathconf3Args, Pathconf3Res],
) -> Pathconf3Res:
    """Halve name_max."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(reply, resok=replace(reply.resok, name_max=reply.resok.name_max // 2))


@mutant(
    "create3-cuts-long-names",
    bends=CREATE,
    breaks="RFC 1813 section 3.3.20",
    gist="CREATE cuts a name to name_max, though PATHCONF says no_trunc",
)
def create3_cuts_long_names(
    server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Keep what fits."""
    name = args.where.name[: server.limits.name_max]
    return proceed(context, replace(args, where=replace(args.where, name=name)))


@mutant(
    "setattr3-owners-give-files-away",
    bends=SETATTR,
    breaks="RFC 1813 section 3.3.20",
    gist="SETATTR lets an owner change the owner, though PATHCONF says chown_restricted",
)
def setattr3_owners_give_files_away(
    server: Server, context: CallContext, args: Setattr3Args, proceed: Proceed[Setattr3Args, Setattr3Res]
) -> Setattr3Res:
    """Ask as root."""
    if args.new_attributes.uid is None or server.caller(context).uid == 0:
        return proceed(context, args)
    as_root = dataclasses.replace(context, credential=AuthSys(0, 0))
    return proceed(as_root, args)


@mutant(
    "lookup3-folds-case",
    bends=LOOKUP,
    breaks="RFC 1813 section 3.3.20",
    gist="LOOKUP finds a name in lower case when it is asked for in upper case",
)
def lookup3_folds_case(
    _server: Server, context: CallContext, args: Lookup3Args, proceed: Proceed[Lookup3Args, Lookup3Res]
) -> Lookup3Res:
    """Ask again in lower case."""
    reply = proceed(context, args)
    if reply.status != Nfsstat3.NFS3ERR_NOENT or not args.what.name.isupper():
        return reply
    return proceed(context, replace(args, what=replace(args.what, name=args.what.name.lower())))

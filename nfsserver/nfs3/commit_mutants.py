# SPDX-License-Identifier: MIT
"""Mutants of COMMIT."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import COMMIT, Commit3Args, Commit3Res, Commit3ResFail, Nfsstat3, WccAttr
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import FsError, Inode, Kind
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.common import Watched, nfstime3

if t.TYPE_CHECKING:
    from nfsserver.server import Server

Next: t.TypeAlias = Proceed[Commit3Args, Commit3Res]

_SECTION: t.Final = "RFC 1813 section 3.3.21"


def _with(reply: Commit3Res, **changes: object) -> Commit3Res:
    """The reply with other results, if it has any."""
    return reply if reply.resok is None else replace(reply, resok=replace(reply.resok, **changes))


def _file(server: Server, handle: bytes) -> Inode | None:
    """The regular file of a handle."""
    try:
        inode = server.resolve(handle)
    except FsError:
        return None
    return inode if inode.kind is Kind.REGULAR else None


def _refusal(server: Server, args: Commit3Args) -> Commit3Res:
    wcc = Watched(server, args.file).wcc()
    return Commit3Res(Nfsstat3.NFS3ERR_INVAL, resfail=Commit3ResFail(wcc))


@mutant(
    "commit3-changes-verifier",
    bends=COMMIT,
    breaks=_SECTION,
    gist="COMMIT returns another verifier each time though nothing was lost",
)
def commit3_changes_verifier(
    server: Server, context: CallContext, args: Commit3Args, proceed: Next
) -> Commit3Res:
    """Count the calls in the verifier."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    state = server.mutant_state("commit3-changes-verifier")
    state["calls"] = state.get("calls", 0) + 1
    return _with(reply, verf=server.codec.token(b"wrong", state["calls"]))


@mutant(
    "commit3-has-its-own-verifier",
    bends=COMMIT,
    breaks=_SECTION,
    gist="COMMIT always returns the same verifier, but not that of WRITE",
)
def commit3_has_its_own_verifier(
    server: Server, context: CallContext, args: Commit3Args, proceed: Next
) -> Commit3Res:
    """Draw a second verifier per boot."""
    return _with(proceed(context, args), verf=server.codec.token(b"commit", server.boots))


@mutant(
    "commit3-flushes-nothing",
    bends=COMMIT,
    breaks=_SECTION,
    gist="COMMIT answers OK and leaves the data to be lost in a crash",
)
def commit3_flushes_nothing(
    _server: Server, context: CallContext, args: Commit3Args, proceed: Next
) -> Commit3Res:
    """Commit a range that has no data."""
    return proceed(context, replace(args, offset=2**64 - 1, count=1))


@mutant(
    "commit3-flushes-no-ranges",
    bends=COMMIT,
    breaks=_SECTION,
    gist="COMMIT of a part of a file answers OK and leaves the data to be lost in a crash",
)
def commit3_flushes_no_ranges(
    _server: Server, context: CallContext, args: Commit3Args, proceed: Next
) -> Commit3Res:
    """Only the whole file is ever committed."""
    is_whole = args.offset == 0 and args.count == 0
    return proceed(context, args if is_whole else replace(args, offset=2**64 - 1, count=1))


@mutant("commit3-drops-data", bends=COMMIT, breaks=_SECTION, gist="COMMIT throws uncommitted data away")
def commit3_drops_data(server: Server, context: CallContext, args: Commit3Args, proceed: Next) -> Commit3Res:
    """Fall back to the stable version."""
    inode = _file(server, args.file)
    if inode is not None:
        inode.crash()
    return proceed(context, args)


@mutant(
    "commit3-refuses-count-zero",
    bends=COMMIT,
    breaks=_SECTION,
    gist="COMMIT with count 0 answers NFS3ERR_INVAL",
)
def commit3_refuses_count_zero(
    server: Server, context: CallContext, args: Commit3Args, proceed: Next
) -> Commit3Res:
    """Demand a range."""
    return proceed(context, args) if args.count else _refusal(server, args)


@mutant(
    "commit3-refuses-ranges",
    bends=COMMIT,
    breaks=_SECTION,
    gist="COMMIT of anything but the whole file answers NFS3ERR_INVAL",
)
def commit3_refuses_ranges(
    server: Server, context: CallContext, args: Commit3Args, proceed: Next
) -> Commit3Res:
    """Demand offset 0 and count 0."""
    return proceed(context, args) if args.offset == args.count == 0 else _refusal(server, args)


@mutant(
    "commit3-refuses-clean-files",
    bends=COMMIT,
    breaks=f"{_SECTION} (IMPLEMENTATION)",
    gist="COMMIT of a file without uncommitted data answers NFS3ERR_INVAL",
)
def commit3_refuses_clean_files(
    server: Server, context: CallContext, args: Commit3Args, proceed: Next
) -> Commit3Res:
    """Take having nothing to flush for an error."""
    inode = _file(server, args.file)
    is_clean = inode is not None and not inode.has_unstable
    return _refusal(server, args) if is_clean else proceed(context, args)


@mutant(
    "commit3-extends",
    bends=COMMIT,
    breaks=_SECTION,
    gist="COMMIT of a range that goes on behind the end makes the file larger",
)
def commit3_extends(server: Server, context: CallContext, args: Commit3Args, proceed: Next) -> Commit3Res:
    """Let the file end at offset + count."""
    inode = _file(server, args.file)
    end = args.offset + args.count
    if args.count and end < 2**63 and inode is not None and inode.data is not None and inode.size < end:
        inode.data.truncate(end)
    return proceed(context, args)


@mutant(
    "commit3-before-has-no-size",
    bends=COMMIT,
    breaks="RFC 1813 section 2.5",
    gist="the pre-operation attributes of COMMIT have size 0",
)
def commit3_before_has_no_size(
    server: Server, context: CallContext, args: Commit3Args, proceed: Next
) -> Commit3Res:
    """Fill in the times only."""
    reply = proceed(context, args)
    inode = _file(server, args.file)
    if reply.resok is None or inode is None:
        return reply
    before = WccAttr(0, nfstime3(inode.mtime), nfstime3(inode.ctime))
    return _with(reply, file_wcc=replace(reply.resok.file_wcc, before=before))


@mutant(
    "commit3-after-has-another-fileid",
    bends=COMMIT,
    breaks=_SECTION,
    gist="the post-operation attributes of COMMIT have the file id of another object",
)
def commit3_after_has_another_fileid(
    _server: Server, context: CallContext, args: Commit3Args, proceed: Next
) -> Commit3Res:
    """Answer with the wrong object's number."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    wcc = reply.resok.file_wcc
    return (
        reply
        if wcc.after is None
        else _with(reply, file_wcc=replace(wcc, after=replace(wcc.after, fileid=1)))
    )

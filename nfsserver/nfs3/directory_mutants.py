# SPDX-License-Identifier: MIT
"""Mutants of READDIR and READDIRPLUS. Most bend both in the same way, each under a name of its own."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    READDIR,
    READDIRPLUS,
    Entry3,
    Ftype3,
    Nfsstat3,
    Readdir3Args,
    Readdir3Res,
    Readdir3ResOk,
    Readdirplus3Args,
    Readdirplus3Res,
    Readdirplus3ResOk,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.common import fattr3

if t.TYPE_CHECKING:
    from nfsserver.server import Server

DirArgs: t.TypeAlias = Readdir3Args | Readdirplus3Args
DirRes: t.TypeAlias = Readdir3Res | Readdirplus3Res
DirResOk: t.TypeAlias = Readdir3ResOk | Readdirplus3ResOk
DirProceed: t.TypeAlias = Proceed[t.Any, t.Any]
Bend: t.TypeAlias = "Callable[[Server, CallContext, t.Any, DirProceed], t.Any]"
BendPage: t.TypeAlias = "Callable[[Server, t.Any, t.Any], t.Any]"

_FORMS: t.Final = ((READDIR, "readdir3", "3.3.16"), (READDIRPLUS, "readdirplus3", "3.3.17"))


def _bends_both(suffix: str, gist: str) -> Callable[[Bend], Bend]:
    """Register middleware for both procedures: ``readdir3-<suffix>`` and ``readdirplus3-<suffix>``."""

    def register(bend: Bend) -> Bend:
        for procedure, prefix, section in _FORMS:
            mutant(
                f"{prefix}-{suffix}",
                bends=(procedure,),
                breaks=f"RFC 1813 section {section}",
                gist=f"{procedure.name} {gist}",
            )(bend)
        return bend

    return register


def _bends_pages(suffix: str, gist: str) -> Callable[[BendPage], BendPage]:
    """Like `_bends_both`, for what changes a page that was served: (server, arguments, resok) -> resok."""

    def register(bend: BendPage) -> BendPage:
        @_bends_both(suffix, gist)
        def middleware(server: Server, context: CallContext, args: t.Any, proceed: DirProceed) -> t.Any:
            reply = proceed(context, args)
            return reply if reply.resok is None else replace(reply, resok=bend(server, args, reply.resok))

        return bend

    return register


def _is_dots_only(resok: DirResOk) -> bool:
    return all(entry.name in {b".", b".."} for entry in resok.entries)


@_bends_pages("skips-an-entry", "leaves out the last entry of each page but the last, which never comes back")
def skips_an_entry(_server: Server, _args: DirArgs, resok: t.Any) -> t.Any:
    """Drop the last entry but hand out its cookie."""
    if resok.eof or len(resok.entries) < 2:
        return resok
    *kept, skipped = resok.entries
    kept[-1] = replace(kept[-1], cookie=skipped.cookie)
    return replace(resok, entries=kept)


@_bends_pages(
    "repeats-an-entry", "gives the last entry of a page that is not the last in the next page again"
)
def repeats_an_entry(_server: Server, _args: DirArgs, resok: t.Any) -> t.Any:
    """Hand out the cookie of the entry before."""
    if resok.eof or len(resok.entries) < 3:
        return resok
    *kept, last = resok.entries
    return replace(resok, entries=[*kept, replace(last, cookie=kept[-1].cookie)])


@_bends_pages("claims-eof-early", "says eof with every page")
def claims_eof_early(_server: Server, _args: DirArgs, resok: t.Any) -> t.Any:
    """Call a page the last that is not."""
    return replace(resok, eof=True)


@_bends_pages("never-says-eof", "never says eof in a directory that has entries")
def never_says_eof(_server: Server, _args: DirArgs, resok: t.Any) -> t.Any:
    """Leave the end open."""
    return resok if resok.entries and _is_dots_only(resok) else replace(resok, eof=False)


@_bends_both("resumes-one-late", "leaves out the entry behind the cookie when it is not the last of a page")
def resumes_one_late(server: Server, context: CallContext, args: t.Any, proceed: DirProceed) -> t.Any:
    """Skip an entry after each cookie that did not end a page."""
    ends = server.mutant_state("resumes-one-late").setdefault("ends", set())
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    entries = reply.resok.entries
    if args.cookie and args.cookie not in ends:
        entries = entries[1:]
    if entries and not reply.resok.eof:
        ends.add(entries[-1].cookie)
    return replace(reply, resok=replace(reply.resok, entries=entries))


@_bends_both("lists-a-file", "answers an empty listing for what is no directory")
def lists_a_file(_server: Server, context: CallContext, args: t.Any, proceed: DirProceed) -> t.Any:
    """Turn NOTDIR into success."""
    reply = proceed(context, args)
    if reply.status != Nfsstat3.NFS3ERR_NOTDIR:
        return reply
    resok = Readdir3ResOk if isinstance(reply, Readdir3Res) else Readdirplus3ResOk
    return type(reply)(Nfsstat3.NFS3_OK, resok(reply.resfail.dir_attributes, bytes(8), [], eof=True))


# ---------------------------------------------------------------- READDIR alone


@mutant(
    "readdir3-exceeds-count",
    bends=READDIR,
    breaks="RFC 1813 section 3.3.16",
    gist="READDIR returns four times as many bytes as count allows",
)
def exceeds_count(
    _server: Server, context: CallContext, args: Readdir3Args, proceed: Proceed[Readdir3Args, Readdir3Res]
) -> Readdir3Res:
    """Ask for more than the caller did."""
    return proceed(context, replace(args, count=min(4 * args.count, 2**32 - 1)))


@mutant(
    "readdir3-invents-an-entry",
    bends=READDIR,
    breaks="RFC 1813 section 3.3.16",
    gist="READDIR lists a name that is not there in directories with one entry",
)
def invents_an_entry(
    _server: Server, context: CallContext, args: Readdir3Args, proceed: Proceed[Readdir3Args, Readdir3Res]
) -> Readdir3Res:
    """Add an entry."""
    reply = proceed(context, args)
    if reply.resok is None or args.cookie or len(reply.resok.entries) != 3:
        return reply
    entries = [replace(reply.resok.entries[0], name=b"nobody-made-me"), *reply.resok.entries]
    return replace(reply, resok=replace(reply.resok, entries=entries))


@mutant(
    "readdir3-lists-removed-entries",
    bends=READDIR,
    breaks="RFC 1813 section 3.3.16",
    gist="READDIR still lists what was removed under the name `removed`",
)
def lists_removed_entries(
    _server: Server, context: CallContext, args: Readdir3Args, proceed: Proceed[Readdir3Args, Readdir3Res]
) -> Readdir3Res:
    """Add the name again."""
    reply = proceed(context, args)
    if reply.resok is None or b"kept" not in {entry.name for entry in reply.resok.entries}:
        return reply
    last = reply.resok.entries[-1]
    gone = Entry3(last.fileid, b"removed", last.cookie)
    return replace(reply, resok=replace(reply.resok, entries=[*reply.resok.entries, gone]))


@mutant(
    "readdir3-empty-directory-has-no-end",
    bends=READDIR,
    breaks="RFC 1813 section 3.3.16",
    gist="READDIR never says eof in an empty directory",
)
def empty_directory_has_no_end(
    server: Server, context: CallContext, args: Readdir3Args, proceed: Proceed[Readdir3Args, Readdir3Res]
) -> Readdir3Res:
    """Leave the end of an empty directory open."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    everything = server.fs.readdir(server.caller(context), server.resolve(args.dir), 0)
    if any(entry.name not in {b".", b".."} for entry in everything):
        return reply
    return replace(reply, resok=replace(reply.resok, eof=False))


@mutant(
    "readdir3-restarts-behind-the-end",
    bends=READDIR,
    breaks="RFC 1813 section 3.3.16",
    gist="READDIR begins again at the start when the cookie is that of the last entry",
)
def restarts_behind_the_end(
    _server: Server, context: CallContext, args: Readdir3Args, proceed: Proceed[Readdir3Args, Readdir3Res]
) -> Readdir3Res:
    """Serve the first page instead of an empty one."""
    reply = proceed(context, args)
    if reply.resok is None or not args.cookie or reply.resok.entries:
        return reply
    return proceed(context, replace(args, cookie=0, cookieverf=bytes(8)))


@mutant(
    "readdir3-loses-its-place-when-entries-go",
    bends=READDIR,
    breaks="RFC 1813 section 3.3.16",
    gist="READDIR leaves out the next entry when the directory has become smaller since the cookie was given",
)
def loses_its_place(
    server: Server, context: CallContext, args: Readdir3Args, proceed: Proceed[Readdir3Args, Readdir3Res]
) -> Readdir3Res:
    """Remember the size of the directory with each cookie, skip when it is smaller now."""
    sizes = server.mutant_state("readdir3-loses-its-place-when-entries-go")
    reply = proceed(context, args)
    if reply.resok is None or reply.resok.dir_attributes is None:
        return reply
    size = reply.resok.dir_attributes.size
    was = sizes.get(f"{args.dir.hex()}:{args.cookie}", size)
    entries = reply.resok.entries[1:] if size < was else reply.resok.entries
    for entry in entries[-1:]:
        sizes[f"{args.dir.hex()}:{entry.cookie}"] = size
    return replace(reply, resok=replace(reply.resok, entries=entries))


@mutant(
    "readdir3-says-end-when-too-small",
    bends=READDIR,
    breaks="RFC 1813 section 3.3.16",
    gist="READDIR answers an empty page with eof when not one entry fits into count",
)
def says_end_when_too_small(
    _server: Server, context: CallContext, args: Readdir3Args, proceed: Proceed[Readdir3Args, Readdir3Res]
) -> Readdir3Res:
    """Turn TOOSMALL into the end of the directory."""
    reply = proceed(context, args)
    if reply.status != Nfsstat3.NFS3ERR_TOOSMALL:
        return reply
    return Readdir3Res(Nfsstat3.NFS3_OK, Readdir3ResOk(None, bytes(8), [], eof=True))


@mutant(
    "readdir3-wrong-fileid",
    bends=READDIR,
    breaks="RFC 1813 section 3.3.16",
    gist="READDIR gives the entry called `file` the fileid of nothing",
)
def wrong_fileid(
    _server: Server, context: CallContext, args: Readdir3Args, proceed: Proceed[Readdir3Args, Readdir3Res]
) -> Readdir3Res:
    """Add to the number."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    entries = [
        replace(entry, fileid=entry.fileid + 1_000_000) if entry.name == b"file" else entry
        for entry in reply.resok.entries
    ]
    return replace(reply, resok=replace(reply.resok, entries=entries))


@mutant(
    "readdir3-attributes-of-another",
    bends=READDIR,
    breaks="RFC 1813 section 3.3.16",
    gist="READDIR returns the attributes of the export's root as those of the directory",
)
def attributes_of_another(
    server: Server, context: CallContext, args: Readdir3Args, proceed: Proceed[Readdir3Args, Readdir3Res]
) -> Readdir3Res:
    """Take them from the root."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(reply, resok=replace(reply.resok, dir_attributes=fattr3(server.fs.root)))


@mutant(
    "readdir3-lowers-names",
    bends=READDIR,
    breaks="RFC 1813 section 3.3.20",
    gist="READDIR gives names in lower case, though PATHCONF says that case is preserved",
)
def lowers_names(
    _server: Server, context: CallContext, args: Readdir3Args, proceed: Proceed[Readdir3Args, Readdir3Res]
) -> Readdir3Res:
    """Fold every name."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    entries = [replace(entry, name=entry.name.lower()) for entry in reply.resok.entries]
    return replace(reply, resok=replace(reply.resok, entries=entries))


# ---------------------------------------------------------------- READDIRPLUS alone


@mutant(
    "readdirplus3-exceeds-maxcount",
    bends=READDIRPLUS,
    breaks="RFC 1813 section 3.3.17",
    gist="READDIRPLUS returns four times as many bytes as maxcount allows",
)
def readdirplus3_exceeds_maxcount(
    _server: Server,
    context: CallContext,
    args: Readdirplus3Args,
    proceed: Proceed[Readdirplus3Args, Readdirplus3Res],
) -> Readdirplus3Res:
    """Ask for more than the caller did."""
    return proceed(context, replace(args, maxcount=min(4 * args.maxcount, 2**32 - 1), dircount=2**32 - 1))


def _bends_entries(name: str, gist: str) -> Callable[[BendPage], BendPage]:
    """Register what bends the entries of READDIRPLUS called `file`: (server, entry, page) -> entry."""

    def register(bend: BendPage) -> BendPage:
        @mutant(name, bends=(READDIRPLUS,), breaks="RFC 1813 section 3.3.17", gist=gist)
        def middleware(server: Server, context: CallContext, args: t.Any, proceed: DirProceed) -> t.Any:
            reply = proceed(context, args)
            if reply.resok is None:
                return reply
            entries = [
                bend(server, entry, reply.resok) if entry.name == b"file" else entry
                for entry in reply.resok.entries
            ]
            return replace(reply, resok=replace(reply.resok, entries=entries))

        return bend

    return register


@_bends_entries(
    "readdirplus3-attributes-of-another",
    "READDIRPLUS gives `file` the attributes of its directory, but fileid",
)
def plus_attributes_of_another(_server: Server, entry: t.Any, resok: t.Any) -> t.Any:
    """Mix them up."""
    return replace(entry, name_attributes=replace(resok.dir_attributes, fileid=entry.fileid))


@_bends_entries(
    "readdirplus3-fileid-unlike-attributes", "READDIRPLUS says another fileid than the attributes of `file`"
)
def fileid_unlike_attributes(_server: Server, entry: t.Any, _resok: t.Any) -> t.Any:
    """Add to the number."""
    return replace(entry, fileid=entry.fileid + 1_000_000)


@_bends_entries(
    "readdirplus3-handle-of-another", "READDIRPLUS gives the handle of the export's root with `file`"
)
def handle_of_another(server: Server, entry: t.Any, _resok: t.Any) -> t.Any:
    """Take it from the root."""
    return replace(entry, name_handle=server.handle_of(server.fs.root))


@mutant(
    "readdirplus3-hides-directories",
    bends=READDIRPLUS,
    breaks="RFC 1813 section 3.3.17",
    gist="READDIRPLUS leaves out the entry called `directory`",
)
def hides_directories(
    _server: Server,
    context: CallContext,
    args: Readdirplus3Args,
    proceed: Proceed[Readdirplus3Args, Readdirplus3Res],
) -> Readdirplus3Res:
    """Drop it."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    kept = [
        entry
        for entry in reply.resok.entries
        if entry.name != b"directory"
        or entry.name_attributes is None
        or entry.name_attributes.type != Ftype3.NF3DIR
    ]
    return replace(reply, resok=replace(reply.resok, entries=kept))

# SPDX-License-Identifier: MIT
"""Mutants of READDIR."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs2 import READDIR, REMOVE, Entry, Nfsstat2, Readdirargs, Readdirok, Readdirres
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import Directory, Kind
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs2.bending import around, bends_args, bends_reply, child_of, inode_of

if t.TYPE_CHECKING:
    from nfsserver.server import Server

Next: t.TypeAlias = Proceed[Readdirargs, Readdirres]
BendPage: t.TypeAlias = "Callable[[Server, Readdirargs, Readdirok], Readdirok]"

_SECTION: t.Final = "2.2.17"
_DOTS: t.Final = frozenset({b".", b".."})
_ODD_COUNTS: t.Final = (0, 1, 16, 31)


def _bends_pages(name: str, gist: str) -> Callable[[BendPage], BendPage]:
    def register(bend: BendPage) -> BendPage:
        @bends_reply(name, READDIR, _SECTION, gist)
        def bent(server: Server, args: Readdirargs, reply: Readdirres) -> Readdirres:
            return (
                reply
                if reply.readdirok is None
                else replace(reply, readdirok=bend(server, args, reply.readdirok))
            )

        return bend

    return register


def _cookie(number: int) -> bytes:
    return number.to_bytes(4, "big")


@_bends_pages("readdir2-skips-an-entry", "leaves out the last name of large directories")
def skips_an_entry(server: Server, args: Readdirargs, page: Readdirok) -> Readdirok:
    """Of the last page, from 50 names on."""
    inode = inode_of(server, args.dir)
    is_large = inode is not None and inode.directory is not None and len(inode.directory) >= 50
    return replace(page, entries=page.entries[:-1]) if page.eof and is_large else page


@_bends_pages(
    "readdir2-repeats-an-entry", "gives the first name of the first page twice, from eight names on"
)
def repeats_an_entry(_server: Server, args: Readdirargs, page: Readdirok) -> Readdirok:
    """In the first page."""
    if args.cookie != bytes(4) or len(page.entries) < 8:
        return page
    return replace(page, entries=[page.entries[2], *page.entries])


@_bends_pages("readdir2-invents-an-entry", "gives a name that is not there, in pages of 512 bytes")
def invents_an_entry(_server: Server, args: Readdirargs, page: Readdirok) -> Readdirok:
    """In directories of up to one name."""
    if not page.eof or len(page.entries) > 3 or args.count != 512:
        return page
    return replace(page, entries=[*page.entries, Entry(4711, b"invented", _cookie(99))])


@mutant(
    "readdir2-lists-removed-entries",
    bends=(READDIR, REMOVE),
    breaks="RFC 1094 section 2.2.17",
    gist="READDIR gives the name that was removed last",
)
def lists_removed_entries(server: Server, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
    """Once more, in the page that is the last one."""
    state = server.mutant_state("readdir2-lists-removed-entries")
    if context.procedure is REMOVE:
        state[args.name.decode("latin-1")] = args.dir
        return proceed(context, args)
    reply = proceed(context, args)
    page = reply.readdirok
    if page is None or not page.eof:
        return reply
    gone = [
        name.encode("latin-1") for name, where in state.items() if where == args.dir and name == "removed"
    ]
    return replace(
        reply,
        readdirok=replace(page, entries=[*page.entries, *(Entry(1, name, _cookie(99)) for name in gone)]),
    )


@_bends_pages("readdir2-lists-files-only", "leaves out what was made before a directory of the name d")
def lists_files_only(server: Server, args: Readdirargs, page: Readdirok) -> Readdirok:
    """One name."""
    if child_of(server, args.dir, b"d") is None or child_of(server, args.dir, b"object") is None:
        return page
    return replace(page, entries=[entry for entry in page.entries if entry.name != b"object"])


@around("readdir2-exceeds-count", READDIR, _SECTION, "takes a small count for twice as many bytes")
def exceeds_count(_server: Server, context: CallContext, args: Readdirargs, proceed: Next) -> Readdirres:
    """With 150 names or more."""
    inode = inode_of(_server, args.dir)
    many = inode is not None and inode.directory is not None and len(inode.directory) >= 150
    return proceed(context, replace(args, count=args.count * 2) if many and args.count <= 4096 else args)


@bends_args(
    "readdir2-goes-on-one-too-far", READDIR, _SECTION, "goes on behind the next entry from the third one"
)
def goes_on_one_too_far(_server: Server, args: Readdirargs) -> Readdirargs:
    """One more."""
    return replace(args, cookie=_cookie(4)) if args.cookie == _cookie(3) else args


@around(
    "readdir2-goes-on-at-the-beginning",
    READDIR,
    _SECTION,
    "goes on where a listing ended, at the beginning too",
)
def goes_on_at_the_beginning(
    server: Server, context: CallContext, args: Readdirargs, proceed: Next
) -> Readdirres:
    """Once a directory was listed to its end."""
    listed: set[bytes] = server.mutant_state("readdir2-goes-on-at-the-beginning").setdefault("listed", set())
    inode = inode_of(server, args.dir)
    again = args.dir in listed and args.cookie == bytes(4) and inode is not None
    if again and inode is not None and inode.directory is not None and len(inode.directory) == 12:
        return Readdirres(Nfsstat2.NFS_OK, Readdirok([], eof=True))
    reply = proceed(context, args)
    if reply.readdirok is not None and reply.readdirok.eof:
        listed.add(args.dir)
    return reply


@_bends_pages("readdir2-never-ends", "never says that a directory of twelve names has no more")
def never_ends(server: Server, args: Readdirargs, page: Readdirok) -> Readdirok:
    """Say FALSE."""
    inode = inode_of(server, args.dir)
    is_it = inode is not None and inode.directory is not None and len(inode.directory) == 12
    return replace(page, eof=False) if (is_it and args.count < 8192) or (is_it and not page.entries) else page


@_bends_pages("readdir2-ends-early", "says of every page that it is the last")
def ends_early(_server: Server, _args: Readdirargs, page: Readdirok) -> Readdirok:
    """Say TRUE."""
    return replace(page, eof=True)


@_bends_pages("readdir2-has-empty-pages", "gives no entries in pages that are not the first")
def has_empty_pages(_server: Server, args: Readdirargs, page: Readdirok) -> Readdirok:
    """And more to come."""
    return page if args.cookie == bytes(4) else replace(page, entries=[], eof=False)


@_bends_pages("readdir2-has-fileids-of-its-own", "has fileids of its own for names")
def has_fileids_of_its_own(_server: Server, _args: Readdirargs, page: Readdirok) -> Readdirok:
    """Another number."""
    bent = [one if one.name in _DOTS else replace(one, fileid=one.fileid + 1) for one in page.entries]
    return replace(page, entries=bent)


@_bends_pages("readdir2-dots-have-no-fileid", "gives dots a fileid of 0")
def dots_have_no_fileid(_server: Server, _args: Readdirargs, page: Readdirok) -> Readdirok:
    """0."""
    bent = [replace(one, fileid=0) if one.name in _DOTS else one for one in page.entries]
    return replace(page, entries=bent)


@around(
    "readdir2-lists-anything", READDIR, _SECTION, "gives no entries, with success, for what is no directory"
)
def lists_anything(_server: Server, context: CallContext, args: Readdirargs, proceed: Next) -> Readdirres:
    """An empty page."""
    reply = proceed(context, args)
    is_other = reply.status == Nfsstat2.NFSERR_NOTDIR
    return Readdirres(Nfsstat2.NFS_OK, Readdirok([], eof=True)) if is_other else reply


@around(
    "readdir2-answers-garbage-to-odd-wishes",
    READDIR,
    _SECTION,
    "gives names that are not there for odd arguments",
)
def answers_garbage_to_odd_wishes(
    server: Server, context: CallContext, args: Readdirargs, proceed: Next
) -> Readdirres:
    """For cookies that were never given out, and for tiny and huge counts."""
    inode = inode_of(server, args.dir)
    number = int.from_bytes(args.cookie, "big")
    directory = None if inode is None else inode.directory
    invented = directory is not None and number and not directory.has_issued(number)
    if invented or args.count in _ODD_COUNTS or args.count > 8192:
        page = Readdirok([Entry(1, b"\xde\xad", _cookie(1))], eof=True)
        return Readdirres(Nfsstat2.NFS_OK, page)
    return proceed(context, args)


def _position(directory: Directory, number: int) -> int:
    """The cookie that would be behind so many entries now."""
    cookies = [entry.cookie for entry in directory.after(0)]
    at = number - Directory.PARENT_COOKIE
    return cookies[min(at, len(cookies)) - 1] if at > 0 and cookies else number


@bends_args(
    "readdir2-counts-positions",
    READDIR,
    _SECTION,
    "takes cookies for numbers of entries",
)
def counts_positions(server: Server, args: Readdirargs) -> Readdirargs:
    """Which change when entries go; where some came it is two too far."""
    inode = inode_of(server, args.dir)
    number = int.from_bytes(args.cookie, "big")
    if inode is None or inode.directory is None or number < 5:
        return args
    if inode.directory.get(b"zz-added") is not None:
        return replace(args, cookie=_cookie(number - 2))
    return replace(args, cookie=_cookie(_position(inode.directory, number)))


@bends_args(
    "readdir2-goes-back-from-a-removed-entry",
    READDIR,
    _SECTION,
    "begins anew behind an entry that is gone",
)
def goes_back_from_a_removed_entry(server: Server, args: Readdirargs) -> Readdirargs:
    """At the beginning."""
    inode = inode_of(server, args.dir)
    number = int.from_bytes(args.cookie, "big")
    if inode is None or inode.directory is None or inode.kind is not Kind.DIRECTORY or number < 3:
        return args
    is_there = any(entry.cookie == number for entry in inode.directory.after(0))
    return args if is_there else replace(args, cookie=bytes(4))

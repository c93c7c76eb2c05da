# SPDX-License-Identifier: MIT
"""Mutants of NFSv2 that contradict themselves or a definition, for the rules of the lint."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol import nfs2
from nfsclient.protocol.nfs2 import Fattr, Ftype, Nfsstat2, Timeval
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.mutants import Proceed
from nfsserver.nfs2.bending import around, bends_reply

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_EINVAL: t.Final = 22


@around("readlink2-answers-an-unnamed-errno", nfs2.READLINK, "2.3.1", "of a directory answers 22 (EINVAL)")
def readlink2_answers_an_unnamed_errno(
    _server: Server,
    context: CallContext,
    args: nfs2.FhandleArgs,
    proceed: Proceed[nfs2.FhandleArgs, nfs2.Readlinkres],
) -> nfs2.Readlinkres:
    """Turn every error into one that has no name."""
    reply = proceed(context, args)
    return reply if reply.status is Nfsstat2.NFS_OK else nfs2.Readlinkres(Nfsstat2(_EINVAL))


@around(
    "create2-makes-nothing-of-phantoms", nfs2.CREATE, "2.2.10", "of `phantom` makes a file of another name"
)
def create2_makes_nothing_of_phantoms(
    _server: Server,
    context: CallContext,
    args: nfs2.Createargs,
    proceed: Proceed[nfs2.Createargs, nfs2.Diropres],
) -> nfs2.Diropres:
    """Write the name down wrongly."""
    if bytes(args.where.name) == b"phantom":
        return proceed(context, replace(args, where=replace(args.where, name=b"somebody")))
    return proceed(context, args)


# ---------------------------------------------------------------- attributes

BendFattr: t.TypeAlias = Callable[[Fattr], Fattr]


def _bends_getattr(name: str, section: str, gist: str) -> Callable[[BendFattr], BendFattr]:
    """Register what bends the attributes of regular files that are `odd`: of mode 642."""

    def register(bend: BendFattr) -> BendFattr:
        @bends_reply(name, nfs2.GETATTR, section, f"of a file with mode 642 {gist}")
        def middleware(_server: Server, _args: nfs2.FhandleArgs, reply: nfs2.Attrstat) -> nfs2.Attrstat:
            if reply.attributes is None or reply.attributes.mode & 0o777 != 0o642:
                return reply
            return nfs2.Attrstat(reply.status, bend(reply.attributes))

        return bend

    return register


@_bends_getattr("getattr2-has-a-type-of-its-own", "2.3.2", "gives the type 8")
def getattr2_has_a_type_of_its_own(attributes: Fattr) -> Fattr:
    """As old servers did for FIFOs."""
    return replace(attributes, type=Ftype(8))


@_bends_getattr("getattr2-mode-contradicts-the-type", "2.3.5", "has the bits of a directory in mode")
def getattr2_mode_contradicts_the_type(attributes: Fattr) -> Fattr:
    """Put other bits there."""
    return replace(attributes, mode=attributes.mode & 0o7777 | 0o040000)


@_bends_getattr("getattr2-overfills-microseconds", "2.3.4", "gives nanoseconds for microseconds")
def getattr2_overfills_microseconds(attributes: Fattr) -> Fattr:
    """Forget to divide."""
    return replace(attributes, mtime=Timeval(attributes.mtime.seconds, 999_999_999))


# ---------------------------------------------------------------- what changes show


@bends_reply(
    "write2-hides-the-new-size", nfs2.WRITE, "2.2.9", "gives the size that the file had without the data"
)
def write2_hides_the_new_size(_server: Server, args: nfs2.Writeargs, reply: nfs2.Attrstat) -> nfs2.Attrstat:
    """End at the offset."""
    if reply.attributes is None or not len(args.data):
        return reply
    return nfs2.Attrstat(reply.status, replace(reply.attributes, size=args.offset))


@bends_reply("write2-shows-the-fileid-of-another", nfs2.WRITE, "2.3.3", "gives another fileid")
def write2_shows_the_fileid_of_another(
    _server: Server, _args: nfs2.Writeargs, reply: nfs2.Attrstat
) -> nfs2.Attrstat:
    """One more."""
    if reply.attributes is None:
        return reply
    return nfs2.Attrstat(reply.status, replace(reply.attributes, fileid=reply.attributes.fileid + 1))


@bends_reply("setattr2-hides-the-new-size", nfs2.SETATTR, "2.2.3", "gives one byte more for the size")
def setattr2_hides_the_new_size(
    _server: Server, _args: nfs2.Sattrargs, reply: nfs2.Attrstat
) -> nfs2.Attrstat:
    """One more."""
    if reply.attributes is None or reply.attributes.type is not Ftype.NFREG:
        return reply
    return nfs2.Attrstat(reply.status, replace(reply.attributes, size=reply.attributes.size + 1))


@bends_reply("read2-shows-another-owner", nfs2.READ, "2.3.5", "gives another owner than GETATTR")
def read2_shows_another_owner(_server: Server, _args: nfs2.Readargs, reply: nfs2.Readres) -> nfs2.Readres:
    """One more."""
    if reply.readok is None:
        return reply
    attributes = replace(reply.readok.attributes, uid=reply.readok.attributes.uid + 1)
    return nfs2.Readres(reply.status, replace(reply.readok, attributes=attributes))


@bends_reply("read2-returns-twice-the-count", nfs2.READ, "2.2.7", "of 7 bytes returns 14")
def read2_returns_twice_the_count(_server: Server, args: nfs2.Readargs, reply: nfs2.Readres) -> nfs2.Readres:
    """Say it twice."""
    if reply.readok is None or args.count != 7:
        return reply
    return nfs2.Readres(reply.status, replace(reply.readok, data=bytes(reply.readok.data) * 2))


# ---------------------------------------------------------------- READDIR


def _page(reply: nfs2.Readdirres) -> list[nfs2.Entry]:
    """The entries of a page on which `twin` stands behind another."""
    entries = [] if reply.readdirok is None else list(reply.readdirok.entries)
    return entries if any(entry.name == b"twin" for entry in entries[1:]) else []


@around(
    "readdir2-overfills-the-page",
    nfs2.READDIR,
    "2.2.17",
    "returns four times as much as asked, from 128 bytes on",
)
def readdir2_overfills_the_page(
    _server: Server,
    context: CallContext,
    args: nfs2.Readdirargs,
    proceed: Proceed[nfs2.Readdirargs, nfs2.Readdirres],
) -> nfs2.Readdirres:
    """Take the count for words."""
    return proceed(context, replace(args, count=args.count * 4) if 128 <= args.count <= 256 else args)


@bends_reply(
    "readdir2-leads-to-the-start", nfs2.READDIR, "2.2.17", "ends pages with `twin` with cookie 0, and no eof"
)
def readdir2_leads_to_the_start(
    _server: Server, _args: nfs2.Readdirargs, reply: nfs2.Readdirres
) -> nfs2.Readdirres:
    """Begin again."""
    entries = _page(reply)
    if not entries:
        return reply
    entries[-1] = replace(entries[-1], cookie=bytes(4))
    return nfs2.Readdirres(reply.status, nfs2.Readdirok(entries, eof=False))


@bends_reply("readdir2-gives-one-cookie-twice", nfs2.READDIR, "2.2.17", "gives `twin` the cookie before it")
def readdir2_gives_one_cookie_twice(
    _server: Server, _args: nfs2.Readdirargs, reply: nfs2.Readdirres
) -> nfs2.Readdirres:
    """Count too late."""
    entries = _page(reply)
    if not entries or reply.readdirok is None:
        return reply
    at = next(index for index, entry in enumerate(entries) if entry.name == b"twin")
    entries[at] = replace(entries[at], cookie=entries[at - 1].cookie)
    return nfs2.Readdirres(reply.status, nfs2.Readdirok(entries, eof=reply.readdirok.eof))

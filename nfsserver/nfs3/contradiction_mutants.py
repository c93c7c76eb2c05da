# SPDX-License-Identifier: MIT
"""Mutants that contradict themselves or a definition, for the rules of the lint that no other mutant breaks."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs3
from nfsclient.protocol.nfs3 import (
    CreateMode3,
    Ftype3,
    Nfsstat3,
    Nfstime3,
    Readdir3ResOk,
    WccData,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import FsError, Kind
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_DEFINED: t.Final = "RFC 1813 section 2.6"
_LISTING: t.Final = "RFC 1813 section 3.3.16"
_EOPNOTSUPP: t.Final = 95

Next: t.TypeAlias = Proceed[t.Any, t.Any]


def _is(server: Server, handle: bytes, kind: Kind) -> bool:
    try:
        return server.resolve(handle).kind is kind
    except FsError:
        return False


@mutant(
    "readlink3-answers-an-errno",
    bends=nfs3.READLINK,
    breaks="RFC 1813 section 2.5",
    gist="READLINK of a FIFO answers 95, the errno EOPNOTSUPP of the server's system",
)
def readlink3_answers_an_errno(
    server: Server, context: CallContext, args: nfs3.Readlink3Args, proceed: Next
) -> nfs3.Readlink3Res:
    """Forget to map it."""
    if not _is(server, args.symlink, Kind.FIFO):
        return t.cast("nfs3.Readlink3Res", proceed(context, args))
    return nfs3.Readlink3Res(Nfsstat3(_EOPNOTSUPP), resfail=nfs3.Readlink3ResFail())


@mutant(
    "access3-answers-bad-cookie",
    bends=nfs3.ACCESS,
    breaks=_DEFINED,
    gist="ACCESS of a socket answers BAD_COOKIE",
)
def access3_answers_bad_cookie(
    server: Server, context: CallContext, args: nfs3.Access3Args, proceed: Next
) -> nfs3.Access3Res:
    """Take the wrong number from the table."""
    if not _is(server, args.object, Kind.SOCKET):
        return t.cast("nfs3.Access3Res", proceed(context, args))
    return nfs3.Access3Res(Nfsstat3.NFS3ERR_BAD_COOKIE, resfail=nfs3.Access3ResFail())


@mutant(
    "write3-answers-badtype",
    bends=nfs3.WRITE,
    breaks=_DEFINED,
    gist="WRITE to a socket answers BADTYPE, though it creates nothing",
)
def write3_answers_badtype(
    server: Server, context: CallContext, args: nfs3.Write3Args, proceed: Next
) -> nfs3.Write3Res:
    """Say that the type is bad."""
    if not _is(server, args.file, Kind.SOCKET):
        return t.cast("nfs3.Write3Res", proceed(context, args))
    return nfs3.Write3Res(Nfsstat3.NFS3ERR_BADTYPE, resfail=nfs3.Write3ResFail(WccData()))


@mutant(
    "remove3-answers-xdev",
    bends=nfs3.REMOVE,
    breaks=_DEFINED,
    gist="REMOVE of `elsewhere` answers XDEV",
)
def remove3_answers_xdev(
    _server: Server, context: CallContext, args: nfs3.Remove3Args, proceed: Next
) -> nfs3.Remove3Res:
    """As if it were to be linked."""
    if bytes(args.object.name) != b"elsewhere":
        return t.cast("nfs3.Remove3Res", proceed(context, args))
    return nfs3.Remove3Res(Nfsstat3.NFS3ERR_XDEV, resfail=nfs3.Remove3ResFail(WccData()))


@mutant(
    "getattr3-turns-ctime-back",
    bends=nfs3.GETATTR,
    breaks="RFC 1813 section 2.5",
    gist="GETATTR of a FIFO gives a ctime an hour ago",
)
def getattr3_turns_ctime_back(
    _server: Server, context: CallContext, args: nfs3.Getattr3Args, proceed: Next
) -> nfs3.Getattr3Res:
    """Forget the time zone."""
    reply: nfs3.Getattr3Res = proceed(context, args)
    if reply.resok is None or reply.resok.obj_attributes.type is not Ftype3.NF3FIFO:
        return reply
    attributes = reply.resok.obj_attributes
    early = Nfstime3(max(0, attributes.ctime.seconds - 3600), attributes.ctime.nseconds)
    return nfs3.Getattr3Res(reply.status, nfs3.Getattr3ResOk(replace(attributes, ctime=early)))


@mutant(
    "create3-finds-absent-names",
    bends=nfs3.CREATE,
    breaks=_DEFINED,
    gist="CREATE in mode GUARDED of `absent` answers EXIST, though there is no such name",
)
def create3_finds_absent_names(
    _server: Server, context: CallContext, args: nfs3.Create3Args, proceed: Next
) -> nfs3.Create3Res:
    """Refuse without looking."""
    if bytes(args.where.name) != b"absent" or args.how.mode is not CreateMode3.GUARDED:
        return t.cast("nfs3.Create3Res", proceed(context, args))
    return nfs3.Create3Res(Nfsstat3.NFS3ERR_EXIST, resfail=nfs3.Create3ResFail(WccData()))


# ---------------------------------------------------------------- pages of READDIR


def _page(reply: nfs3.Readdir3Res) -> Readdir3ResOk | None:
    """A page with two entries or more that are not `.` and `..`, the first of them `twin`."""
    if reply.resok is None or not any(entry.name == b"twin" for entry in reply.resok.entries):
        return None
    return reply.resok


@mutant(
    "readdir3-repeats-a-cookie",
    bends=nfs3.READDIR,
    breaks=_LISTING,
    gist="READDIR gives `twin` the cookie of the entry before it",
)
def readdir3_repeats_a_cookie(
    _server: Server, context: CallContext, args: nfs3.Readdir3Args, proceed: Next
) -> nfs3.Readdir3Res:
    """Count too late."""
    reply: nfs3.Readdir3Res = proceed(context, args)
    page = _page(reply)
    if page is None:
        return reply
    entries = list(page.entries)
    at = next(index for index, entry in enumerate(entries) if entry.name == b"twin")
    if at:
        entries[at] = replace(entries[at], cookie=entries[at - 1].cookie)
    return replace(reply, resok=replace(page, entries=entries))


@mutant(
    "readdir3-lists-a-name-twice",
    bends=nfs3.READDIR,
    breaks=_LISTING,
    gist="READDIR lists `twin` twice",
)
def readdir3_lists_a_name_twice(
    _server: Server, context: CallContext, args: nfs3.Readdir3Args, proceed: Next
) -> nfs3.Readdir3Res:
    """Give the entry once more at the end, with a cookie of its own."""
    reply: nfs3.Readdir3Res = proceed(context, args)
    page = _page(reply)
    if page is None:
        return reply
    twin = next(entry for entry in page.entries if entry.name == b"twin")
    highest = max(entry.cookie for entry in page.entries)
    return replace(reply, resok=replace(page, entries=[*page.entries, replace(twin, cookie=highest + 1)]))


@mutant(
    "link3-shows-the-old-count",
    bends=nfs3.LINK,
    breaks="RFC 1813 section 2.5",
    gist="LINK returns the nlink that the file had before",
)
def link3_shows_the_old_count(
    _server: Server, context: CallContext, args: nfs3.Link3Args, proceed: Next
) -> nfs3.Link3Res:
    """One less."""
    reply: nfs3.Link3Res = proceed(context, args)
    if reply.resok is None or reply.resok.file_attributes is None:
        return reply
    attributes = reply.resok.file_attributes
    shown = replace(attributes, nlink=attributes.nlink - 1)
    return replace(reply, resok=replace(reply.resok, file_attributes=shown))

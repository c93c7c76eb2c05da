# SPDX-License-Identifier: MIT
"""Mutants of NFSv3 that a rule of the lint catches, and no check."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Ftype3, Nfsstat3, Nfstime3, Readdir3ResOk, WccData
from nfsclient.xdr import replace
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import refuse_read
from nfsmutants.nfs3.calls import Access, Create, Getattr, Link, Readdir, Readlink, Remove, Write
from nfsserver.fs import FsError, Kind
from nfsserver.handlers import ServerApi

_EOPNOTSUPP: t.Final = 95


def _is(server: ServerApi, handle: bytes, kind: Kind) -> bool:
    try:
        return server.backend.resolve(handle).kind is kind
    except FsError:
        return False


@mutant(nfs3.READLINK)
def readlink3_fifo_is_eopnotsupp(call: Readlink) -> nfs3.Readlink3Res:
    """READLINK of a FIFO answers 95, the errno EOPNOTSUPP of the server's system"""
    if not _is(call.server, call.args.symlink, Kind.FIFO):
        return call.proceed()
    return nfs3.Readlink3Res(Nfsstat3(_EOPNOTSUPP), resfail=nfs3.Readlink3ResFail())


@mutant(nfs3.ACCESS)
def access3_answers_bad_cookie(call: Access) -> nfs3.Access3Res:
    """ACCESS of a socket answers BAD_COOKIE"""
    if not _is(call.server, call.args.object, Kind.SOCKET):
        return call.proceed()
    return nfs3.Access3Res(Nfsstat3.NFS3ERR_BAD_COOKIE, resfail=nfs3.Access3ResFail())


@mutant((nfs3.ACCESS, nfs3.READ))
def read3_denies_what_access_granted(call: AnyCall) -> t.Any:
    """READ of a file answers ACCES after ACCESS granted it"""
    asked: set[bytes] = call.state.setdefault("asked", set())
    if call.operation is nfs3.ACCESS:
        asked.add(call.args.object)
    elif call.args.file in asked:
        return refuse_read(call, Nfsstat3.NFS3ERR_ACCES)
    return call.proceed()


@mutant(nfs3.WRITE)
def write3_answers_badtype(call: Write) -> nfs3.Write3Res:
    """WRITE to a socket answers BADTYPE, though it creates nothing"""
    if not _is(call.server, call.args.file, Kind.SOCKET):
        return call.proceed()
    return nfs3.Write3Res(Nfsstat3.NFS3ERR_BADTYPE, resfail=nfs3.Write3ResFail(WccData()))


@mutant(nfs3.REMOVE)
def remove3_answers_xdev(call: Remove) -> nfs3.Remove3Res:
    """REMOVE answers XDEV"""
    call.proceed()
    return nfs3.Remove3Res(Nfsstat3.NFS3ERR_XDEV, resfail=nfs3.Remove3ResFail(WccData()))


@mutant(nfs3.GETATTR)
def getattr3_returns_an_old_ctime(call: Getattr) -> nfs3.Getattr3Res:
    """GETATTR of a FIFO returns a ctime one hour ago"""
    reply: nfs3.Getattr3Res = call.proceed()
    if reply.resok is None or reply.resok.obj_attributes.type is not Ftype3.NF3FIFO:
        return reply
    ctime = reply.resok.obj_attributes.ctime
    return amend(reply, "obj_attributes", ctime=Nfstime3(max(0, ctime.seconds - 3600), ctime.nseconds))


@mutant(nfs3.CREATE)
def create3_guarded_always_exists(call: Create) -> nfs3.Create3Res:
    """CREATE in mode GUARDED answers EXIST, whether the name exists or not"""
    if call.args.how.mode is not CreateMode3.GUARDED:
        return call.proceed()
    return nfs3.Create3Res(Nfsstat3.NFS3ERR_EXIST, resfail=nfs3.Create3ResFail(WccData()))


# ---------------------------------------------------------------- pages of READDIR


def _page(reply: nfs3.Readdir3Res) -> Readdir3ResOk | None:
    """A page with two entries or more that are not `.` and `..`, the first of them `twin`."""
    if reply.resok is None or not any(entry.name == b"twin" for entry in reply.resok.entries):
        return None
    return reply.resok


@mutant(nfs3.READDIR)
def readdir3_repeats_a_cookie(call: Readdir) -> nfs3.Readdir3Res:
    """READDIR returns the cookie of the previous entry with `twin`"""
    reply: nfs3.Readdir3Res = call.proceed()
    page = _page(reply)
    if page is None:
        return reply
    entries = list(page.entries)
    at = next(index for index, entry in enumerate(entries) if entry.name == b"twin")
    if at:
        entries[at] = replace(entries[at], cookie=entries[at - 1].cookie)
    return replace(reply, resok=replace(page, entries=entries))


@mutant(nfs3.READDIR)
def readdir3_lists_a_name_twice(call: Readdir) -> nfs3.Readdir3Res:
    """READDIR lists `twin` twice"""
    reply: nfs3.Readdir3Res = call.proceed()
    page = _page(reply)
    if page is None:
        return reply
    twin = next(entry for entry in page.entries if entry.name == b"twin")
    highest = max(entry.cookie for entry in page.entries)
    return replace(reply, resok=replace(page, entries=[*page.entries, replace(twin, cookie=highest + 1)]))


@mutant(nfs3.LINK)
def link3_returns_the_old_nlink(call: Link) -> nfs3.Link3Res:
    """LINK returns the nlink that the file had before"""
    reply: nfs3.Link3Res = call.proceed()
    if reply.resok is None or reply.resok.file_attributes is None:
        return reply
    attributes = reply.resok.file_attributes
    shown = replace(attributes, nlink=attributes.nlink - 1)
    return amend(reply, file_attributes=shown)

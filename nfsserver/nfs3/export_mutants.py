# SPDX-License-Identifier: MIT
"""Mutants that do not keep one export from another."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    LINK,
    LOOKUP,
    RENAME,
    Link3Args,
    Link3Res,
    Link3ResOk,
    Lookup3Args,
    Lookup3Res,
    Nfsstat3,
    Rename3Args,
    Rename3Res,
    Rename3ResOk,
    WccData,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs.permissions import SUPERUSER
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

AnyProceed: t.TypeAlias = Proceed[t.Any, t.Any]

_RENAME: t.Final = "RFC 1813 section 3.3.14"
_LINK: t.Final = "RFC 1813 section 3.3.15"


@mutant(
    "rename3-loses-across-exports",
    bends=RENAME,
    breaks=_RENAME,
    gist="RENAME into another export answers OK and removes the file",
)
def rename3_loses_across_exports(
    server: Server, context: CallContext, args: Rename3Args, proceed: Proceed[Rename3Args, Rename3Res]
) -> Rename3Res:
    """Do one half of it."""
    reply = proceed(context, args)
    if reply.status != Nfsstat3.NFS3ERR_XDEV:
        return reply
    directory = server.resolve(args.from_.dir)
    directory.fs.remove(SUPERUSER, directory, args.from_.name)
    return Rename3Res(Nfsstat3.NFS3_OK, Rename3ResOk(WccData(), WccData()))


@mutant(
    "link3-copies-across-exports",
    bends=LINK,
    breaks=_LINK,
    gist="LINK into another export answers OK and makes an empty file there",
)
def link3_copies_across_exports(
    server: Server, context: CallContext, args: Link3Args, proceed: Proceed[Link3Args, Link3Res]
) -> Link3Res:
    """Make what looks like it."""
    reply = proceed(context, args)
    if reply.status != Nfsstat3.NFS3ERR_XDEV:
        return reply
    directory = server.resolve(args.link.dir)
    directory.fs.create(SUPERUSER, directory, args.link.name)
    return Link3Res(Nfsstat3.NFS3_OK, Link3ResOk(None, WccData()))


def _says_io(name: str, procedure: t.Any, breaks: str) -> None:
    """Register what answers IO, not XDEV."""

    @mutant(name, bends=(procedure,), breaks=breaks, gist=f"{procedure.name} into another export answers IO")
    def middleware(_server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
        reply = proceed(context, args)
        is_meant = reply.status == Nfsstat3.NFS3ERR_XDEV
        return replace(reply, status=Nfsstat3.NFS3ERR_IO) if is_meant else reply


_says_io("rename3-across-exports-is-io", RENAME, f"{_RENAME} (IMPLEMENTATION)")
_says_io("link3-across-exports-is-io", LINK, f"{_LINK} (IMPLEMENTATION)")


@mutant(
    "lookup3-looks-into-the-first-export",
    bends=LOOKUP,
    breaks="RFC 1813 section 3.3.3",
    gist="LOOKUP in the root of another export finds what is in the root of the first",
)
def lookup3_looks_into_the_first_export(
    server: Server, context: CallContext, args: Lookup3Args, proceed: Proceed[Lookup3Args, Lookup3Res]
) -> Lookup3Res:
    """Take all roots for one."""
    roots = {server.handle_of(file_system.root) for file_system in server.exports.values()}
    if args.what.dir not in roots:
        return proceed(context, args)
    return proceed(context, replace(args, what=replace(args.what, dir=server.handle_of(server.fs.root))))

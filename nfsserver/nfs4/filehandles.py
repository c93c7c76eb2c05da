# SPDX-License-Identifier: MIT
"""Operations that move filehandles, look names up, and tell the security of names.

RFC 5661 sections 18.8, 18.13, 18.14, 18.17, 18.19 to 18.21, 18.24, 18.27 to 18.29, 18.45.
"""

from __future__ import annotations

import errno
import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.service import CallContext
from nfsserver.fs import FsError, Inode, Kind
from nfsserver.fs import names as fs_names
from nfsserver.fs.rules import PARENT
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.common import (
    Nfs4Error,
    become_current,
    check_name,
    compound_of,
    current,
    live,
    require_directory,
    saved,
)

_OK: t.Final = Nfsstat4.NFS4_OK


def putfh4(server: ServerApi, context: CallContext, args: p.Putfh4Args) -> p.Putfh4Res:
    """PUTFH; a handle that a RENAME has made invalid is expired where handles are such."""
    try:
        inode = server.backend.resolve4(bytes(args.object))
    except FsError as refusal:
        if refusal.errno == errno.ESTALE and server.knobs.now.stale_on_rename:
            raise Nfs4Error(Nfsstat4.NFS4ERR_FHEXPIRED) from None
        raise
    become_current(context, inode, bytes(args.object))
    return p.Putfh4Res(_OK)


def putrootfh4(server: ServerApi, context: CallContext, _args: p.Putrootfh4Args) -> p.Putrootfh4Res:
    become_current(context, server.backend.pseudo.root)
    return p.Putrootfh4Res(_OK)


def putpubfh4(server: ServerApi, context: CallContext, _args: p.Putpubfh4Args) -> p.Putpubfh4Res:
    """PUTPUBFH; the public filehandle is that of the root (section 18.20.3 leaves it to the server)."""
    become_current(context, server.backend.pseudo.root)
    return p.Putpubfh4Res(_OK)


def getfh4(server: ServerApi, context: CallContext, _args: p.Getfh4Args) -> p.Getfh4Res:
    """GETFH; what PUTFH was given comes back as it was, though an object may have several filehandles."""
    state, inode = compound_of(context), current(context)
    if state.handle is None:
        state.handle = server.backend.handle_of(inode)
    return p.Getfh4Res(_OK, p.Getfh4ResOk(state.handle))


def savefh4(_server: ServerApi, context: CallContext, _args: p.Savefh4Args) -> p.Savefh4Res:
    """SAVEFH; the current stateid is saved with it."""
    state = compound_of(context)
    state.saved, state.saved_handle, state.saved_stateid = current(context), state.handle, state.stateid
    return p.Savefh4Res(_OK)


def restorefh4(_server: ServerApi, context: CallContext, _args: p.Restorefh4Args) -> p.Restorefh4Res:
    state = compound_of(context)
    state.current, state.handle, state.stateid = saved(context), state.saved_handle, state.saved_stateid
    return p.Restorefh4Res(_OK)


# ---------------------------------------------------------------- names


def found(server: ServerApi, context: CallContext, directory: Inode, name: bytes) -> Inode:
    """What a name stands for; at an export the root of that."""
    check_name(server, name, directory)
    return server.backend.pseudo.cross(
        directory.fs.lookup(compound_of(context).caller, directory, bytes(name))
    )


def parent_of(server: ServerApi, context: CallContext, directory: Inode) -> Inode:
    """The directory above another. Raises NOENT at the root of the server."""
    pseudo = server.backend.pseudo
    if directory is pseudo.root:
        raise FsError(errno.ENOENT)
    below = pseudo.covered(directory) or directory
    return below.fs.lookup(compound_of(context).caller, below, PARENT)


def lookup4(server: ServerApi, context: CallContext, args: p.Lookup4Args) -> p.Lookup4Res:
    """LOOKUP; symbolic links are not followed."""
    directory = current(context)
    require_directory(directory)
    become_current(context, found(server, context, directory, args.objname))
    return p.Lookup4Res(_OK)


def lookupp4(server: ServerApi, context: CallContext, _args: p.Lookupp4Args) -> p.Lookupp4Res:
    directory = current(context)
    require_directory(directory)
    become_current(context, parent_of(server, context, directory))
    return p.Lookupp4Res(_OK)


def openattr4(server: ServerApi, context: CallContext, args: p.Openattr4Args) -> p.Openattr4Res:
    """OPENATTR; named attributes have none (WRONG_TYPE)."""
    inode = current(context)
    if not server.knobs.now.named_attributes:
        raise Nfs4Error(Nfsstat4.NFS4ERR_NOTSUPP)
    if inode.attribute_of is not None:
        raise Nfs4Error(Nfsstat4.NFS4ERR_WRONG_TYPE)
    caller = compound_of(context).caller
    become_current(context, inode.fs.attribute_directory(caller, inode, create=args.createdir))
    return p.Openattr4Res(_OK)


def readlink4(_server: ServerApi, context: CallContext, _args: p.Readlink4Args) -> p.Readlink4Res:
    link = current(context)
    if link.kind is not Kind.SYMLINK:
        raise Nfs4Error(Nfsstat4.NFS4ERR_WRONG_TYPE)
    return p.Readlink4Res(_OK, p.Readlink4ResOk(fs_names.readlink(link.fs, link)))


# ---------------------------------------------------------------- security

_FLAVORS: t.Final = (p.AUTH_SYS,)
"""What the server accepts, the best first."""


def _flavors() -> list[p.Secinfo4]:
    return [p.Secinfo4(flavor) for flavor in _FLAVORS]


def secinfo4(server: ServerApi, context: CallContext, args: p.Secinfo4Args) -> p.Secinfo4Res:
    """SECINFO; the current filehandle is gone afterwards (section 2.6.3.1.1.8)."""
    directory = current(context)
    live(found(server, context, directory, args.name))
    _consume(context)
    return p.Secinfo4Res(_OK, _flavors())


def secinfo_no_name4(
    server: ServerApi, context: CallContext, args: p.SecinfoNoName4Args
) -> p.SecinfoNoName4Res:
    """SECINFO_NO_NAME; of the current filehandle, or of the directory above it."""
    inode = current(context)
    if args.style == p.SecinfoStyle4.SECINFO_STYLE4_PARENT:
        if inode.kind is not Kind.DIRECTORY:
            raise FsError(errno.ENOTDIR)
        parent_of(server, context, inode)
    elif not args.style.is_known:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    _consume(context)
    return p.SecinfoNoName4Res(_OK, _flavors())


def _consume(context: CallContext) -> None:
    state = compound_of(context)
    state.current = state.stateid = None

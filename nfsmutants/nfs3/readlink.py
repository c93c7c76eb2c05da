# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_readlink.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import (
    READLINK,
    SYMLINK,
    Ftype3,
    Nfsstat3,
    Readlink3Res,
    Readlink3ResFail,
    Readlink3ResOk,
    Symlink3Res,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, amend_refusal, inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import is_unprivileged
from nfsmutants.nfs3.calls import Readlink, Symlink
from nfsserver.fs import Kind
from nfsserver.nfs3.common import fattr3

# ---------------------------------------------------------------- SYMLINK


@mutant(SYMLINK)
def symlink3_merges_slashes(call: Symlink) -> Symlink3Res:
    """SYMLINK stores one slash instead of two"""
    tidy = call.args.symlink.symlink_data.replace(b"//", b"/")
    return call.proceed_with("symlink", symlink_data=tidy)


# ---------------------------------------------------------------- READLINK


@mutant(READLINK)
def readlink3_drops_last_byte(call: Readlink) -> Readlink3Res:
    """READLINK returns the link's data without its last byte"""
    return amend(call.proceed(), data=lambda it: it.data[:-1])


@mutant(READLINK)
def readlink3_cuts_long_data(call: Readlink) -> Readlink3Res:
    """READLINK returns at most 255 bytes of the link's data"""
    return amend(call.proceed(), data=lambda it: it.data[:255])


@mutant(READLINK)
def readlink3_attributes_of_the_root(call: Readlink) -> Readlink3Res:
    """READLINK returns the attributes of the export's root as those of the link"""
    return amend(call.proceed(), symlink_attributes=fattr3(call.backend.fs.root))


@mutant(READLINK)
def readlink3_reads_files(call: Readlink) -> Readlink3Res:
    """READLINK returns the data of files"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_INVAL:
        return reply
    data = call.backend.resolve(call.args.symlink).data
    return Readlink3Res(Nfsstat3.NFS3_OK, Readlink3ResOk(None, b"" if data is None else data.read(0, 1024)))


@mutant(READLINK)
def readlink3_needs_permission(call: Readlink) -> Readlink3Res:
    """READLINK is permitted only to the owner of the link"""
    if is_unprivileged(call.context) and call.backend.resolve(call.args.symlink).uid != call.caller.uid:
        return Readlink3Res(Nfsstat3.NFS3ERR_ACCES, resfail=Readlink3ResFail(None))
    return call.proceed()


# ---------------------------------------------------------------- GETATTR, LOOKUP, ACCESS, READLINK


@mutant(READLINK)
def readlink3_reads_non_links(call: Readlink) -> Readlink3Res:
    """READLINK of an object that is neither a link nor a file returns an empty text"""
    inode = inode_of(call.server, call.args.symlink)
    if inode is None or inode.kind in (Kind.SYMLINK, Kind.REGULAR):
        return call.proceed()
    return Readlink3Res(Nfsstat3.NFS3_OK, Readlink3ResOk(None, b""))


@mutant(READLINK)
def readlink3_refusals_show_a_link(call: Readlink) -> Readlink3Res:
    """symlink_attributes of a READLINK that fails have the type of a link"""
    reply = call.proceed()
    if reply.resfail is None or reply.resfail.symlink_attributes is None:
        return reply
    bent = replace(reply.resfail.symlink_attributes, type=Ftype3.NF3LNK)
    return amend_refusal(reply, symlink_attributes=bent)

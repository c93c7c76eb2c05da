# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_access.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import (
    ACCESS,
    ACCESS3_EXECUTE,
    ACCESS3_EXTEND,
    ACCESS3_LOOKUP,
    ACCESS3_MODIFY,
    ACCESS3_READ,
    Access3Res,
    Access3ResFail,
    Ftype3,
    Nfsstat3,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs3.calls import Access
from nfsserver.fs import Caller, Inode, Kind
from nfsserver.nfs3.common import fattr3

# ---------------------------------------------------------------- permissions


def _is_other(caller: Caller, inode: Inode) -> bool:
    """Whether the caller is neither root nor the owner, nor in the group."""
    return not (caller.is_superuser or caller.uid == inode.uid or caller.in_group(inode.gid))


@mutant(ACCESS)
def access3_grants_more_than_requested(call: Access) -> Access3Res:
    """ACCESS grants READ together with LOOKUP"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    granted = reply.resok.access
    return amend(reply, access=granted | ACCESS3_READ) if call.args.access == ACCESS3_LOOKUP else reply


@mutant(ACCESS)
def access3_never_grants_extend(call: Access) -> Access3Res:
    """ACCESS grants MODIFY but not EXTEND of files"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    granted = reply.resok.access
    return amend(reply, access=granted & ~ACCESS3_EXTEND) if inode.directory is None else reply


@mutant(ACCESS)
def access3_never_grants_lookup(call: Access) -> Access3Res:
    """ACCESS does not grant LOOKUP"""
    return amend(call.proceed(), access=lambda it: it.access & ~ACCESS3_LOOKUP)


@mutant(ACCESS)
def access3_never_executes(call: Access) -> Access3Res:
    """ACCESS does not grant EXECUTE"""
    return amend(call.proceed(), access=lambda it: it.access & ~ACCESS3_EXECUTE)


@mutant(ACCESS)
def access3_executes_anything(call: Access) -> Access3Res:
    """ACCESS grants owners EXECUTE of files, whatever the mode"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    granted = reply.resok.access
    is_owners_file = inode.directory is None and call.caller.uid == inode.uid
    return amend(reply, access=granted | call.args.access & ACCESS3_EXECUTE) if is_owners_file else reply


@mutant(ACCESS)
def access3_ignores_the_mode(call: Access) -> Access3Res:
    """ACCESS grants other users everything that they request"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.object)
    if inode is None or not _is_other(call.caller, inode):
        return reply
    return amend(reply, access=call.args.access)


@mutant(ACCESS)
def access3_grants_modify_to_readers(call: Access) -> Access3Res:
    """ACCESS grants MODIFY of empty files to other users who may read them"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    granted = reply.resok.access
    if (
        inode.kind is Kind.REGULAR
        and inode.size == 0
        and _is_other(call.caller, inode)
        and granted & ACCESS3_READ
    ):
        return amend(reply, access=granted | call.args.access & ACCESS3_MODIFY)
    return reply


@mutant(ACCESS)
def access3_grants_read_of_any_directory(call: Access) -> Access3Res:
    """ACCESS grants everybody READ and LOOKUP of any directory"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    granted = reply.resok.access
    if inode.directory is None:
        return reply
    return amend(reply, access=granted | call.args.access & (ACCESS3_READ | ACCESS3_LOOKUP))


@mutant(ACCESS)
def access3_ignores_groups(call: Access) -> Access3Res:
    """ACCESS ignores all groups of the caller except the main group"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    is_by_list = inode.gid in call.caller.groups and inode.gid != call.caller.gid
    return (
        amend(reply, access=0)
        if is_by_list and call.caller.uid != inode.uid and not call.caller.is_superuser
        else reply
    )


@mutant(ACCESS)
def access3_treats_others_as_group(call: Access) -> Access3Res:
    """ACCESS grants other users what the group of a file may read"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    granted = reply.resok.access
    if inode.directory is None and _is_other(call.caller, inode) and inode.mode & 0o040:
        return amend(reply, access=granted | call.args.access & ACCESS3_READ)
    return reply


def _refusal(reply: Access3Res) -> Access3Res:
    attributes = None if reply.resok is None else reply.resok.obj_attributes
    return Access3Res(Nfsstat3.NFS3ERR_INVAL, resfail=Access3ResFail(attributes))


@mutant(ACCESS)
def access3_refuses_unknown_bits(call: Access) -> Access3Res:
    """ACCESS answers INVAL if the call requests undefined bits"""
    reply = call.proceed()
    return _refusal(reply) if call.args.access & ~0x3F else reply


@mutant(ACCESS)
def access3_refuses_an_empty_request(call: Access) -> Access3Res:
    """ACCESS answers INVAL if the call requests no permission"""
    reply = call.proceed()
    return reply if call.args.access else _refusal(reply)


@mutant(ACCESS)
def access3_denies_with_an_error(call: Access) -> Access3Res:
    """ACCESS answers ACCES if it grants none of the requested permissions"""
    reply = call.proceed()
    is_denied = reply.resok is not None and reply.resok.access == 0 and call.args.access != 0
    return replace(_refusal(reply), status=Nfsstat3.NFS3ERR_ACCES) if is_denied else reply


@mutant(ACCESS)
def access3_attributes_of_the_root(call: Access) -> Access3Res:
    """ACCESS returns the attributes of the export's root for every object"""
    return amend(call.proceed(), obj_attributes=fattr3(call.backend.fs.root))


# ---------------------------------------------------------------- GETATTR, LOOKUP, ACCESS, READLINK


@mutant(ACCESS)
def access3_reports_everything_as_regular(call: Access) -> Access3Res:
    """obj_attributes of ACCESS have the type of regular files"""
    reply = call.proceed()
    if reply.resok is None or reply.resok.obj_attributes is None:
        return reply
    bent = replace(reply.resok.obj_attributes, type=Ftype3.NF3REG)
    return amend(reply, obj_attributes=bent)

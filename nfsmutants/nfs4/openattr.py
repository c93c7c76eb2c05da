# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_openattr.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import NfsFtype4, Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, restate4
from nfsserver.fs import Inode
from nfsserver.nfs4.common import compound_of, current

Openattr = Call[p.Openattr4Args, p.Openattr4Res]
Getattr = Call[p.Getattr4Args, p.Getattr4Res]


def _is_of_attributes(call: AnyCall) -> bool:
    """Whether the current filehandle is a named attribute, or a directory of such."""
    inode = compound_of(call.context).current
    return inode is not None and inode.attribute_of is not None


def _with_type(call: Getattr, old: NfsFtype4, new: NfsFtype4) -> p.Getattr4Res:
    result = call.proceed()
    attributes = result.resok4.obj_attributes if result.resok4 is not None else None
    if attributes is None or attributes.type != old:
        return result
    return amend4(result, obj_attributes=attributes.changed(type=new))


@mutant(p.OPENATTR)
def openattr4_always_makes_one(call: Openattr) -> p.Openattr4Res:
    """OPENATTR makes the directory although createdir is FALSE"""
    return call.proceed_with(createdir=True)


@mutant(p.GETATTR)
def openattr4_gives_a_directory(call: Getattr) -> p.Getattr4Res:
    """A directory of named attributes is of type NF4DIR"""
    return _with_type(call, NfsFtype4.NF4ATTRDIR, NfsFtype4.NF4DIR)


@mutant(p.GETATTR)
def openattr4_attributes_are_regular(call: Getattr) -> p.Getattr4Res:
    """A named attribute is of type NF4REG"""
    return _with_type(call, NfsFtype4.NF4NAMEDATTR, NfsFtype4.NF4REG)


@mutant(p.OPENATTR)
def openattr4_makes_another_one(call: Openattr) -> p.Openattr4Res:
    """OPENATTR with createdir makes a new directory in place of the one that exists"""
    inode: Inode = current(call.context)
    if call.args.createdir:
        inode.attributes = None
    return call.proceed()


@mutant(p.OPENATTR)
def openattr4_of_an_attribute_is_noent(call: Openattr) -> p.Openattr4Res:
    """OPENATTR of a named attribute gets NOENT"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_WRONG_TYPE, Nfsstat4.NFS4ERR_NOENT)


@mutant(p.READ)
def openattr4_attributes_are_short(call: Call[p.Read4Args, p.Read4Res]) -> p.Read4Res:
    """READ of a named attribute gives four bytes at most"""
    if not _is_of_attributes(call):
        return call.proceed()
    return amend4(call.proceed(), data=lambda it: bytes(it.data)[:4], eof=True)


@mutant(p.READDIR)
def openattr4_lists_nothing(call: Call[p.Readdir4Args, p.Readdir4Res]) -> p.Readdir4Res:
    """READDIR of a directory of named attributes lists nothing"""
    if not _is_of_attributes(call):
        return call.proceed()
    return amend4(call.proceed(), reply=p.Dirlist4([], True))


@mutant(p.GETATTR)
def openattr4_keeps_named_attr_false(call: Getattr) -> p.Getattr4Res:
    """The attribute named_attr is FALSE for every object"""
    result = call.proceed()
    attributes = result.resok4.obj_attributes if result.resok4 is not None else None
    if attributes is None or not attributes.named_attr:
        return result
    return amend4(result, obj_attributes=attributes.changed(named_attr=False))


@mutant(p.CREATE)
def create4_of_an_attribute_is_inval(call: Call[p.Create4Args, p.Create4Res]) -> p.Create4Res:
    """CREATE in a directory of named attributes gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_WRONG_TYPE, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.OPEN)
def open4_exclusive_attribute_is_exist(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """OPEN with exclusive creation of a named attribute gets EXIST"""
    is_meant = _is_of_attributes(call)
    result = call.proceed()
    return restate4(result, Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_EXIST) if is_meant else result


@mutant(p.RENAME)
def rename4_of_an_attribute_is_inval(call: Call[p.Rename4Args, p.Rename4Res]) -> p.Rename4Res:
    """RENAME of a named attribute to another directory gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_XDEV, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.LINK)
def link4_of_an_attribute_is_inval(call: Call[p.Link4Args, p.Link4Res]) -> p.Link4Res:
    """LINK of a named attribute to another directory gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_XDEV, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.LOOKUPP)
def lookupp4_of_attributes_is_noent(call: Call[p.Lookupp4Args, p.Lookupp4Res]) -> p.Lookupp4Res:
    """LOOKUPP of a directory of named attributes gets NOENT"""
    if _is_of_attributes(call):
        return p.Lookupp4Res(Nfsstat4.NFS4ERR_NOENT)
    return call.proceed()


@mutant(p.OPEN)
def open4_truncates_the_attributes(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """OPEN with a size of zero truncates the named attributes of the file, too"""
    result, how = call.proceed(), call.args.openhow.how
    opened = compound_of(call.context).current
    truncates = how is not None and how.createattrs is not None and how.createattrs.size == 0
    if truncates and opened is not None and opened.attributes is not None:
        assert opened.attributes.directory is not None
        for name in opened.attributes.directory.names():
            attribute = opened.attributes.directory.get(name)
            if attribute is not None and attribute.data is not None:
                attribute.data.truncate(0)
    return result

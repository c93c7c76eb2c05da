# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_getattr_values.py catch."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, succeeded
from nfsmutants.rules import RFC5661_ATTRIBUTES
from nfsserver.fs import Inode, Kind
from nfsserver.nfs4.common import compound_of

Getattr = Call[p.Getattr4Args, p.Getattr4Res]


def shown(
    call: Getattr, name: str, new: Callable[[Inode, t.Any], t.Any], *, kinds: frozenset[Kind] | None = None
) -> p.Getattr4Res:
    """The result with another value of an attribute, if it has that, of objects of these types."""
    result, inode = call.proceed(), compound_of(call.context).current
    known = result.resok4.obj_attributes if result.resok4 is not None else None
    value = None if known is None else getattr(known, name)
    if known is None or value is None or inode is None or (kinds is not None and inode.kind not in kinds):
        return result
    return amend4(result, obj_attributes=known.changed(**{name: new(inode, value)}))


@mutant(p.GETATTR)
def getattr4_links_support_less(call: Getattr) -> p.Getattr4Res:
    """supported_attrs and suppattr_exclcreat of a symbolic link lack the mode"""
    result, inode = call.proceed(), compound_of(call.context).current
    known = result.resok4.obj_attributes if result.resok4 is not None else None
    if known is None or inode is None or inode.kind is not Kind.SYMLINK:
        return result
    shown_words = {
        name: p.bitmap(*[other for other in p.names_of(words) if other != "mode"])
        for name in ("supported_attrs", "suppattr_exclcreat")
        if (words := getattr(known, name)) is not None
    }
    return amend4(result, obj_attributes=known.changed(**shown_words))


@mutant(p.GETATTR)
def getattr4_maxname_is_of_the_type(call: Getattr) -> p.Getattr4Res:
    """maxname of anything but a directory is 0, though the file system is homogeneous"""
    others = frozenset(Kind) - {Kind.DIRECTORY}
    return shown(call, "maxname", lambda _, __: 0, kinds=others)


@mutant(p.GETATTR)
def getattr4_lease_is_of_the_object(call: Getattr) -> p.Getattr4Res:
    """lease_time of a file is one second more than that of other objects"""
    return shown(call, "lease_time", lambda _, lease: lease + 1, kinds=frozenset({Kind.REGULAR}))


@mutant(p.GETATTR)
def getattr4_exclcreat_has_retention_hold(call: Getattr) -> p.Getattr4Res:
    """suppattr_exclcreat has the attribute retention_hold, which the server does not support"""
    return shown(call, "suppattr_exclcreat", lambda _, words: p.bitmap(*p.names_of(words), "retention_hold"))


@mutant(p.GETATTR)
def getattr4_exclcreat_has_change(call: Getattr) -> p.Getattr4Res:
    """suppattr_exclcreat has the attribute change"""
    return shown(call, "suppattr_exclcreat", lambda _, words: p.bitmap(*p.names_of(words), "change"))


@mutant(p.GETATTR, breaks=RFC5661_ATTRIBUTES)
def getattr4_more_is_free_than_there_is(call: Getattr) -> p.Getattr4Res:
    """space_total and files_total are those that are used"""
    result = call.proceed()
    known = result.resok4.obj_attributes if result.resok4 is not None else None
    if known is None or (known.space_total is None and known.files_total is None):
        return result
    return amend4(result, obj_attributes=known.changed(space_total=1, files_total=1))


@mutant(p.GETATTR, breaks=RFC5661_ATTRIBUTES)
def getattr4_more_is_available_than_free(call: Getattr) -> p.Getattr4Res:
    """space_free and files_free do not count what this user may have"""
    result = call.proceed()
    known = result.resok4.obj_attributes if result.resok4 is not None else None
    if known is None or (known.space_free is None and known.files_free is None):
        return result
    return amend4(result, obj_attributes=known.changed(space_free=0, files_free=0))


@mutant(p.GETATTR)
def getattr4_filehandle_is_the_roots(call: Getattr) -> p.Getattr4Res:
    """The attribute filehandle is that of the root of the file system"""
    return shown(call, "filehandle", lambda inode, _: call.backend.handle_of(inode.fs.root))


@mutant(p.GETATTR)
def getattr4_all_have_named_attributes(call: Getattr) -> p.Getattr4Res:
    """named_attr is TRUE for every object"""
    return shown(call, "named_attr", lambda _, __: True)


@mutant(p.GETATTR)
def getattr4_mounted_on_is_the_root(call: Getattr) -> p.Getattr4Res:
    """mounted_on_fileid is that of the root of the file system"""
    return shown(call, "mounted_on_fileid", lambda inode, _: inode.fs.root.fileid)


@mutant(p.GETATTR)
def getattr4_mounted_on_is_of_the_mounted(call: Getattr) -> p.Getattr4Res:
    """mounted_on_fileid of the root of an export, by GETATTR, is not that of its entry"""
    return shown(call, "mounted_on_fileid", lambda inode, known: known + (inode is inode.fs.root))


@mutant(p.GETATTR)
def getattr4_charset_has_both_flags(call: Getattr) -> p.Getattr4Res:
    """fs_charset_cap has both flags"""
    both = p.FSCHARSET_CAP4_CONTAINS_NON_UTF8 | p.FSCHARSET_CAP4_ALLOWS_ONLY_UTF8
    return shown(call, "fs_charset_cap", lambda _, __: both)


@mutant(p.GETATTR)
def getattr4_supports_no_denials(call: Getattr) -> p.Getattr4Res:
    """aclsupport has ALLOW, and not DENY"""
    return shown(call, "aclsupport", lambda _, __: p.ACL4_SUPPORT_ALLOW_ACL)


@mutant(p.GETATTR)
def getattr4_times_have_a_billion_nanoseconds(call: Getattr) -> p.Getattr4Res:
    """time_metadata has a billion nanoseconds"""
    return shown(call, "time_metadata", lambda _, time: p.Nfstime4(time.seconds, 1_000_000_000))


@mutant(p.GETATTR)
def getattr4_time_delta_is_nothing(call: Getattr) -> p.Getattr4Res:
    """time_delta is 0"""
    return shown(call, "time_delta", lambda _, __: p.Nfstime4(0, 0))


@mutant((p.REMOVE, p.GETATTR))
def remove4_leaves_numlinks(call: AnyCall) -> t.Any:
    """numlinks of a file does not shrink when one of several names is removed"""
    here = compound_of(call.context).current
    if call.operation is p.GETATTR:
        added = call.state.get(None if here is None else (here.fileid, here.generation), 0)
        return shown(call, "numlinks", lambda _, known: known + added)
    target = None if here is None or here.directory is None else here.directory.get(bytes(call.args.target))
    result = call.proceed()
    if succeeded(result) and target is not None:
        key = target.fileid, target.generation
        call.state[key] = call.state.get(key, 0) + 1
    return result

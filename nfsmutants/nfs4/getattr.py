# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_getattr.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import ATTRIBUTES, Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, refusal
from nfsserver.fs import Kind
from nfsserver.nfs4.common import compound_of

Getattr = Call[p.Getattr4Args, p.Getattr4Res]
_MANY: t.Final = 14
"""Attributes: more than anybody asks for by name."""
_REQUIRED: t.Final = [
    attribute
    for attribute in ATTRIBUTES.values()
    if attribute.about.required and attribute.name != "rdattr_error"
]


def _asked(call: Getattr) -> list[str]:
    return p.names_of(call.args.attr_request)


def _without(result: p.Getattr4Res, *names: str) -> p.Getattr4Res:
    return amend4(result, obj_attributes=lambda it: it.obj_attributes.changed(**dict.fromkeys(names)))


@mutant(p.GETATTR)
def getattr4_lacks_a_required_attribute(call: Getattr) -> p.Getattr4Res:
    """GETATTR of one REQUIRED attribute returns nothing"""
    asked = _asked(call)
    is_required = len(asked) == 1 and asked[0] in p.NUMBERS and ATTRIBUTES[p.NUMBERS[asked[0]]].about.required
    return _without(call.proceed(), asked[0]) if is_required else call.proceed()


@mutant(p.GETATTR)
def getattr4_hides_a_required_attribute(call: Getattr) -> p.Getattr4Res:
    """supported_attrs lacks lease_time"""
    result = call.proceed()
    known = result.resok4.obj_attributes.supported_attrs if result.resok4 is not None else None
    if known is None:
        return result
    shown = p.bitmap(*[name for name in p.names_of(known) if name in p.NUMBERS and name != "lease_time"])
    return amend4(result, "obj_attributes", supported_attrs=shown)


@mutant(p.GETATTR)
def getattr4_drops_the_last_attribute(call: Getattr) -> p.Getattr4Res:
    """GETATTR of many attributes lacks the last one"""
    result = call.proceed()
    if result.resok4 is None or len(_asked(call)) <= _MANY:
        return result
    return _without(result, p.names_of(result.resok4.obj_attributes.attrmask)[-1])


@mutant(p.GETATTR)
def getattr4_of_many_is_a_fault(call: Getattr) -> p.Getattr4Res:
    """GETATTR of many attributes gets SERVERFAULT, of each one alone it succeeds"""
    result = call.proceed()
    return result if len(_asked(call)) <= _MANY else refusal(result, Nfsstat4.NFS4ERR_SERVERFAULT)


@mutant(p.GETATTR)
def getattr4_only_files_have_all(call: Getattr) -> p.Getattr4Res:
    """GETATTR of many attributes returns lease_time and unique_handles for regular files only"""
    inode = compound_of(call.context).current
    if inode is None or inode.kind is Kind.REGULAR or len(_asked(call)) < len(_REQUIRED):
        return call.proceed()
    return _without(call.proceed(), "lease_time", "unique_handles")


@mutant(p.GETATTR)
def getattr4_fails_within_three_words(call: Getattr) -> p.Getattr4Res:
    """GETATTR looks for unknown bits in the first three words only, and answers ATTRNOTSUPP"""
    asked = call.args.attr_request
    is_known = all(name in p.NUMBERS for name in p.names_of(asked[:3]))
    return call.proceed() if is_known else refusal(call.proceed(), Nfsstat4.NFS4ERR_ATTRNOTSUPP)


@mutant(p.GETATTR)
def getattr4_unknown_bit_is_an_error(call: Getattr) -> p.Getattr4Res:
    """GETATTR with a bit that no attribute has gets INVAL"""
    result = call.proceed()
    is_known = all(name in p.NUMBERS for name in _asked(call))
    return result if is_known else refusal(result, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.GETATTR)
def getattr4_adds_the_type(call: Getattr) -> p.Getattr4Res:
    """GETATTR of the size returns a type as well"""
    result = call.proceed()
    if _asked(call) != ["size"]:
        return result
    return amend4(result, obj_attributes=lambda it: it.obj_attributes.changed(type=p.NfsFtype4.NF4REG))


@mutant(p.GETATTR)
def getattr4_nothing_is_everything(call: Getattr) -> p.Getattr4Res:
    """GETATTR of nothing returns attributes"""
    return call.proceed() if _asked(call) else call.proceed_with(attr_request=p.bitmap("type", "size"))


@mutant(p.GETATTR)
def getattr4_set_only_is_left_out(call: Getattr) -> p.Getattr4Res:
    """GETATTR of a set-only attribute succeeds, and leaves it out"""
    result = call.proceed()
    names = {name for name in _asked(call) if name in p.NUMBERS}
    if all(ATTRIBUTES[p.NUMBERS[name]].about.is_readable for name in names):
        return result
    return p.Getattr4Res(Nfsstat4.NFS4_OK, p.Getattr4ResOk(p.Fattr4()))


_SWAPPED: t.Final = {
    p.NfsFtype4.NF4REG: p.NfsFtype4.NF4DIR,
    p.NfsFtype4.NF4DIR: p.NfsFtype4.NF4REG,
}


@mutant(p.GETATTR)
def getattr4_swaps_types(call: Getattr) -> p.Getattr4Res:
    """GETATTR of the type alone says that files are directories, and directories files"""
    result = call.proceed()
    if _asked(call) != ["type"] or result.resok4 is None or result.resok4.obj_attributes.type is None:
        return result
    seen = result.resok4.obj_attributes.type
    return amend4(result, "obj_attributes", type=_SWAPPED.get(seen, seen))


@mutant(p.GETATTR)
def getattr4_change_stands(call: Getattr) -> p.Getattr4Res:
    """change is the same for ever"""
    result = call.proceed()
    if result.resok4 is None or result.resok4.obj_attributes.change is None:
        return result
    return replace(result, resok4=p.Getattr4ResOk(result.resok4.obj_attributes.changed(change=1)))

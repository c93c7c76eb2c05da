# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_locations.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fs4StatusType
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsmutants.nfs4.getattr_values import shown

Getattr = Call[p.Getattr4Args, p.Getattr4Res]
_NAME: t.Final = "fs_locations_info"


def with_flags(info: p.FsLocationsInfo4, flags: int) -> p.FsLocationsInfo4:
    """The value with these general flags of each entry, too."""

    def changed(entry: p.FsLocationsServer4) -> p.FsLocationsServer4:
        known = bytes(entry.fls_info)
        return replace(entry, fls_info=bytes([known[0] | flags]) + known[1:])

    items = [
        replace(item, fli_entries=[changed(entry) for entry in item.fli_entries]) for item in info.fli_items
    ]
    return replace(info, fli_items=items)


@mutant(p.GETATTR)
def getattr4_info_root_is_too_long(call: Getattr) -> p.Getattr4Res:
    """fli_fs_root has a component too many"""
    return shown(call, _NAME, lambda _, it: replace(it, fli_fs_root=[*it.fli_fs_root, b"nowhere"]))


@mutant(p.GETATTR)
def getattr4_info_is_empty(call: Getattr) -> p.Getattr4Res:
    """fs_locations_info has no entries"""
    return shown(call, _NAME, lambda _, it: replace(it, fli_items=[]))


@mutant(p.GETATTR)
def getattr4_info_repeats_the_current_entry(call: Getattr) -> p.Getattr4Res:
    """Two entries of fs_locations_info have CUR_REQ"""
    return shown(call, _NAME, lambda _, it: replace(it, fli_items=it.fli_items * 2))


@mutant(p.GETATTR)
def getattr4_info_is_of_what_is_absent(call: Getattr) -> p.Getattr4Res:
    """The entry of a file system that is present has ABSENT"""
    return shown(call, _NAME, lambda _, it: with_flags(it, p.FSLI4GF_ABSENT))


@mutant(p.GETATTR)
def getattr4_info_has_unknown_flags(call: Getattr) -> p.Getattr4Res:
    """fli_flags has a bit that is not defined"""
    return shown(call, _NAME, lambda _, it: replace(it, fli_flags=it.fli_flags | 0x8000))


@mutant(p.GETATTR)
def getattr4_info_has_unknown_bytes(call: Getattr) -> p.Getattr4Res:
    """fls_info has a byte that is not defined"""

    def longer(info: p.FsLocationsInfo4) -> p.FsLocationsInfo4:
        items = [
            replace(
                item,
                fli_entries=[
                    replace(entry, fls_info=bytes(entry.fls_info) + b"\1") for entry in item.fli_entries
                ],
            )
            for item in info.fli_items
        ]
        return replace(info, fli_items=items)

    return shown(call, _NAME, lambda _, it: longer(it))


@mutant(p.GETATTR)
def getattr4_info_without_locations(call: Getattr) -> p.Getattr4Res:
    """supported_attrs has fs_locations_info and lacks fs_locations"""

    def without(words: list[int]) -> list[int]:
        return p.bitmap(*(name for name in p.names_of(words) if name != "fs_locations"))

    result = call.proceed()
    known = result.resok4.obj_attributes.supported_attrs if result.resok4 is not None else None
    return result if known is None else amend4(result, "obj_attributes", supported_attrs=without(known))


@mutant(p.GETATTR)
def getattr4_status_is_absent(call: Getattr) -> p.Getattr4Res:
    """fss_absent of a file system that is present is TRUE"""
    return shown(call, "fs_status", lambda _, it: replace(it, fss_absent=True))


@mutant(p.GETATTR)
def getattr4_status_is_fixed(call: Getattr) -> p.Getattr4Res:
    """fss_type of a file system that anybody may write to is STATUS4_FIXED"""
    return shown(call, "fs_status", lambda _, it: replace(it, fss_type=Fs4StatusType.STATUS4_FIXED))


@mutant(p.GETATTR)
def getattr4_layouts_without_pnfs(call: Getattr) -> p.Getattr4Res:
    """fs_layout_types and layout_types of a server without pNFS have the type of files"""
    files = [p.Layouttype4.LAYOUT4_NFSV4_1_FILES]
    result = call.proceed()
    known = None if result.resok4 is None else result.resok4.obj_attributes
    names = ("fs_layout_types", "layout_types")
    new = {name: files for name in names if known is not None and getattr(known, name) is not None}
    return amend4(result, obj_attributes=lambda it: it.obj_attributes.changed(**new)) if new else result

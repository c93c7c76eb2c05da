# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_absent.py catch."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, restate4
from nfsmutants.nfs4.getattr_values import shown
from nfsmutants.nfs4.locations import with_flags
from nfsmutants.nfs4.referrals import is_absent
from nfsserver.nfs4.common import compound_of

Getattr = Call[p.Getattr4Args, p.Getattr4Res]
Readdir = Call[p.Readdir4Args, p.Readdir4Res]
_MOVED: t.Final = Nfsstat4.NFS4ERR_MOVED


def _asked(call: Getattr | Readdir) -> list[str]:
    return p.names_of(call.args.attr_request)


def _of_absent(call: Getattr, new: Callable[[Fattr4], Fattr4]) -> p.Getattr4Res:
    """The result with other attributes, if it is about an absent file system."""
    result = call.proceed()
    return amend4(result, obj_attributes=lambda it: new(it.obj_attributes)) if is_absent(call) else result


def _shown(call: Getattr, name: str, new: Callable[[t.Any], t.Any]) -> p.Getattr4Res:
    """The result with another value of an attribute, if it is about an absent file system."""
    return shown(call, name, lambda _, it: new(it)) if is_absent(call) else call.proceed()


def _entry(call: Readdir, new: Callable[[Fattr4], Fattr4]) -> p.Readdir4Res:
    """The page with other attributes of the referrals in it."""
    here, pseudo = compound_of(call.context).current, call.backend.pseudo
    entries = None if here is None else here.directory

    def changed(entry: p.Entry4) -> p.Entry4:
        found = None if entries is None else entries.get(bytes(entry.name))
        is_referral = found is not None and pseudo.is_absent(pseudo.cross(found))
        return replace(entry, attrs=new(entry.attrs)) if is_referral else entry

    return amend4(call.proceed(), "reply", entries=lambda it: [changed(entry) for entry in it.entries])


# ---------------------------------------------------------------- GETATTR


@mutant(p.GETATTR)
def getattr4_absent_needs_no_location(call: Getattr) -> p.Getattr4Res:
    """GETATTR of an absent file system succeeds without a location attribute"""
    result = call.proceed()
    if p.status_of(result) != _MOVED:
        return result
    return call.proceed_with(attr_request=p.bitmap(*_asked(call), "fs_locations"))


@mutant(p.GETATTR)
def getattr4_absent_is_moved(call: Getattr) -> p.Getattr4Res:
    """GETATTR of an absent file system gets MOVED if one of the attributes cannot be had"""
    if is_absent(call) and "size" in _asked(call):
        return p.Getattr4Res(_MOVED)
    return call.proceed()


@mutant(p.GETATTR)
def getattr4_absent_has_more(call: Getattr) -> p.Getattr4Res:
    """GETATTR of an absent file system returns type and size"""
    asked = _asked(call)
    more = {"type": p.NfsFtype4.NF4DIR, "size": 0}
    return _of_absent(
        call, lambda it: it.changed(**{name: value for name, value in more.items() if name in asked})
    )


@mutant(p.GETATTR)
def getattr4_absent_has_no_boundary(call: Getattr) -> p.Getattr4Res:
    """GETATTR of an absent file system returns neither fsid nor mounted_on_fileid"""
    return _of_absent(call, lambda it: it.changed(fsid=None, mounted_on_fileid=None))


@mutant(p.GETATTR)
def getattr4_absent_fsid_is_the_parents(call: Getattr) -> p.Getattr4Res:
    """fsid of an absent file system is that of the root of the server"""
    return _shown(call, "fsid", lambda _: p.Fsid4(call.backend.pseudo.root.fs.fsid, 0))


@mutant(p.GETATTR)
def getattr4_absent_has_no_locations(call: Getattr) -> p.Getattr4Res:
    """GETATTR of an absent file system does not return fs_locations"""
    return _of_absent(call, lambda it: it.changed(fs_locations=None))


@mutant(p.GETATTR)
def getattr4_absent_has_only_locations(call: Getattr) -> p.Getattr4Res:
    """GETATTR of an absent file system returns neither fs_locations_info nor fs_status"""
    return _of_absent(call, lambda it: it.changed(fs_locations_info=None, fs_status=None))


@mutant(p.GETATTR)
def getattr4_absent_is_mounted_elsewhere(call: Getattr) -> p.Getattr4Res:
    """mounted_on_fileid of an absent file system is another one by GETATTR than in the parent directory"""
    return _shown(call, "mounted_on_fileid", lambda fileid: fileid + 1000)


# ---------------------------------------------------------------- VERIFY and NVERIFY


@mutant((p.VERIFY, p.NVERIFY))
def verify4_absent_is_attrnotsupp(call: AnyCall) -> t.Any:
    """VERIFY and NVERIFY of what an absent file system lacks get ATTRNOTSUPP"""
    return restate4(call.proceed(), _MOVED, Nfsstat4.NFS4ERR_ATTRNOTSUPP)


@mutant((p.VERIFY, p.NVERIFY))
def verify4_absent_is_moved(call: AnyCall) -> t.Any:
    """VERIFY and NVERIFY of an absent file system get MOVED"""
    cls: t.Any = call.operation.res
    return cls(_MOVED) if is_absent(call) else call.proceed()


# ---------------------------------------------------------------- READDIR


@mutant(p.READDIR)
def readdir4_absent_is_without_attributes(call: Readdir) -> p.Readdir4Res:
    """READDIR lists a referral with the attributes that there are, whatever the request names"""
    result = call.proceed()
    if result.status != _MOVED:
        return result
    return call.proceed_with(attr_request=p.bitmap(*_asked(call), "rdattr_error"))


@mutant(p.READDIR)
def readdir4_absent_fails_the_page(call: Readdir) -> p.Readdir4Res:
    """READDIR over a referral gets MOVED although the request names rdattr_error"""
    return call.proceed_with(
        attr_request=p.bitmap(*(name for name in _asked(call) if name != "rdattr_error"))
    )


@mutant(p.READDIR)
def readdir4_absent_error_is_stale(call: Readdir) -> p.Readdir4Res:
    """rdattr_error of a referral is STALE"""

    def new(attributes: Fattr4) -> Fattr4:
        if not attributes.rdattr_error:
            return attributes
        return attributes.changed(rdattr_error=Nfsstat4.NFS4ERR_STALE)

    return _entry(call, new)


@mutant(p.READDIR)
def readdir4_absent_has_more(call: Readdir) -> p.Readdir4Res:
    """READDIR returns the type of a referral"""
    return _entry(call, lambda it: it.changed(type=p.NfsFtype4.NF4DIR) if "type" in _asked(call) else it)


@mutant(p.READDIR)
def readdir4_locations_are_errors(call: Readdir) -> p.Readdir4Res:
    """READDIR of a referral returns rdattr_error MOVED, and no locations, although the request names them"""
    return _entry(
        call, lambda it: it.changed(fs_locations=None, rdattr_error=_MOVED) if it.fs_locations else it
    )


@mutant(p.READDIR)
def readdir4_absent_is_mounted_on_its_neighbour(call: Readdir) -> p.Readdir4Res:
    """mounted_on_fileid of a referral is that of the entry next to it"""
    result = call.proceed()
    known = {} if result.resok4 is None else {bytes(e.name): e.attrs for e in result.resok4.reply.entries}
    other = known.get(b"present")
    if other is None or other.mounted_on_fileid is None:
        return result
    return _entry(call, lambda it: it.changed(mounted_on_fileid=other.mounted_on_fileid))


# ---------------------------------------------------------------- where it leads to


@mutant(p.GETATTR)
def getattr4_referral_leads_nowhere(call: Getattr) -> p.Getattr4Res:
    """fs_locations of a referral has no location, and fs_locations_info no entry"""

    def emptied(known: Fattr4) -> Fattr4:
        locations, info = known.fs_locations, known.fs_locations_info
        return known.changed(
            fs_locations=None if locations is None else replace(locations, locations=[]),
            fs_locations_info=None if info is None else replace(info, fli_items=[]),
        )

    return _of_absent(call, emptied)


@mutant(p.GETATTR)
def getattr4_referral_root_is_empty(call: Getattr) -> p.Getattr4Res:
    """fs_root of a referral is empty"""
    return _shown(call, "fs_locations", lambda it: replace(it, fs_root=[]))


@mutant(p.GETATTR)
def getattr4_referral_info_root_is_empty(call: Getattr) -> p.Getattr4Res:
    """fli_fs_root of a referral is empty"""
    return _shown(call, "fs_locations_info", lambda it: replace(it, fli_fs_root=[]))


@mutant(p.GETATTR)
def getattr4_referral_is_current(call: Getattr) -> p.Getattr4Res:
    """The entries of fs_locations_info of a referral have CUR_REQ"""
    return _shown(call, "fs_locations_info", lambda it: with_flags(it, p.FSLI4GF_CUR_REQ))


@mutant(p.GETATTR)
def getattr4_absent_says_present(call: Getattr) -> p.Getattr4Res:
    """fss_absent of an absent file system is FALSE"""
    return _shown(call, "fs_status", lambda it: replace(it, fss_absent=False))

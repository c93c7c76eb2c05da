# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_readdir_attributes.py catch."""

from __future__ import annotations

from collections.abc import Callable

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import ATTRIBUTES, NUMBERS, Fattr4, Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsserver.nfs4 import values
from nfsserver.nfs4.common import compound_of
from nfsserver.nfs4.values import View

Readdir = Call[p.Readdir4Args, p.Readdir4Res]


def _asked(call: Readdir) -> list[str]:
    return p.names_of(call.args.attr_request)


def _with(result: p.Readdir4Res, new: Callable[[Fattr4], Fattr4]) -> p.Readdir4Res:
    """The page with other attributes of each entry."""
    return amend4(
        result,
        "reply",
        entries=lambda it: [replace(entry, attrs=new(entry.attrs)) for entry in it.entries],
    )


@mutant(p.READDIR)
def readdir4_attributes_are_the_directorys(call: Readdir) -> p.Readdir4Res:
    """READDIR of many attributes returns the mode and the links of the directory for each entry"""
    here = compound_of(call.context).current
    if here is None or len(_asked(call)) < 8:
        return call.proceed()
    view = View(call.server, here, compound_of(call.context).minor)
    own = values.read(view, p.bitmap("numlinks", "change"))
    return _with(call.proceed(), lambda attrs: attrs.changed(numlinks=own.numlinks, change=own.change))


@mutant(p.READDIR)
def readdir4_adds_the_fileid(call: Readdir) -> p.Readdir4Res:
    """READDIR that asks for no attributes returns the fileid of each entry"""
    return call.proceed() if _asked(call) else call.proceed_with(attr_request=p.bitmap("fileid"))


@mutant(p.READDIR)
def readdir4_all_entries_have_errors(call: Readdir) -> p.Readdir4Res:
    """rdattr_error of each entry is WRONGSEC, though its attributes are there"""
    if "rdattr_error" not in _asked(call):
        return call.proceed()
    return _with(call.proceed(), lambda attrs: attrs.changed(rdattr_error=Nfsstat4.NFS4ERR_WRONGSEC))


@mutant(p.READDIR)
def readdir4_always_has_rdattr_error(call: Readdir) -> p.Readdir4Res:
    """READDIR of the type alone returns rdattr_error as well"""
    if _asked(call) != ["type"]:
        return call.proceed()
    return call.proceed_with(attr_request=p.bitmap("type", "rdattr_error"))


@mutant(p.READDIR)
def readdir4_set_only_is_left_out(call: Readdir) -> p.Readdir4Res:
    """READDIR leaves out attributes that can only be set, without an error"""
    readable = [
        name for name in _asked(call) if name in NUMBERS and ATTRIBUTES[NUMBERS[name]].about.is_readable
    ]
    return call.proceed_with(attr_request=p.bitmap(*readable))


@mutant(p.READDIR)
def readdir4_odd_cookies_skip_an_entry(call: Readdir) -> p.Readdir4Res:
    """READDIR with an odd cookie skips an entry"""
    result = call.proceed()
    if not call.args.cookie & 1 or not call.args.cookie:
        return result
    return amend4(result, "reply", entries=lambda it: it.entries[1:])


@mutant(p.READDIR)
def readdir4_other_verifier_is_the_end(call: Readdir) -> p.Readdir4Res:
    """READDIR with another verifier returns no entries, and eof"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_NOT_SAME:
        return result
    return p.Readdir4Res(Nfsstat4.NFS4_OK, p.Readdir4ResOk(call.args.cookieverf, p.Dirlist4([], True)))


@mutant(p.READDIR)
def readdir4_junctions_are_of_the_pseudo_root(call: Readdir) -> p.Readdir4Res:
    """READDIR returns the fsid of the directory for each entry"""
    here = compound_of(call.context).current
    if here is None or "fsid" not in _asked(call):
        return call.proceed()
    return _with(call.proceed(), lambda attrs: attrs.changed(fsid=p.Fsid4(here.fs.fsid, 0)))

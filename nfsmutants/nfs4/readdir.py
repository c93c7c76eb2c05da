# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_readdir.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4

Readdir = Call[p.Readdir4Args, p.Readdir4Res]
_VERIFIER = bytes(p.NFS4_VERIFIER_SIZE)


def _page(eof: bool) -> p.Readdir4Res:
    """A page without entries."""
    return p.Readdir4Res(Nfsstat4.NFS4_OK, p.Readdir4ResOk(_VERIFIER, p.Dirlist4([], eof)))


def _is_whole(result: p.Readdir4Res, call: Readdir) -> bool:
    """Whether a page has all entries of a directory, and there are any."""
    listed = result.resok4.reply if result.resok4 is not None else None
    return listed is not None and listed.eof and not call.args.cookie and bool(listed.entries)


@mutant(p.READDIR)
def readdir4_skips_the_last(call: Readdir) -> p.Readdir4Res:
    """READDIR lacks the last entry"""
    result = call.proceed()
    if not _is_whole(result, call):
        return result
    return amend4(result, "reply", entries=lambda it: it.entries[:-1])


@mutant(p.READDIR)
def readdir4_empty_has_no_end(call: Readdir) -> p.Readdir4Res:
    """READDIR of an empty directory returns neither entries nor eof"""
    return amend4(call.proceed(), "reply", eof=lambda it: it.eof and bool(it.entries))


@mutant(p.READDIR)
def readdir4_ignores_cookies(call: Readdir) -> p.Readdir4Res:
    """READDIR with a cookie begins again"""
    return call.proceed_with(cookie=0, cookieverf=_VERIFIER)


@mutant(p.READDIR)
def readdir4_lists_dots(call: Readdir) -> p.Readdir4Res:
    """READDIR returns an entry ".." at the beginning"""
    result = call.proceed()
    if not _is_whole(result, call):
        return result
    dots = p.Entry4((1 << 63) - 1, b"..", p.Fattr4())
    return amend4(result, "reply", entries=lambda it: [dots, *it.entries])


@mutant(p.READDIR)
def readdir4_counts_cookies_from_one(call: Readdir) -> p.Readdir4Res:
    """READDIR returns 1 as the cookie of the first entry"""
    result = call.proceed()
    if not _is_whole(result, call):
        return result
    return amend4(result, "reply", entries=lambda it: [replace(it.entries[0], cookie=1), *it.entries[1:]])


@mutant(p.READDIR)
def readdir4_all_sizes_are_zero(call: Readdir) -> p.Readdir4Res:
    """READDIR returns 0 as the size of each entry"""
    result = call.proceed()
    if "size" not in p.names_of(call.args.attr_request):
        return result
    return amend4(
        result,
        "reply",
        entries=lambda it: [replace(entry, attrs=entry.attrs.changed(size=0)) for entry in it.entries],
    )


@mutant(p.READDIR)
def readdir4_small_pages_are_empty(call: Readdir) -> p.Readdir4Res:
    """READDIR with a maxcount that is too small returns an empty page"""
    result = call.proceed()
    return _page(False) if result.status == Nfsstat4.NFS4ERR_TOOSMALL else result


@mutant(p.READDIR)
def readdir4_dircount_is_a_limit(call: Readdir) -> p.Readdir4Res:
    """READDIR with a dircount of 0 returns an empty page"""
    result = call.proceed()
    is_meant = result.resok4 is not None and result.resok4.reply.entries and not call.args.dircount
    return _page(False) if is_meant else result


@mutant(p.READDIR)
def readdir4_of_a_file_is_empty(call: Readdir) -> p.Readdir4Res:
    """READDIR of a file succeeds without entries"""
    result = call.proceed()
    return _page(True) if result.status == Nfsstat4.NFS4ERR_NOTDIR else result


@mutant(p.READDIR)
def readdir4_exceeds_maxcount(call: Readdir) -> p.Readdir4Res:
    """READDIR returns twice as much as maxcount allows"""
    return call.proceed_with(maxcount=2 * call.args.maxcount)


@mutant(p.READDIR)
def readdir4_unknown_bit_is_an_error(call: Readdir) -> p.Readdir4Res:
    """READDIR with a bit that no attribute has gets INVAL"""
    is_known = all(name in p.NUMBERS for name in p.names_of(call.args.attr_request))
    return call.proceed() if is_known else p.Readdir4Res(Nfsstat4.NFS4ERR_INVAL)

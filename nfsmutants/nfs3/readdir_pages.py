# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_readdir_pages.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import READDIR, READDIRPLUS, Nfsstat3, Readdir3Args
from nfsclient.xdr import replace
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import directory_of
from nfsmutants.rules import RFC1813_LISTINGS

_SMALL: t.Final = 1024
_PLENTY: t.Final = 65_536


def _with_limit(args: t.Any, limit: int) -> t.Any:
    if isinstance(args, Readdir3Args):
        return replace(args, count=limit)
    return replace(args, dircount=limit, maxcount=limit)


def _limit(args: t.Any) -> int:
    """The maximum size of the whole result."""
    return int(args.count if isinstance(args, Readdir3Args) else args.maxcount)


# ---------------------------------------------------------------- limits


@mutant((READDIR, READDIRPLUS), breaks=RFC1813_LISTINGS)
def list3_ignores_small_counts(call: AnyCall) -> t.Any:
    """A listing limited to 1 KiB has up to 64 KiB"""
    return call.proceed(_with_limit(call.args, _PLENTY)) if _limit(call.args) <= _SMALL else call.proceed()


@mutant((READDIR, READDIRPLUS))
def list3_refuses_huge_counts(call: AnyCall) -> t.Any:
    """A listing limited to 64 KiB or more is refused with INVAL"""
    if _limit(call.args) < _PLENTY or directory_of(call.server, call.args.dir) is None:
        return call.proceed()
    refused = call.proceed_with(dir=b"")
    return replace(refused, status=Nfsstat3.NFS3ERR_INVAL)


@mutant((READDIR, READDIRPLUS))
def list3_over_udp_loses_an_entry(call: AnyCall) -> t.Any:
    """A listing over UDP lacks its last entry"""
    reply = call.proceed()
    if reply.resok is None or call.context.transport != "udp":
        return reply
    return amend(reply, entries=reply.resok.entries[:-1])


# ---------------------------------------------------------------- entries


@mutant((READDIR, READDIRPLUS))
def list3_skips_an_entry_of_large_pages(call: AnyCall) -> t.Any:
    """A page of more than 500 entries lacks one of them"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    resok = reply.resok
    entries = list(resok.entries)
    return (
        amend(reply, entries=entries[:300] + entries[301:])
        if len(entries) > 500
        else amend(reply, entries=entries)
    )

# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_readdirplus.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import READDIRPLUS, Entryplus3, Ftype3, Readdirplus3Res
from nfsclient.xdr import replace
from nfsmutants.bending import amend, change
from nfsmutants.form import AnyCall, mutant, mutant_of_each
from nfsmutants.nfs3.bending import DOTS, LISTINGS
from nfsmutants.nfs3.calls import Readdirplus


@mutant_of_each(LISTINGS)
def skips_an_entry(call: AnyCall) -> t.Any:
    """{} omits the last entry of each page but the last"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    resok = reply.resok
    if resok.eof or len(resok.entries) < 2:
        return reply
    *kept, skipped = resok.entries
    kept[-1] = replace(kept[-1], cookie=skipped.cookie)
    return amend(reply, entries=kept)


# ---------------------------------------------------------------- READDIRPLUS alone


@mutant(READDIRPLUS)
def readdirplus3_exceeds_maxcount(call: Readdirplus) -> Readdirplus3Res:
    """READDIRPLUS returns four times as many bytes as maxcount allows"""
    return call.proceed_with(maxcount=min(4 * call.args.maxcount, 2**32 - 1), dircount=2**32 - 1)


def _amend_entries(reply: Readdirplus3Res, **changes: t.Any) -> Readdirplus3Res:
    """The page with its entries changed, except `.` and `..`."""
    if reply.resok is None:
        return reply
    page = reply.resok.entries
    return amend(reply, entries=[entry if entry.name in DOTS else change(entry, **changes) for entry in page])


@mutant(READDIRPLUS)
def readdirplus3_attributes_of_another(call: Readdirplus) -> Readdirplus3Res:
    """READDIRPLUS returns the attributes of the directory with each entry, except fileid"""
    reply = call.proceed()
    if reply.resok is None or (directory := reply.resok.dir_attributes) is None:
        return reply
    return _amend_entries(reply, name_attributes=lambda it: replace(directory, fileid=it.fileid))


@mutant(READDIRPLUS)
def readdirplus3_fileid_unlike_attributes(call: Readdirplus) -> Readdirplus3Res:
    """READDIRPLUS returns a fileid that differs from the attributes of the entry"""
    return _amend_entries(call.proceed(), fileid=lambda it: it.fileid + 1_000_000)


@mutant(READDIRPLUS)
def readdirplus3_handle_of_another(call: Readdirplus) -> Readdirplus3Res:
    """READDIRPLUS returns the handle of the export's root with every entry"""
    return _amend_entries(call.proceed(), name_handle=call.backend.handle_of(call.backend.fs.root))


@mutant(READDIRPLUS)
def readdirplus3_omits_directories(call: Readdirplus) -> Readdirplus3Res:
    """READDIRPLUS omits directories"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    kept = [
        entry
        for entry in reply.resok.entries
        if entry.name in DOTS or entry.name_attributes is None or entry.name_attributes.type != Ftype3.NF3DIR
    ]
    return amend(reply, entries=kept)


def _remembering(call: Readdirplus, field: str) -> Readdirplus3Res:
    """The entries with what the first object of their name in the directory had."""
    place = bytes(call.args.dir)

    def first(entry: Entryplus3) -> t.Any:
        value = getattr(entry, field)
        if value is None or entry.name in DOTS:
            return value
        return call.state.setdefault((place, bytes(entry.name)), value)

    return _amend_entries(call.proceed(), **{field: first})


@mutant(READDIRPLUS)
def readdirplus3_remembers_handles_by_name(call: Readdirplus) -> Readdirplus3Res:
    """READDIRPLUS returns the handle that the first object of this name in the directory had"""
    return _remembering(call, "name_handle")


@mutant(READDIRPLUS)
def readdirplus3_remembers_attributes_by_name(call: Readdirplus) -> Readdirplus3Res:
    """READDIRPLUS returns the attributes that the first object of this name in the directory had at first"""
    return _remembering(call, "name_attributes")

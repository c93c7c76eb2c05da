# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/mount/test_export.py catch."""

from __future__ import annotations

from nfsclient.protocol.mount import EXPORT1, EXPORT2, EXPORT3, Exports
from nfsclient.xdr import Void
from nfsmutants.form import Call, Message, mutant, wire_mutant
from nfsmutants.mount.bending import _with_entry, xdr_string
from nfsserver.middleware import Answer

# ---------------------------------------------------------------- form


@wire_mutant()
def export_lists_an_overlong_path(message: Message) -> Answer:
    """EXPORT lists a path of 1028 bytes"""
    return _with_entry(message, EXPORT3.number, xdr_string(b"/" * 1028) + bytes(4))


# ---------------------------------------------------------------- the list of exports, and UDP


@mutant((EXPORT1, EXPORT2))
def export1_omits_the_first_export(call: Call[Void, Exports]) -> Exports:
    """EXPORT of versions 1 and 2 does not list the first export"""
    return Exports(call.proceed().entries[1:])


@mutant(EXPORT3)
def export3_omits_the_first_export(call: Call[Void, Exports]) -> Exports:
    """EXPORT does not list the first export"""
    return Exports(call.proceed().entries[1:])

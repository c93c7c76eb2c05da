# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/mount/test_dump.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import DUMP3, MNT1, MNT2, MNT3, DirpathArgs, Mnt3Res, Mountlist
from nfsclient.xdr import Void
from nfsmutants.form import Call, Message, mutant, wire_mutant
from nfsmutants.mount.bending import DUMPS, MNTS, _with_entry, xdr_string
from nfsmutants.rules import RFC1813_DUMP
from nfsserver.middleware import Answer

# ---------------------------------------------------------------- the list of mounts


@mutant((MNT1, MNT2))
def mnt1_records_nothing(call: Call[DirpathArgs, t.Any]) -> t.Any:
    """MNT of versions 1 and 2 adds nothing to the list of mounts"""
    reply = call.proceed()
    call.server.mounts.forget(call.context, call.args.dirpath)
    return reply


@mutant(DUMPS)
def dump_lists_entries_twice(call: Call[Void, Mountlist]) -> Mountlist:
    """DUMP lists every entry twice"""
    return Mountlist(call.proceed().entries * 2)


@mutant(MNTS, breaks=RFC1813_DUMP)
def mnt_records_refused_mounts(call: Call[DirpathArgs, t.Any]) -> t.Any:
    """MNT adds an entry to the list of mounts even if it refuses the call"""
    call.server.mounts.record(call.context, call.args.dirpath)
    return call.proceed()


# ---------------------------------------------------------------- form


@wire_mutant()
def dump_lists_an_overlong_name(message: Message) -> Answer:
    """DUMP lists a host with a name of 256 bytes, unless the list is short"""
    return _with_entry(message, DUMP3.number, xdr_string(b"h" * 256) + xdr_string(b"/dir"), least=240)


@mutant(MNT3)
def mnt3_records_nothing(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT adds nothing to the list of mounts"""
    reply = call.proceed()
    call.server.mounts.forget(call.context, call.args.dirpath)
    return reply

# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/mount/test_transport.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import (
    EXPORT1,
    EXPORT2,
    EXPORT3,
    MNT1,
    MNT2,
    MNT3,
    DirpathArgs,
    Exports,
    Mnt1Res,
    Mnt3Res,
    Mountlist,
    MountStat1,
    MountStat3,
)
from nfsclient.xdr import Void
from nfsmutants.form import Call, mutant
from nfsmutants.mount.bending import DUMPS, UMNTS, Res, first_directory, gives

# ---------------------------------------------------------------- UDP


@mutant((MNT1, MNT2, MNT3))
def mnt_over_udp_is_refused(call: Call[DirpathArgs, Res]) -> Res:
    """MNT over UDP denies permission"""
    if call.context.transport != "udp":
        return call.proceed()
    denied = MountStat3.MNT3ERR_ACCES
    return Mnt3Res(denied) if call.context.version == 3 else Mnt1Res(MountStat1(int(denied)))


@mutant((MNT1, MNT2, MNT3))
def mnt_over_udp_returns_another_directory(call: Call[DirpathArgs, Res]) -> Res:
    """MNT over UDP returns the first directory in the export instead of the export"""
    other = first_directory(call) if call.context.transport == "udp" else None
    return call.proceed() if other is None else gives(call, other)


EXPORTS = (EXPORT1, EXPORT2, EXPORT3)


# ---------------------------------------------------------------- the list of exports, and UDP


@mutant(EXPORTS)
def export_is_empty_over_udp(call: Call[Void, Exports]) -> Exports:
    """EXPORT over UDP lists nothing"""
    reply = call.proceed()
    return Exports([]) if call.context.transport == "udp" else reply


@mutant(DUMPS)
def dump_is_empty_over_udp(call: Call[Void, Mountlist]) -> Mountlist:
    """DUMP over UDP lists nothing"""
    reply = call.proceed()
    return Mountlist([]) if call.context.transport == "udp" else reply


@mutant(UMNTS)
def umnt_removes_nothing_over_udp(call: Call[DirpathArgs, t.Any]) -> t.Any:
    """UMNT over UDP removes nothing from the list"""
    return Void() if call.context.transport == "udp" else call.proceed()

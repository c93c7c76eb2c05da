# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_setattr_values.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    DONT_CHANGE_TIME,
    GETATTR,
    SETATTR,
    Nfsstat3,
    Nfstime3,
    Setattr3Args,
    Setattr3Res,
    Setattr3ResOk,
    SetTime,
    TimeHow,
    WccData,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, change, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.calls import Setattr
from nfsmutants.rules import RFC1813_DATA_TYPES, RFC1813_SETATTR

_SECOND: t.Final = 1_000_000_000
_COMMON_IDS: t.Final = range(1, 65_535)
_LAST_OF_31_BITS: t.Final = 2**31 - 1


@mutant(SETATTR)
def setattr3_inverts_the_last_mode_bit(call: Setattr) -> Setattr3Res:
    """SETATTR inverts the last bit of modes that give everybody or nobody the right to execute"""
    asked = call.args.new_attributes
    if asked.mode is None or (asked.mode & 0o777 and asked.mode & 0o111 != 0o111):
        return call.proceed()
    return call.proceed_with("new_attributes", mode=asked.mode ^ 1)


@mutant(SETATTR)
def setattr3_keeps_undefined_mode_bits(call: Setattr) -> Setattr3Res:
    """SETATTR stores undefined bits of mode"""
    reply = call.proceed()
    inode, mode = inode_of(call.server, call.args.object), call.args.new_attributes.mode
    if reply.status == Nfsstat3.NFS3_OK and inode is not None and mode is not None and mode > 0o7777:
        inode.mode = mode
    return reply


def _other(number: int | None) -> int | None:
    return number if number is None or number in _COMMON_IDS else number ^ 1


@mutant(SETATTR)
def setattr3_stores_other_ids(call: Setattr) -> Setattr3Res:
    """SETATTR stores a wrong owner or group if the number is unusual"""
    asked = call.args.new_attributes
    return call.proceed_with("new_attributes", uid=_other(asked.uid), gid=_other(asked.gid))


@mutant(SETATTR)
def setattr3_limits_size_to_31_bits(call: Setattr) -> Setattr3Res:
    """SETATTR of a size of 2 GiB or more sets one below that"""
    asked = call.args.new_attributes
    large = asked.size is not None and asked.size >= _LAST_OF_31_BITS
    return call.proceed_with("new_attributes", size=_LAST_OF_31_BITS - 1) if large else call.proceed()


@mutant(SETATTR)
def setattr3_shrinks_large_files_to_nothing(call: Setattr) -> Setattr3Res:
    """SETATTR of a smaller size empties a file of 2 GiB or more"""
    inode = inode_of(call.server, call.args.object)
    asked = call.args.new_attributes
    if inode is None or inode.data is None or asked.size is None:
        return call.proceed()
    if asked.size < _LAST_OF_31_BITS < inode.size:
        inode.data.truncate(0)
    return call.proceed()


def _late(time: SetTime) -> SetTime:
    if time.time is None:
        return time
    return change(time, "time", seconds=(time.time.seconds + 60) % 2**32)


@mutant(SETATTR)
def setattr3_sets_times_a_minute_late(call: Setattr) -> Setattr3Res:
    """SETATTR sets times given by the client a minute later"""
    asked = call.args.new_attributes
    return call.proceed_with("new_attributes", atime=_late(asked.atime), mtime=_late(asked.mtime))


@mutant(SETATTR)
def setattr3_sets_both_times_to_the_servers(call: Setattr) -> Setattr3Res:
    """SETATTR of one time to the client's and one to the server's sets both to the server's"""
    asked = call.args.new_attributes
    both = {asked.atime.set_it: asked.atime, asked.mtime.set_it: asked.mtime}
    if set(both) != {TimeHow.SET_TO_CLIENT_TIME, TimeHow.SET_TO_SERVER_TIME}:
        return call.proceed()
    now = both[TimeHow.SET_TO_SERVER_TIME]
    return call.proceed_with("new_attributes", atime=now, mtime=now)


@mutant((SETATTR, GETATTR), breaks=RFC1813_DATA_TYPES)
def setattr3_keeps_overfull_nanoseconds(call: AnyCall) -> t.Any:
    """SETATTR accepts nanoseconds of a second or more, and GETATTR returns them"""
    args = call.args
    kept: dict[bytes, dict[str, Nfstime3]] = call.state.setdefault("kept", {})
    if isinstance(args, Setattr3Args):
        times = {"atime": args.new_attributes.atime.time, "mtime": args.new_attributes.mtime.time}
        overfull = {which: time for which, time in times.items() if time and time.nseconds >= _SECOND}
        if not overfull:
            return call.proceed()
        kept.setdefault(args.object, {}).update(overfull)
        return Setattr3Res(Nfsstat3.NFS3_OK, Setattr3ResOk(WccData()))
    reply = call.proceed()
    if reply.resok is None or args.object not in kept:
        return reply
    bent = replace(reply.resok.obj_attributes, **kept[args.object])
    return amend(reply, obj_attributes=bent)


@mutant(SETATTR, breaks=RFC1813_SETATTR)
def setattr3_drops_overfull_nanoseconds(call: Setattr) -> Setattr3Res:
    """SETATTR answers NFS3_OK for a time with nanoseconds of a second or more, and does not set it"""
    asked = call.args.new_attributes
    times = {"atime": asked.atime, "mtime": asked.mtime}
    dropped = {
        which: DONT_CHANGE_TIME
        for which, time in times.items()
        if time.time and time.time.nseconds >= _SECOND
    }
    return call.proceed_with("new_attributes", **dropped) if dropped else call.proceed()

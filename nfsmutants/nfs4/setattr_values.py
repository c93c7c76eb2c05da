# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_setattr_values.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import succeeded
from nfsserver.nfs4.common import compound_of

Setattr = Call[p.Setattr4Args, p.Setattr4Res]
_31_BITS: t.Final = 2**31 - 1


def _with(call: Setattr, **changes: t.Any) -> p.Setattr4Res:
    """Set other values of these attributes."""
    return call.proceed_with(obj_attributes=call.args.obj_attributes.changed(**changes))


@mutant(p.SETATTR)
def setattr4_same_size_clears(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the size that a file has clears the last byte"""
    inode, size = compound_of(call.context).current, call.args.obj_attributes.size
    is_same = inode is not None and inode.data is not None and size == inode.size
    result = call.proceed()
    if is_same and size and inode is not None and inode.data is not None and succeeded(result):
        inode.data.write(size - 1, b"\0", stable=True)
    return result


@mutant(p.SETATTR)
def setattr4_sizes_have_31_bits(call: Setattr) -> p.Setattr4Res:
    """SETATTR sets the low 31 bits of the size"""
    size = call.args.obj_attributes.size
    return call.proceed() if size is None else _with(call, size=size & _31_BITS)


@mutant(p.SETATTR)
def setattr4_seconds_have_31_bits(call: Setattr) -> p.Setattr4Res:
    """SETATTR sets the low 31 bits of the seconds of time_modify"""
    time = call.args.obj_attributes.time_modify_set
    if time is None or time.time is None:
        return call.proceed()
    return _with(call, time_modify_set=p.client_time(time.time.seconds & _31_BITS))


@mutant(p.SETATTR)
def setattr4_inverts_the_last_mode_bit(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the mode inverts the right of others to execute"""
    mode = call.args.obj_attributes.mode
    return call.proceed() if mode is None else _with(call, mode=mode ^ 1)


@mutant(p.SETATTR)
def setattr4_resets_what_is_not_named(call: Setattr) -> p.Setattr4Res:
    """SETATTR without a mode, an owner or a group sets them to 0666 and to nobody"""
    inode, given = compound_of(call.context).current, call.args.obj_attributes
    result = call.proceed()
    if inode is not None and result.status == Nfsstat4.NFS4_OK:
        inode.mode = inode.mode if given.mode is not None else 0o666
        inode.uid = inode.uid if given.owner is not None else 65534
        inode.gid = inode.gid if given.owner_group is not None else 65534
    return result


@mutant(p.SETATTR)
def setattr4_times_end_in_2038(call: Setattr) -> p.Setattr4Res:
    """SETATTR sets the last second of 31 bits for each later one, which OPEN sets as asked"""
    time = call.args.obj_attributes.time_modify_set
    if time is None or time.time is None:
        return call.proceed()
    return _with(call, time_modify_set=p.client_time(min(time.time.seconds, _31_BITS)))


@mutant(p.SETATTR)
def setattr4_of_an_owner_resets_the_mode(call: Setattr) -> p.Setattr4Res:
    """SETATTR of an owner or of a group sets the mode to 0666"""
    given = call.args.obj_attributes
    is_owner = given.owner is not None or given.owner_group is not None
    return _with(call, mode=0o666) if is_owner and given.mode is None else call.proceed()


@mutant(p.SETATTR)
def setattr4_is_a_modification(call: Setattr) -> p.Setattr4Res:
    """SETATTR of anything but a time changes time_modify"""
    inode, result = compound_of(call.context).current, call.proceed()
    if inode is not None and call.args.obj_attributes.time_modify_set is None and succeeded(result):
        inode.mtime += 1_000_000_000
    return result

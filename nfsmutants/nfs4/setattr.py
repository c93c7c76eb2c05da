# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_setattr.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate4
from nfsmutants.rules import RFC5661_ATTRIBUTES, RFC5661_SETATTR, RFC5661_SHARED_IO
from nfsserver.nfs4.common import compound_of

Setattr = Call[p.Setattr4Args, p.Setattr4Res]
_OK = Nfsstat4.NFS4_OK


def _done(call: Setattr) -> p.Setattr4Res:
    return p.Setattr4Res(_OK, list(call.args.obj_attributes.attrmask))


def _without(call: Setattr, **changes: None) -> p.Setattr4Res:
    """Set the other attributes, and say that all were set."""
    result = call.proceed_with(obj_attributes=call.args.obj_attributes.changed(**changes))
    return _done(call) if result.status == _OK else result


@mutant(p.SETATTR)
def setattr4_sets_nothing(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the mode succeeds, and changes nothing"""
    return _without(call, mode=None)


@mutant(p.SETATTR)
def setattr4_says_that_all_was_set(call: Setattr) -> p.Setattr4Res:
    """SETATTR returns a bitmap with attributes that the request does not name"""
    result = call.proceed()
    return p.Setattr4Res(_OK, p.bitmap("size", "mode")) if result.status == _OK else result


@mutant(p.SETATTR)
def setattr4_ignores_the_size(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the size succeeds, and changes nothing"""
    return _without(call, size=None)


@mutant(p.SETATTR)
def setattr4_extension_restores_old_data(call: Setattr) -> p.Setattr4Res:
    """SETATTR that extends restores the data that an earlier one cut off"""
    inode, asked = compound_of(call.context).current, call.args.obj_attributes.size
    if inode is None or inode.data is None or asked is None:
        return call.proceed()
    size, old = inode.size, inode.data.read(0, inode.size)
    result = call.proceed()
    if result.status == _OK and asked < size:
        call.state[inode.fileid] = old
    elif result.status == _OK and inode.fileid in call.state:
        inode.data.write(size, call.state.pop(inode.fileid)[size:asked], stable=True)
    return result


@mutant(p.SETATTR)
def setattr4_sets_times_of_the_server(call: Setattr) -> p.Setattr4Res:
    """SETATTR sets times to those of the server's clock"""
    given = call.args.obj_attributes
    if given.time_modify_set is None:
        return call.proceed()
    return call.proceed_with(obj_attributes=given.changed(time_modify_set=p.SERVER_TIME))


@mutant(p.SETATTR)
def setattr4_read_only_is_perm(call: Setattr) -> p.Setattr4Res:
    """SETATTR of a read-only attribute gets PERM"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_PERM)


@mutant(p.SETATTR)
def setattr4_ignores_unsupported_attributes(call: Setattr) -> p.Setattr4Res:
    """SETATTR of an attribute that the server does not support succeeds"""
    result = call.proceed()
    return p.Setattr4Res(_OK, []) if result.status == Nfsstat4.NFS4ERR_ATTRNOTSUPP else result


@mutant(p.SETATTR)
def setattr4_ignores_the_open_mode(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the size with an open for reading is done with the anonymous stateid"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_OPENMODE:
        return result
    return call.proceed_with(stateid=p.ANONYMOUS_STATEID)


@mutant(p.SETATTR, breaks=RFC5661_SETATTR)
def setattr4_ignores_denials(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the size succeeds although an open denies writing"""
    result = call.proceed()
    return _done(call) if result.status == Nfsstat4.NFS4ERR_LOCKED else result


@mutant(p.SETATTR, breaks=RFC5661_SHARED_IO)
def setattr4_denial_is_inval(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the size that an open denies gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_LOCKED, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.SETATTR)
def setattr4_takes_any_nseconds(call: Setattr) -> p.Setattr4Res:
    """SETATTR of a time with too many nanoseconds succeeds"""
    result = call.proceed()
    time = call.args.obj_attributes.time_modify_set
    is_meant = time is not None and result.status == Nfsstat4.NFS4ERR_INVAL
    return _done(call) if is_meant else result


@mutant(p.SETATTR)
def setattr4_keeps_the_group(call: Setattr) -> p.Setattr4Res:
    """SETATTR of owner and group sets the owner, and says that it set both"""
    given = call.args.obj_attributes
    if given.owner is None or given.owner_group is None:
        return call.proceed()
    return _without(call, owner_group=None)


@mutant(p.SETATTR)
def setattr4_owner_is_never_set(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the owner gets PERM, whoever it is"""
    if call.args.obj_attributes.owner is None:
        return call.proceed()
    return p.Setattr4Res(Nfsstat4.NFS4ERR_PERM, [])


@mutant(p.SETATTR, breaks=RFC5661_ATTRIBUTES)
def setattr4_acl_keeps_the_mode(call: Setattr) -> p.Setattr4Res:
    """SETATTR of an ACL keeps the mode"""
    inode = compound_of(call.context).current
    if inode is None or call.args.obj_attributes.acl is None:
        return call.proceed()
    mode = inode.mode
    result = call.proceed()
    inode.mode = mode
    return result


@mutant(p.SETATTR)
def setattr4_ignores_the_mask(call: Setattr) -> p.Setattr4Res:
    """SETATTR of mode_set_masked sets the whole mode"""
    given = call.args.obj_attributes
    masked = given.mode_set_masked
    if masked is None or given.mode is not None:
        return call.proceed()
    changed = given.changed(mode_set_masked=None, mode=masked.mm_value_to_set & 0o7777)
    return call.proceed_with(obj_attributes=changed)


@mutant(p.SETATTR)
def setattr4_takes_any_mask(call: Setattr) -> p.Setattr4Res:
    """SETATTR of mode_set_masked succeeds with bits that no mode has, and with a mode"""
    result = call.proceed()
    is_meant = call.args.obj_attributes.mode_set_masked is not None
    return _done(call) if is_meant and result.status == Nfsstat4.NFS4ERR_INVAL else result


@mutant(p.SETATTR)
def setattr4_swaps_times(call: Setattr) -> p.Setattr4Res:
    """SETATTR of both times to those of the client sets each to the other"""
    given = call.args.obj_attributes
    if given.time_access_set is None or given.time_modify_set is None:
        return call.proceed()
    swapped = given.changed(time_access_set=given.time_modify_set, time_modify_set=given.time_access_set)
    return call.proceed_with(obj_attributes=swapped)


@mutant(p.SETATTR)
def setattr4_server_time_changes_nothing(call: Setattr) -> p.Setattr4Res:
    """SETATTR ignores times that are to be the server's"""
    given = call.args.obj_attributes
    names = ("time_access_set", "time_modify_set")
    ignored = {name: None for name in names if (it := getattr(given, name)) is not None and it.time is None}
    return _without(call, **ignored) if ignored else call.proceed()


@mutant(p.SETATTR)
def setattr4_creation_time_is_mtime(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the time of creation sets the time of modification instead"""
    given = call.args.obj_attributes
    if given.time_create is None:
        return call.proceed()
    time = p.client_time(given.time_create.seconds, given.time_create.nseconds)
    result = call.proceed_with(obj_attributes=given.changed(time_create=None, time_modify_set=time))
    return _done(call) if result.status == _OK else result

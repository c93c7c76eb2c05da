# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_setattr.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    DONT_CHANGE_TIME,
    SETATTR,
    Nfsstat3,
    Nfstime3,
    Sattr3,
    Setattr3Res,
    Setattr3ResFail,
    Setattr3ResOk,
    SetTime,
    TimeHow,
)
from nfsclient.xdr import replace
from nfsmutants.bending import inode_of, restate
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import proceed_without, refuse_setattr
from nfsmutants.nfs3.calls import Setattr
from nfsserver.nfs3.common import Watched, nfstime3

_LAST_OF_2038: t.Final = 0x7FFF_FFFF


# ---------------------------------------------------------------- mode, owner and group


@mutant(SETATTR)
def setattr3_applies_a_umask(call: Setattr) -> Setattr3Res:
    """SETATTR removes write permission from group and others"""
    asked = call.args.new_attributes
    return (
        call.proceed()
        if asked.mode is None
        else call.proceed_with("new_attributes", mode=asked.mode & ~0o022)
    )


@mutant(SETATTR)
def setattr3_ignores_mode_of_directories(call: Setattr) -> Setattr3Res:
    """SETATTR does not set the mode of directories"""
    inode = inode_of(call.server, call.args.object)
    is_meant = inode is not None and inode.directory is not None
    return call.proceed_with("new_attributes", mode=None) if is_meant else call.proceed()


@mutant(SETATTR)
def setattr3_mode_changes_mtime(call: Setattr) -> Setattr3Res:
    """SETATTR of a mode changes mtime"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.object)
    if reply.resok is not None and inode is not None and call.args.new_attributes.mode is not None:
        inode.mtime = inode.ctime
    return reply


@mutant(SETATTR)
def setattr3_ignores_uid(call: Setattr) -> Setattr3Res:
    """SETATTR does not set the owner"""
    return call.proceed_with("new_attributes", uid=None)


@mutant(SETATTR)
def setattr3_ignores_gid(call: Setattr) -> Setattr3Res:
    """SETATTR does not set the group"""
    return call.proceed_with("new_attributes", gid=None)


@mutant(SETATTR)
def setattr3_truncates_ids(call: Setattr) -> Setattr3Res:
    """SETATTR stores only the lower 16 bits of owner and group"""
    asked = call.args.new_attributes
    uid = None if asked.uid is None else asked.uid & 0xFFFF
    gid = None if asked.gid is None else asked.gid & 0xFFFF
    return call.proceed_with("new_attributes", uid=uid, gid=gid)


@mutant(SETATTR)
def setattr3_anybody_changes_the_mode(call: Setattr) -> Setattr3Res:
    """SETATTR lets anybody change the mode of a file"""
    return call.proceed() if call.args.new_attributes.mode is None else call.proceed_as_root()


# ---------------------------------------------------------------- times


def _without(asked: Sattr3, name: t.Literal["atime", "mtime"], how: TimeHow) -> Sattr3:
    time: SetTime = getattr(asked, name)
    return replace(asked, **{name: DONT_CHANGE_TIME}) if time.set_it == how else asked


@mutant(SETATTR)
def setattr3_ignores_the_clients_mtime(call: Setattr) -> Setattr3Res:
    """SETATTR does not set mtime to a time given by the client"""
    asked = call.args.new_attributes
    return call.proceed_with(new_attributes=_without(asked, "mtime", TimeHow.SET_TO_CLIENT_TIME))


@mutant(SETATTR)
def setattr3_ignores_the_clients_atime(call: Setattr) -> Setattr3Res:
    """SETATTR does not set atime to a time given by the client"""
    asked = call.args.new_attributes
    return call.proceed_with(new_attributes=_without(asked, "atime", TimeHow.SET_TO_CLIENT_TIME))


@mutant(SETATTR)
def setattr3_ignores_the_servers_mtime(call: Setattr) -> Setattr3Res:
    """SETATTR does not set mtime to the server's time"""
    asked = call.args.new_attributes
    return call.proceed_with(new_attributes=_without(asked, "mtime", TimeHow.SET_TO_SERVER_TIME))


@mutant(SETATTR)
def setattr3_ignores_the_servers_atime(call: Setattr) -> Setattr3Res:
    """SETATTR does not set atime to the server's time"""
    asked = call.args.new_attributes
    return call.proceed_with(new_attributes=_without(asked, "atime", TimeHow.SET_TO_SERVER_TIME))


@mutant(SETATTR)
def setattr3_times_end_in_2038(call: Setattr) -> Setattr3Res:
    """SETATTR replaces a time after 2038 by the last second before"""
    asked = call.args.new_attributes
    time = asked.mtime.time
    if time is None or time.seconds <= _LAST_OF_2038:
        return call.proceed()
    return call.proceed_with("new_attributes", mtime=SetTime(asked.mtime.set_it, Nfstime3(_LAST_OF_2038)))


@mutant(SETATTR)
def setattr3_mtime_sets_atime(call: Setattr) -> Setattr3Res:
    """SETATTR of mtime alone sets atime to the same time"""
    asked = call.args.new_attributes
    return (
        call.proceed_with("new_attributes", atime=asked.mtime)
        if asked.atime.set_it == TimeHow.DONT_CHANGE
        else call.proceed()
    )


@mutant(SETATTR)
def setattr3_atime_sets_mtime(call: Setattr) -> Setattr3Res:
    """SETATTR of atime alone sets mtime to the same time"""
    asked = call.args.new_attributes
    return (
        call.proceed_with("new_attributes", mtime=asked.atime)
        if asked.mtime.set_it == TimeHow.DONT_CHANGE
        else call.proceed()
    )


# ---------------------------------------------------------------- no attributes and several


@mutant(SETATTR)
def setattr3_of_nothing_resets_the_mode(call: Setattr) -> Setattr3Res:
    """SETATTR that sets nothing sets the mode to 0"""
    asked = call.args.new_attributes
    return call.proceed_with("new_attributes", mode=0) if asked == Sattr3() else call.proceed()


@mutant(SETATTR)
def setattr3_sets_only_the_first_field(call: Setattr) -> Setattr3Res:
    """SETATTR of a mode and a size does not set the size"""
    asked = call.args.new_attributes
    is_both = asked.mode is not None and asked.size is not None
    return (
        call.proceed_with("new_attributes", size=None)
        if is_both and asked.atime != DONT_CHANGE_TIME
        else call.proceed()
    )


# ---------------------------------------------------------------- guard


@mutant(SETATTR)
def setattr3_ignores_guard(call: Setattr) -> Setattr3Res:
    """SETATTR changes attributes even if the guard does not match"""
    return call.proceed_with(guard=None)


@mutant(SETATTR)
def setattr3_refuses_a_matching_guard(call: Setattr) -> Setattr3Res:
    """SETATTR answers NOT_SYNC to every guard"""
    if call.args.guard is None:
        return call.proceed()
    return refuse_setattr(call, Nfsstat3.NFS3ERR_NOT_SYNC)


@mutant(SETATTR)
def setattr3_wrong_guard_is_inval(call: Setattr) -> Setattr3Res:
    """SETATTR answers INVAL, not NOT_SYNC, to a guard that does not match"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NOT_SYNC, Nfsstat3.NFS3ERR_INVAL)


@mutant(SETATTR)
def setattr3_truncates_before_the_guard(call: Setattr) -> Setattr3Res:
    """SETATTR of size 0 truncates before it compares the guard"""
    inode = inode_of(call.server, call.args.object)
    is_guarded = call.args.guard is not None and call.args.new_attributes.size == 0
    if is_guarded and inode is not None and inode.data is not None:
        inode.data.truncate(0)
    return call.proceed()


@mutant(SETATTR)
def setattr3_guard_compares_mtime(call: Setattr) -> Setattr3Res:
    """SETATTR accepts a guard that is the object's mtime"""
    inode = inode_of(call.server, call.args.object)
    if inode is not None and call.args.guard == nfstime3(inode.mtime):
        return call.proceed_with(guard=None)
    return call.proceed()


@mutant(SETATTR)
def setattr3_guard_compares_seconds_only(call: Setattr) -> Setattr3Res:
    """SETATTR compares the guard with the seconds of ctime, and ignores the nanoseconds"""
    inode, guard = inode_of(call.server, call.args.object), call.args.guard
    if inode is not None and guard is not None and guard.seconds == nfstime3(inode.ctime).seconds:
        return call.proceed_with(guard=None)
    return call.proceed()


@mutant(SETATTR)
def setattr3_no_guard_is_not_sync(call: Setattr) -> Setattr3Res:
    """SETATTR of a file's mode without a guard answers NOT_SYNC when its mode was set before"""
    args = call.args
    inode = inode_of(call.server, args.object)
    only_mode = args.new_attributes == Sattr3(mode=args.new_attributes.mode)
    if inode is None or inode.data is None or args.guard is not None or not only_mode:
        return call.proceed()
    guards = call.state.setdefault("guards", {})
    seen = guards.setdefault(args.object, nfstime3(inode.ctime))
    return call.proceed(replace(args, guard=seen))


# ---------------------------------------------------------------- attributes before and after


@mutant(SETATTR)
def setattr3_after_is_before(call: Setattr) -> Setattr3Res:
    """The post-operation attributes of SETATTR are taken before the operation"""
    after = Watched(call.server, call.args.object).attributes()
    reply = call.proceed()
    if reply.resok is None:
        return reply
    return replace(reply, resok=Setattr3ResOk(replace(reply.resok.obj_wcc, after=after)))


@mutant(SETATTR)
def setattr3_refusal_returns_the_requested_mode(call: Setattr) -> Setattr3Res:
    """SETATTR that is refused returns the requested mode in its attributes"""
    reply = call.proceed()
    after = None if reply.resfail is None else reply.resfail.obj_wcc.after
    if reply.resfail is None or after is None or call.args.new_attributes.mode is None:
        return reply
    wcc = replace(reply.resfail.obj_wcc, after=replace(after, mode=call.args.new_attributes.mode))
    return replace(reply, resfail=Setattr3ResFail(wcc))


@mutant(SETATTR)
def setattr3_read_only_is_io(call: Setattr) -> Setattr3Res:
    """SETATTR on a read-only file system is refused with IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_ROFS, Nfsstat3.NFS3ERR_IO)


@mutant(SETATTR)
def setattr3_ignores_read_only(call: Setattr) -> Setattr3Res:
    """SETATTR on a read-only file system works as on any other"""
    return proceed_without(call, read_only=False)


@mutant(SETATTR)
def setattr3_lets_a_squashed_root_change(call: Setattr) -> Setattr3Res:
    """A squashed root changes the attributes of other users' files like root"""
    return proceed_without(call, root_squash=False)

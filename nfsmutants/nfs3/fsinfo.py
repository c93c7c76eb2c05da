# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_fsinfo.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    FSF3_LINK,
    FSF3_SYMLINK,
    FSINFO,
    LINK,
    SETATTR,
    SYMLINK,
    Fsinfo3Res,
    Fsinfo3ResFail,
    Link3Res,
    Link3ResFail,
    Nfsstat3,
    Nfstime3,
    Setattr3Res,
    SetTime,
    Symlink3Res,
    Symlink3ResFail,
    WccData,
)
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant, mutant_of_each
from nfsmutants.nfs3.bending import is_not_directory, refuse
from nfsmutants.nfs3.calls import Fsinfo, Link, Setattr, Symlink

# ---------------------------------------------------------------- FSSTAT, FSINFO


@mutant(FSINFO)
def fsinfo3_refuses_a_file(call: Fsinfo) -> t.Any:
    """FSINFO answers SERVERFAULT for an object that is not a directory"""
    if not is_not_directory(call.server, call.args.fsroot):
        return call.proceed()
    return Fsinfo3Res(Nfsstat3.NFS3ERR_SERVERFAULT, resfail=Fsinfo3ResFail(None))


@mutant(FSINFO)
def fsinfo3_malformed_time_delta(call: Fsinfo) -> Fsinfo3Res:
    """FSINFO returns a time_delta of 2,000,000,000 nanoseconds"""
    return amend(call.proceed(), time_delta=Nfstime3(0, 2_000_000_000))


@mutant(FSINFO)
def fsinfo3_has_no_granularity(call: Fsinfo) -> Fsinfo3Res:
    """FSINFO returns a time_delta of 2,147,483,648 seconds, though the server has a clock of nanoseconds"""
    return amend(call.proceed(), time_delta=Nfstime3(2**31, 0))


@mutant(FSINFO)
def fsinfo3_returns_maxfilesize_0(call: Fsinfo) -> Fsinfo3Res:
    """FSINFO returns a maxfilesize of 0"""
    return amend(call.proceed(), maxfilesize=0)


@mutant(LINK)
def link3_is_not_supported(_call: Link) -> Link3Res:
    """LINK answers NOTSUPP though FSINFO claims hard links"""
    return Link3Res(Nfsstat3.NFS3ERR_NOTSUPP, resfail=Link3ResFail(None, WccData()))


@mutant(SYMLINK)
def symlink3_is_not_supported(_call: Symlink) -> Symlink3Res:
    """SYMLINK answers NOTSUPP though FSINFO claims symbolic links"""
    return Symlink3Res(Nfsstat3.NFS3ERR_NOTSUPP, resfail=Symlink3ResFail(WccData()))


@mutant_of_each((LINK, SYMLINK))
def fails_after_linking(call: AnyCall) -> t.Any:
    """{} creates the link and answers SERVERFAULT, though FSINFO claims such links"""
    reply = call.proceed()
    return refuse(call, Nfsstat3.NFS3ERR_SERVERFAULT) if reply.status == Nfsstat3.NFS3_OK else reply


@mutant(SETATTR)
def setattr3_rounds_times_to_minutes(call: Setattr) -> Setattr3Res:
    """SETATTR rounds a given mtime to minutes, though time_delta is a nanosecond"""
    time = call.args.new_attributes.mtime.time
    if time is None:
        return call.proceed()
    rounded = SetTime(call.args.new_attributes.mtime.set_it, Nfstime3(time.seconds // 60 * 60))
    return call.proceed_with("new_attributes", mtime=rounded)


@mutant(FSINFO)
def fsinfo3_prefers_more_than_the_maximum(call: Fsinfo) -> Fsinfo3Res:
    """FSINFO returns preferred transfer sizes of twice the maximum"""
    return amend(call.proceed(), rtpref=lambda it: 2 * it.rtmax, wtpref=lambda it: 2 * it.wtmax)


@mutant(FSINFO)
def fsinfo3_always_claims_links(call: Fsinfo) -> Fsinfo3Res:
    """FSINFO claims hard and symbolic links, whether the server supports them or not"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    claimed = reply.resok.properties | FSF3_LINK | FSF3_SYMLINK
    return amend(reply, properties=claimed)

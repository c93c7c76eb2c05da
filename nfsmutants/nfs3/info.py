# SPDX-License-Identifier: MIT
"""Mutants of NULL, FSSTAT, FSINFO and PATHCONF, and of procedures that make their claims untrue."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    FSINFO,
    FSSTAT,
    LINK,
    LOOKUP,
    NULL,
    PATHCONF,
    SETATTR,
    SYMLINK,
    Create3Res,
    Fsinfo3Res,
    Fsinfo3ResFail,
    Fsstat3Res,
    Fsstat3ResFail,
    Link3Res,
    Link3ResFail,
    Lookup3Res,
    Nfsstat3,
    Nfstime3,
    Pathconf3Res,
    Pathconf3ResFail,
    Setattr3Res,
    SetTime,
    Symlink3Res,
    Symlink3ResFail,
    WccData,
)
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.messages import AuthStat
from nfsclient.rpc.service import Refused
from nfsclient.rpc.sockets import Address
from nfsclient.xdr import Void, u32
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant, mutant_of_each
from nfsmutants.nfs3.calls import Create, Fsinfo, Fsstat, Link, Lookup, Null, Pathconf, Setattr, Symlink
from nfsmutants.rules import (
    RFC1813_DATA_TYPES,
    RFC1813_FILE_SYSTEM,
    RFC1813_FSINFO,
    RFC1813_FSSTAT,
    RFC1813_NULL,
    RFC1813_PATHCONF,
)
from nfsserver.nfs3.common import fattr3
from nfsserver.server import Server

_HANDLE_OF: t.Final = {FSSTAT: "fsroot", FSINFO: "fsroot", PATHCONF: "object"}


class _Word(Void):
    """Results of NULL, which has none."""

    word: u32 = 0


def _is_file(server: Server, handle: bytes) -> bool:
    return server.resolve(handle).directory is None


@mutant(NULL, RFC1813_NULL)
def null3_returns_results(call: Null) -> Void:
    """NULL returns a word where there are no results, from the second call on a connection on"""
    callers: set[Address] = call.state.setdefault("callers", set())
    if call.peer in callers:
        return _Word()
    callers.add(call.peer)
    return call.proceed()


@mutant(NULL, RFC1813_NULL)
def null3_asks_for_authentication(call: Null) -> Void:
    """NULL is refused with AUTH_TOOWEAK when it comes without authentication"""
    if not isinstance(call.context.credential, AuthSys):
        raise Refused(auth_stat=AuthStat.AUTH_TOOWEAK)
    return call.proceed()


# ---------------------------------------------------------------- attributes of another object


@mutant_of_each({FSSTAT: RFC1813_FSSTAT, FSINFO: RFC1813_FSINFO, PATHCONF: RFC1813_PATHCONF})
def attributes_of_the_root(call: AnyCall) -> t.Any:
    """{} returns the attributes of the export's root, whatever it was asked about"""
    return amend(call.proceed(), obj_attributes=fattr3(call.server.fs.root))


@mutant((FSSTAT, FSINFO, PATHCONF), RFC1813_FILE_SYSTEM)
def info3_attributes_of_the_root(call: AnyCall) -> t.Any:
    """FSSTAT, FSINFO and PATHCONF return the attributes of the export's root for all but regular files"""
    reply = call.proceed()
    handle = getattr(call.args, _HANDLE_OF[call.procedure])
    if reply.resok is None or call.server.resolve(handle).data is not None:
        return reply
    return amend(reply, obj_attributes=fattr3(call.server.fs.root))


@mutant((FSSTAT, FSINFO, PATHCONF), RFC1813_FILE_SYSTEM)
def info3_refuses_what_is_no_file(call: AnyCall) -> t.Any:
    """FSSTAT, FSINFO and PATHCONF answer SERVERFAULT for what is no regular file, but for the export's root"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(getattr(call.args, _HANDLE_OF[call.procedure]))
    if inode.data is not None or inode is inode.fs.root:
        return reply
    resfail = {FSSTAT: Fsstat3ResFail, FSINFO: Fsinfo3ResFail}.get(call.procedure)
    return type(reply)(Nfsstat3.NFS3ERR_SERVERFAULT, resfail=(resfail or Pathconf3ResFail)(None))


# ---------------------------------------------------------------- FSSTAT, FSINFO


@mutant(FSSTAT, RFC1813_FSSTAT)
def fsstat3_refuses_a_file(call: Fsstat) -> t.Any:
    """FSSTAT answers SERVERFAULT for what is no directory"""
    if not _is_file(call.server, call.args.fsroot):
        return call.proceed()
    return Fsstat3Res(Nfsstat3.NFS3ERR_SERVERFAULT, resfail=Fsstat3ResFail(None))


@mutant(FSINFO, RFC1813_FSINFO)
def fsinfo3_refuses_a_file(call: Fsinfo) -> t.Any:
    """FSINFO answers SERVERFAULT for what is no directory"""
    if not _is_file(call.server, call.args.fsroot):
        return call.proceed()
    return Fsinfo3Res(Nfsstat3.NFS3ERR_SERVERFAULT, resfail=Fsinfo3ResFail(None))


@mutant(FSINFO, RFC1813_DATA_TYPES)
def fsinfo3_malformed_time_delta(call: Fsinfo) -> Fsinfo3Res:
    """FSINFO gives a time_delta of 2,000,000,000 nanoseconds"""
    return amend(call.proceed(), time_delta=Nfstime3(0, 2_000_000_000))


@mutant(FSINFO, RFC1813_FSINFO)
def fsinfo3_reads_nothing(call: Fsinfo) -> Fsinfo3Res:
    """FSINFO says that READ transfers at most 0 bytes"""
    return amend(call.proceed(), rtmax=0)


@mutant(LINK, RFC1813_FSINFO)
def link3_is_not_supported(_call: Link) -> Link3Res:
    """LINK answers NOTSUPP though FSINFO claims hard links"""
    return Link3Res(Nfsstat3.NFS3ERR_NOTSUPP, resfail=Link3ResFail(None, WccData()))


@mutant(SYMLINK, RFC1813_FSINFO)
def symlink3_is_not_supported(_call: Symlink) -> Symlink3Res:
    """SYMLINK answers NOTSUPP though FSINFO claims symbolic links"""
    return Symlink3Res(Nfsstat3.NFS3ERR_NOTSUPP, resfail=Symlink3ResFail(WccData()))


@mutant(SETATTR, RFC1813_FSINFO)
def setattr3_rounds_times_to_minutes(call: Setattr) -> Setattr3Res:
    """SETATTR keeps a given mtime to the minute, though time_delta is a nanosecond"""
    time = call.args.new_attributes.mtime.time
    if time is None:
        return call.proceed()
    rounded = SetTime(call.args.new_attributes.mtime.set_it, Nfstime3(time.seconds // 60 * 60))
    return call.proceed_with("new_attributes", mtime=rounded)


@mutant(FSINFO, RFC1813_FSINFO)
def fsinfo3_prefers_more_than_it_moves(call: Fsinfo) -> Fsinfo3Res:
    """FSINFO prefers transfers of twice the largest size"""
    return amend(call.proceed(), rtpref=lambda it: 2 * it.rtmax, wtpref=lambda it: 2 * it.wtmax)


# ---------------------------------------------------------------- PATHCONF


@mutant(PATHCONF, RFC1813_PATHCONF)
def pathconf3_understates_linkmax(call: Pathconf) -> Pathconf3Res:
    """PATHCONF says that an object may have 8 links"""
    return amend(call.proceed(), linkmax=8)


@mutant(PATHCONF, RFC1813_PATHCONF)
def pathconf3_differs_by_type(call: Pathconf) -> Pathconf3Res:
    """PATHCONF says another linkmax for files than for directories"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    resok = reply.resok
    return amend(reply, linkmax=resok.linkmax - 1) if _is_file(call.server, call.args.object) else reply


@mutant(PATHCONF, RFC1813_PATHCONF)
def pathconf3_overstates_name_max(call: Pathconf) -> Pathconf3Res:
    """PATHCONF says twice the real name_max"""
    return amend(call.proceed(), name_max=lambda it: it.name_max * 2)


@mutant(PATHCONF, RFC1813_PATHCONF)
def pathconf3_understates_name_max(call: Pathconf) -> Pathconf3Res:
    """PATHCONF says no_trunc and half of the real name_max, so longer names are not refused"""
    return amend(call.proceed(), name_max=lambda it: it.name_max // 2)


@mutant(CREATE, RFC1813_PATHCONF)
def create3_cuts_long_names(call: Create) -> Create3Res:
    """CREATE cuts a name to name_max, though PATHCONF says no_trunc"""
    name = call.args.where.name[: call.server.limits.name_max]
    return call.proceed_with("where", name=name)


@mutant(SETATTR, RFC1813_PATHCONF)
def setattr3_owners_give_files_away(call: Setattr) -> Setattr3Res:
    """SETATTR lets an owner change the owner, though PATHCONF says chown_restricted"""
    if call.args.new_attributes.uid is None or call.caller.uid == 0:
        return call.proceed()
    return call.proceed_as_root()


@mutant(LOOKUP, RFC1813_PATHCONF)
def lookup3_folds_case(call: Lookup) -> Lookup3Res:
    """LOOKUP finds a name in lower case when it is asked for in upper case"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_NOENT or not call.args.what.name.isupper():
        return reply
    return call.proceed_with("what", name=call.args.what.name.lower())

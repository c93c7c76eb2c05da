# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_create.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import NfsFtype4, Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, names_in, restate4, with_result
from nfsmutants.rules import RFC5661_CREATE

Create = Call[p.Create4Args, p.Create4Res]


@mutant(p.CREATE)
def create4_makes_directories(call: Create) -> p.Create4Res:
    """CREATE of a symbolic link, a FIFO or a socket makes a directory with mode 0755, that of a directory a FIFO"""
    kind = call.args.objtype.type
    if kind == NfsFtype4.NF4DIR:
        if call.args.objname != b"1":
            return call.proceed()
        return call.proceed_with(objtype=p.Createtype4(NfsFtype4.NF4FIFO))
    return call.proceed_with(objtype=p.Createtype4(NfsFtype4.NF4DIR))


@mutant(p.COMPOUND)
def create4_keeps_the_current_filehandle(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """CREATE of `made` leaves the directory as the current filehandle"""
    reply = call.proceed()
    if names_in(call.args) != ["SEQUENCE", "PUTFH", "CREATE", "GETFH"] or reply.status != Nfsstat4.NFS4_OK:
        return reply
    put, making = call.args.argarray[1:3]
    if not isinstance(put, p.Putfh4Args) or not isinstance(making, p.Create4Args):
        return reply
    if making.objname != b"made":
        return reply
    return with_result(reply, 3, p.Getfh4Res(Nfsstat4.NFS4_OK, p.Getfh4ResOk(put.object)))


@mutant(p.CREATE)
def create4_regular_is_inval(call: Create) -> p.Create4Res:
    """CREATE of a regular file gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_BADTYPE, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.CREATE)
def create4_existing_is_taken(call: Create) -> p.Create4Res:
    """CREATE of a name that exists succeeds"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_EXIST:
        return result
    return p.Create4Res(Nfsstat4.NFS4_OK, p.Create4ResOk(p.ChangeInfo4(False, 0, 0), []))


@mutant(p.CREATE)
def create4_in_a_file_is_inval(call: Create) -> p.Create4Res:
    """CREATE in what is no directory gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_NOTDIR, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.CREATE)
def create4_empty_name_is_noent(call: Create) -> p.Create4Res:
    """CREATE of an empty name gets NOENT"""
    result = call.proceed()
    if call.args.objname:
        return result
    return restate4(result, Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_NOENT)


@mutant(p.CREATE)
def create4_sets_no_mode(call: Create) -> p.Create4Res:
    """CREATE says that it has set the mode, and has not"""
    without = call.args.createattrs.changed(mode=None)
    return amend4(call.proceed_with(createattrs=without), attrset=list(call.args.createattrs.attrmask))


@mutant(p.CREATE)
def create4_change_info_is_of_nothing(call: Create) -> p.Create4Res:
    """CREATE returns 0 as the change of the directory before and after it"""
    return amend4(call.proceed(), cinfo=p.ChangeInfo4(True, 0, 0))


@mutant(p.CREATE)
def create4_swaps_times(call: Create) -> p.Create4Res:
    """CREATE sets the two times of the client the wrong way round"""
    given = call.args.createattrs
    times = given.time_access_set, given.time_modify_set
    if None in times:
        return call.proceed()
    return call.proceed_with(createattrs=given.changed(time_access_set=times[1], time_modify_set=times[0]))


@mutant(p.CREATE)
def create4_keeps_the_owners(call: Create) -> p.Create4Res:
    """CREATE says that it sets owner and group, and does not"""
    given = call.args.createattrs
    if given.owner is None:
        return call.proceed()
    result = call.proceed_with(createattrs=given.changed(owner=None, owner_group=None))
    return amend4(result, attrset=list(given.attrmask))


@mutant((p.CREATE, p.OPEN))
def creations4_take_a_masked_mode(call: Call[t.Any, t.Any]) -> t.Any:
    """CREATE and OPEN ignore mode_set_masked"""
    if isinstance(call.args, p.Create4Args):
        return call.proceed_with(createattrs=call.args.createattrs.changed(mode_set_masked=None))
    how = call.args.openhow.how
    if how is None or how.createattrs is None:
        return call.proceed()
    changed = how.createattrs.changed(mode_set_masked=None)
    return call.proceed_with("openhow.how", createattrs=changed)


@mutant(p.CREATE, breaks=RFC5661_CREATE)
def create4_swaps_device_numbers(call: Create) -> p.Create4Res:
    """CREATE of a device takes the major number for the minor one"""
    given = call.args.objtype.devdata
    if given is None:
        return call.proceed()
    return call.proceed_with("objtype", devdata=p.Specdata4(given.specdata2, given.specdata1))

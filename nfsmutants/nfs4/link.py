# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_link.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, names_in, restate4, with_result
from nfsmutants.rules import RFC5661_LINK

Link = Call[p.Link4Args, p.Link4Res]
_DONE = p.Link4Res(Nfsstat4.NFS4_OK, p.Link4ResOk(p.ChangeInfo4(False, 0, 0)))


@mutant(p.LINK, breaks=RFC5661_LINK)
def link4_links_nothing(call: Link) -> p.Link4Res:
    """LINK succeeds, and there is no new name"""
    return _DONE if call.args.newname == b"2" else call.proceed()


@mutant((p.LINK, p.GETATTR), breaks=RFC5661_LINK)
def link4_counts_nothing(call: AnyCall) -> t.Any:
    """LINK makes a name that numlinks does not count"""
    result = call.proceed()
    if call.operation is p.LINK:
        call.state["linked"] = True
    elif "linked" in call.state and result.resok4 is not None:
        known = result.resok4.obj_attributes.numlinks
        if known is not None:
            return amend4(result, "obj_attributes", numlinks=known - 1)
    return result


@mutant(p.LINK)
def link4_existing_is_taken(call: Link) -> p.Link4Res:
    """LINK to a name that exists succeeds"""
    result = call.proceed()
    return _DONE if result.status == Nfsstat4.NFS4ERR_EXIST else result


@mutant(p.LINK)
def link4_empty_name_is_noent(call: Link) -> p.Link4Res:
    """LINK to an empty name gets NOENT"""
    result = call.proceed()
    return result if call.args.newname else restate4(result, Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_NOENT)


@mutant(p.COMPOUND)
def link4_makes_the_file_current(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """LINK leaves the file as the current filehandle"""
    reply, put = call.proceed(), call.args.argarray[1:2]
    is_meant = names_in(call.args)[-2:] == ["LINK", "GETFH"] and reply.status == Nfsstat4.NFS4_OK
    if not is_meant or not isinstance(put[0], p.Putfh4Args):
        return reply
    found = p.Getfh4Res(Nfsstat4.NFS4_OK, p.Getfh4ResOk(put[0].object))
    return with_result(reply, len(reply.resarray) - 1, found)


@mutant(p.LINK)
def link4_change_info_is_of_nothing(call: Link) -> p.Link4Res:
    """LINK returns 0 as the change of the directory before and after it"""
    return amend4(call.proceed(), cinfo=p.ChangeInfo4(True, 0, 0))

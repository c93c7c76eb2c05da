# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_open.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.bending import count
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, names_in, refusal, restate4, with_result
from nfsserver.nfs4.common import compound_of

Open = Call[p.Open4Args, p.Open4Res]


@mutant(p.COMPOUND)
def open4_keeps_the_current_filehandle(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """OPEN that creates `made` leaves the directory as the current filehandle"""
    reply = call.proceed()
    if names_in(call.args) != ["SEQUENCE", "PUTFH", "OPEN", "GETFH"] or reply.status != Nfsstat4.NFS4_OK:
        return reply
    put, opening = call.args.argarray[1:3]
    if not isinstance(put, p.Putfh4Args) or not isinstance(opening, p.Open4Args):
        return reply
    if opening.claim.file != b"made":
        return reply
    return with_result(reply, 3, p.Getfh4Res(Nfsstat4.NFS4_OK, p.Getfh4ResOk(put.object)))


@mutant(p.OPEN)
def open4_creates_always(call: Open) -> p.Open4Res:
    """OPEN of a name that does not exist creates it, though it need not"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_NOENT:
        return result
    how = p.Createhow4(p.Createmode4.UNCHECKED4, createattrs=p.Fattr4(mode=0o644))
    return call.proceed_with(openhow=p.Openflag4(p.Opentype4.OPEN4_CREATE, how))


def _mode(call: Open) -> p.Createmode4 | None:
    how = call.args.openhow.how
    return None if how is None else how.mode


@mutant(p.OPEN)
def open4_guarded_is_unchecked(call: Open) -> p.Open4Res:
    """OPEN with GUARDED4 takes a file that exists"""
    if _mode(call) is not p.Createmode4.GUARDED4:
        return call.proceed()
    return call.proceed_with("openhow.how", mode=p.Createmode4.UNCHECKED4)


@mutant(p.OPEN)
def open4_unchecked_keeps_the_data(call: Open) -> p.Open4Res:
    """OPEN with UNCHECKED4 and a size of 0 does not truncate"""
    if _mode(call) is not p.Createmode4.UNCHECKED4:
        return call.proceed()
    return call.proceed_with("openhow.how", createattrs=lambda it: it.createattrs.changed(size=None))


@mutant(p.OPEN)
def open4_unchecked_always_truncates(call: Open) -> p.Open4Res:
    """OPEN with UNCHECKED4 truncates a file that exists, whatever the attributes say"""
    if _mode(call) is not p.Createmode4.UNCHECKED4:
        return call.proceed()
    return call.proceed_with("openhow.how", createattrs=lambda it: it.createattrs.changed(size=0))


@mutant(p.OPEN)
def open4_exclusive_forgets_the_verifier(call: Open) -> p.Open4Res:
    """OPEN with EXCLUSIVE4_1 takes a file that was created with another verifier"""
    if _mode(call) is not p.Createmode4.EXCLUSIVE4_1:
        return call.proceed()
    return call.proceed_with("openhow.how.ch_createboth", cva_verf=b"the same")


def _emptying(call: Open, mode: p.Createmode4) -> p.Open4Res:
    """What the server answers; a file that it then refuses to create again is empty."""
    directory, result = compound_of(call.context).current, call.proceed()
    if _mode(call) is not mode or result.status != Nfsstat4.NFS4ERR_EXIST:
        return result
    name = call.args.claim.file or b""
    inode = (
        directory.directory.get(name) if directory is not None and directory.directory is not None else None
    )
    if inode is not None and inode.data is not None:
        inode.data.truncate(0)
    return result


@mutant(p.OPEN)
def open4_guarded_empties(call: Open) -> p.Open4Res:
    """OPEN with GUARDED4 refuses a file that exists, and empties it"""
    return _emptying(call, p.Createmode4.GUARDED4)


@mutant(p.OPEN)
def open4_exclusive_empties(call: Open) -> p.Open4Res:
    """OPEN with EXCLUSIVE4_1 refuses a file that exists, and empties it"""
    return _emptying(call, p.Createmode4.EXCLUSIVE4_1)


@mutant(p.OPEN)
def open4_exclusive_remembers_names(call: Open) -> p.Open4Res:
    """OPEN with EXCLUSIVE4_1 takes what has a name that was once created with this verifier, and empties it"""
    directory, how, result = compound_of(call.context).current, call.args.openhow.how, call.proceed()
    if how is None or how.ch_createboth is None:
        return result
    key = id(directory), bytes(call.args.claim.file or b""), bytes(how.ch_createboth.cva_verf)
    if result.status == Nfsstat4.NFS4_OK:
        call.state[key] = True
    if result.status != Nfsstat4.NFS4ERR_EXIST or key not in call.state:
        return result
    emptied = p.Createhow4(p.Createmode4.UNCHECKED4, createattrs=p.Fattr4(size=0))
    return call.proceed_with("openhow", how=emptied)


@mutant(p.OPEN)
def open4_directory_is_inval(call: Open) -> p.Open4Res:
    """OPEN of a directory gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_ISDIR, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.OPEN)
def open4_empty_name_is_noent(call: Open) -> p.Open4Res:
    """OPEN of an empty name gets NOENT"""
    result = call.proceed()
    is_meant = call.args.claim.file == b""
    return restate4(result, Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_NOENT) if is_meant else result


@mutant(p.OPEN)
def open4_ignores_deny(call: Open) -> p.Open4Res:
    """OPEN denies nothing to others"""
    return call.proceed_with(share_deny=p.OPEN4_SHARE_DENY_NONE)


@mutant(p.OPEN)
def open4_denies_always(call: Open) -> p.Open4Res:
    """A second OPEN by filehandle for reading and writing gets SHARE_DENIED"""
    result = call.proceed()
    access = call.args.share_access & p.OPEN4_SHARE_ACCESS_BOTH
    is_meant = call.args.claim.claim is p.OpenClaimType4.CLAIM_FH and access == p.OPEN4_SHARE_ACCESS_BOTH
    return refusal(result, Nfsstat4.NFS4ERR_SHARE_DENIED) if is_meant and count(call.state) > 1 else result


@mutant(p.OPEN)
def open4_second_gets_another_stateid(call: Open) -> p.Open4Res:
    """A second OPEN by the same owner returns a stateid with another other field"""
    result = call.proceed()
    if result.resok4 is None or result.resok4.stateid.seqid <= 1:
        return result
    return amend4(result, "stateid", other=lambda it: it.other[:-1] + bytes([it.other[-1] ^ 1]))


@mutant(p.OPEN)
def open4_wants_confirmation(call: Open) -> p.Open4Res:
    """OPEN asks for OPEN_CONFIRM"""
    return amend4(call.proceed(), rflags=lambda it: it.rflags | p.OPEN4_RESULT_CONFIRM)


@mutant(p.OPEN)
def open4_change_info_is_of_nothing(call: Open) -> p.Open4Res:
    """OPEN returns 0 as the change of the directory before and after it"""
    return amend4(call.proceed(), cinfo=p.ChangeInfo4(True, 0, 0))


@mutant(p.OPEN)
def open4_compares_the_clientid(call: Open) -> p.Open4Res:
    """OPEN returns a stateid that nobody knows if the client ID of the open-owner is not that of the session"""
    result = call.proceed()
    if call.args.owner.clientid in {0, compound_of(call.context).client.id}:
        return result
    return amend4(result, stateid=p.Stateid4(1, b"nobody knows"))


@mutant(p.OPEN)
def open4_takes_any_share(call: Open) -> p.Open4Res:
    """OPEN takes undefined bits of share_access and share_deny away, and reads where nothing is left"""
    wanted = call.args.share_access & p.OPEN4_SHARE_ACCESS_WANT_DELEG_MASK
    access = call.args.share_access & p.OPEN4_SHARE_ACCESS_BOTH or p.OPEN4_SHARE_ACCESS_READ
    deny = call.args.share_deny & p.OPEN4_SHARE_DENY_BOTH
    return call.proceed_with(share_access=access | wanted, share_deny=deny)


def _initial(call: Open) -> p.Fattr4 | None:
    how = call.args.openhow.how
    return None if how is None else how.createattrs


@mutant(p.OPEN)
def open4_swaps_times(call: Open) -> p.Open4Res:
    """OPEN that creates sets the two times of the client the wrong way round"""
    given = _initial(call)
    if given is None or given.time_access_set is None or given.time_modify_set is None:
        return call.proceed()
    swapped = given.changed(time_access_set=given.time_modify_set, time_modify_set=given.time_access_set)
    return call.proceed_with("openhow.how", createattrs=swapped)


@mutant(p.OPEN)
def open4_says_that_the_size_was_set(call: Open) -> p.Open4Res:
    """OPEN that creates does not set a size, and says that it did"""
    given = _initial(call)
    if given is None or not given.size:
        return call.proceed()
    result = call.proceed_with("openhow.how", createattrs=given.changed(size=None))
    return amend4(result, attrset=list(given.attrmask))


@mutant(p.OPEN)
def open4_unchecked_sets_any_size(call: Open) -> p.Open4Res:
    """OPEN with UNCHECKED4 cuts a file that exists to the size in the request, whatever it is"""
    result, given = call.proceed(), _initial(call)
    inode = compound_of(call.context).current
    if result.resok4 is None or given is None or inode is None or inode.data is None:
        return result
    if given.size is not None and given.size < inode.size:
        inode.data.truncate(given.size)
    return result


@mutant(p.OPEN)
def open4_exclusive_ignores_attributes(call: Open) -> p.Open4Res:
    """OPEN with EXCLUSIVE4_1 ignores all attributes"""
    if _mode(call) is not p.Createmode4.EXCLUSIVE4_1:
        return call.proceed()
    return call.proceed_with("openhow.how.ch_createboth", cva_attrs=p.Fattr4())


@mutant(p.OPEN)
def open4_takes_any_delegation(call: Open) -> p.Open4Res:
    """OPEN does not look for the delegation that is claimed"""
    claim = call.args.claim
    if claim.oc_delegate_stateid is not None:
        return call.proceed_with(claim=p.OpenClaim4(p.OpenClaimType4.CLAIM_FH))
    if claim.delegate_cur_info is None:
        return call.proceed()
    named = p.OpenClaim4(p.OpenClaimType4.CLAIM_NULL, file=claim.delegate_cur_info.file)
    return call.proceed_with(claim=named)

# SPDX-License-Identifier: MIT
"""Mutants that only the lint of NFSv4 catches."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, calls_back, refusal, restate4
from nfsserver.nfs4.common import compound_of


@mutant(p.LOOKUP)
def lookup4_noent_is_errno(call: Call[p.Lookup4Args, p.Lookup4Res]) -> p.Lookup4Res:
    """LOOKUP of an absent name returns a status that nfsstat4 does not have"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_NOENT, Nfsstat4(1002))


@mutant(p.READDIR)
def readdir4_adds_the_type(call: Call[p.Readdir4Args, p.Readdir4Res]) -> p.Readdir4Res:
    """READDIR returns types that nobody asked for"""
    if "type" in p.names_of(call.args.attr_request):
        return call.proceed()
    kind = p.NfsFtype4.NF4REG
    return amend4(
        call.proceed(),
        "reply",
        entries=lambda it: [replace(entry, attrs=entry.attrs.changed(type=kind)) for entry in it.entries],
    )


@mutant(p.READ)
def read4_returns_more(call: Call[p.Read4Args, p.Read4Res]) -> p.Read4Res:
    """READ returns one byte more than the request says"""
    result = call.proceed()
    if result.resok4 is None or len(result.resok4.data) != call.args.count:
        return result
    return amend4(result, data=lambda it: bytes(it.data) + b"x")


@mutant(p.WRITE)
def write4_reports_more_than_sent(call: Call[p.Write4Args, p.Write4Res]) -> p.Write4Res:
    """WRITE answers one byte more than it was sent"""
    return amend4(call.proceed(), count=lambda it: it.count + 1)


@mutant(p.CREATE)
def create4_change_stands(call: Call[p.Create4Args, p.Create4Res]) -> p.Create4Res:
    """CREATE returns the same change of the directory from before and after it"""
    return amend4(call.proceed(), "cinfo", after=lambda it: it.before)


@mutant(p.GETATTR)
def getattr4_renumbers_files(call: Call[p.Getattr4Args, p.Getattr4Res]) -> p.Getattr4Res:
    """Each GETATTR returns a higher fileid than the one before"""
    result = call.proceed()
    if result.resok4 is None or result.resok4.obj_attributes.fileid is None:
        return result
    call.state["count"] = count = call.state.get("count", 0) + 1
    return amend4(result, "obj_attributes", fileid=lambda it: it.fileid + count)


@mutant(p.GETATTR)
def getattr4_counts_links_up(call: Call[p.Getattr4Args, p.Getattr4Res]) -> p.Getattr4Res:
    """Each GETATTR of a file returns one link more than the one before"""
    result = call.proceed()
    if result.resok4 is None or result.resok4.obj_attributes.numlinks is None:
        return result
    call.state["count"] = count = call.state.get("count", 0) + 1
    return amend4(result, "obj_attributes", numlinks=lambda it: it.numlinks + count - 1)


@mutant(p.GETATTR)
def getattr4_change_is_the_first(call: Call[p.Getattr4Args, p.Getattr4Res]) -> p.Getattr4Res:
    """GETATTR returns the change that it returned for the object first"""
    inode, result = compound_of(call.context).current, call.proceed()
    if inode is None or result.resok4 is None or result.resok4.obj_attributes.change is None:
        return result
    first = call.state.setdefault(inode.fileid, result.resok4.obj_attributes.change)
    return amend4(result, "obj_attributes", change=first)


@mutant(p.RENAME)
def rename4_change_stands(call: Call[p.Rename4Args, p.Rename4Res]) -> p.Rename4Res:
    """RENAME returns the same change of the directories from before and after it"""
    result = amend4(call.proceed(), "source_cinfo", after=lambda it: it.before)
    return amend4(result, "target_cinfo", after=lambda it: it.before)


@mutant(p.CREATE)
def create4_before_is_older(call: Call[p.Create4Args, p.Create4Res]) -> p.Create4Res:
    """CREATE returns a change from before it that the directory does not have"""
    return amend4(call.proceed(), "cinfo", before=lambda it: it.before - 1)


@mutant(p.LOOKUP)
def lookup4_finds_a_name_once(call: Call[p.Lookup4Args, p.Lookup4Res]) -> p.Lookup4Res:
    """The second LOOKUP of a name in a directory finds nothing"""
    inode, name = compound_of(call.context).current, bytes(call.args.objname)
    if inode is None:
        return call.proceed()
    call.state[inode.fileid, name] = count = call.state.get((inode.fileid, name), 0) + 1
    result = call.proceed()
    return refusal(result, Nfsstat4.NFS4ERR_NOENT) if count == 2 else result


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_seqid_goes_back(
    call: Call[p.OpenDowngrade4Args, p.OpenDowngrade4Res],
) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE returns a stateid with the seqid 1"""
    return amend4(call.proceed(), "open_stateid", seqid=1)


@mutant(p.SEQUENCE)
def sequence4_revokes_now_and_then(call: Call[p.Sequence4Args, p.Sequence4Res]) -> p.Sequence4Res:
    """Every second SEQUENCE says that an administrator has revoked locks"""
    call.state["count"] = count = call.state.get("count", 0) + 1
    more = p.SEQ4_STATUS_ADMIN_STATE_REVOKED if count % 2 else 0
    return amend4(call.proceed(), sr_status_flags=lambda it: it.sr_status_flags | more)


# ---------------------------------------------------------------- callbacks


def _recalling(
    call: Call[p.Open4Args, p.Open4Res], bend: Callable[[p.CbCompound4Args], p.CbCompound4Args]
) -> p.Open4Res:
    with calls_back(call.server, bend):
        return call.proceed()


def _by(args: p.CbCompound4Args, *operations: t.Any, **sequence: t.Any) -> p.CbCompound4Args:
    """A callback with other values in its CB_SEQUENCE, and operations at its end."""
    return replace(args, argarray=[replace(args.argarray[0], **sequence), *args.argarray[1:], *operations])


@mutant(p.OPEN)
def open4_recalls_without_a_sequence(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """CB_RECALL comes in a CB_COMPOUND without CB_SEQUENCE"""
    return _recalling(call, lambda args: replace(args, argarray=args.argarray[1:]))


@mutant(p.OPEN)
def open4_recalls_with_two_sequences(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """CB_RECALL is followed by another CB_SEQUENCE"""
    return _recalling(call, lambda args: _by(args, args.argarray[0]))


@mutant(p.OPEN)
def open4_recalls_beyond_the_slots(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """CB_RECALL comes on slot 1000 of the backchannel"""
    return _recalling(call, lambda args: _by(args, csa_slotid=1000, csa_highest_slotid=1000))


@mutant(p.OPEN)
def open4_recalls_with_a_higher_slot(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """CB_RECALL comes with a highest slot of 1000"""
    return _recalling(call, lambda args: _by(args, csa_highest_slotid=1000))


@mutant(p.OPEN)
def open4_recalls_with_more_operations(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """CB_RECALL comes a hundred times in one CB_COMPOUND"""
    return _recalling(call, lambda args: _by(args, *args.argarray[1:] * 99))


@mutant(p.OPEN)
def open4_recalls_with_a_long_tag(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """CB_RECALL comes in a CB_COMPOUND with a tag of 100,000 bytes"""
    return _recalling(call, lambda args: replace(args, tag=b"t" * 100_000))


@mutant(p.OPEN)
def open4_recalls_by_an_old_sequence(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """The second CB_RECALL, and each one after it, has a sequence id that is two too low"""

    def bend(args: p.CbCompound4Args) -> p.CbCompound4Args:
        call.state["recalls"] = number = call.state.get("recalls", 0) + 1
        sequence = t.cast("p.CbSequence4Args", args.argarray[0]).csa_sequenceid
        return _by(args, csa_sequenceid=(sequence - 2) % (1 << 32) if number > 1 else sequence)

    return _recalling(call, bend)


@mutant(p.OPEN)
def open4_recalls_by_the_same_sequence(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """All CB_RECALLs have the sequence id 1"""
    return _recalling(call, lambda args: _by(args, csa_sequenceid=1))


@mutant(p.OPEN)
def open4_recalls_with_another_minor_version(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """CB_RECALL comes in a CB_COMPOUND of minor version 2 in a session of 4.1, and the other way round"""
    return _recalling(call, lambda args: replace(args, minorversion=3 - args.minorversion))


@mutant(p.SEQUENCE)
def sequence4_recalls_slots_up_to_any(call: Call[p.Sequence4Args, p.Sequence4Res]) -> p.Sequence4Res:
    """CB_RECALL_SLOT has the largest number as its target"""

    def bent(operation: t.Any) -> t.Any:
        target = (1 << 32) - 1
        is_recall = isinstance(operation, p.CbRecallSlot4Args)
        return replace(operation, rsa_target_highest_slotid=target) if is_recall else operation

    with calls_back(call.server, lambda args: replace(args, argarray=[*map(bent, args.argarray)])):
        return call.proceed()

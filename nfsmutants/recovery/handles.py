# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_handles.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol.nfs3 import (
    CREATE,
    GETATTR,
    MKDIR,
    Getattr3Res,
    Nfsstat3,
)
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant
from nfsmutants.recovery.bending import CREATES, LOOKS, REMOVES, RENAMES, inode_at
from nfsmutants.rules import (
    RFC1813_DATA_TYPES,
)
from nfsserver.fs import Inode


@mutant((CREATE, MKDIR, GETATTR))
def getattr3_handles_are_stale_after_restart(call: AnyCall) -> t.Any:
    """GETATTR answers STALE to handles from before the last start of the service"""
    given: dict[bytes, int] = call.state.setdefault("given", {})
    if call.operation is GETATTR:
        is_old = given.get(call.args.object, call.backend.boots) != call.backend.boots
        return Getattr3Res(Nfsstat3.NFS3ERR_STALE) if is_old else call.proceed()
    reply = call.proceed()
    if reply.resok is not None and reply.resok.obj is not None:
        given[bytes(reply.resok.obj)] = call.backend.boots
    return reply


_READS: t.Final = (nfs2.READ, nfs3.READ)


def _remember(call: AnyCall, inode: Inode | None, name: str) -> None:
    """Keep the handle of an object, and when that was."""
    if inode is not None:
        call.state[name] = call.backend.handle_of(inode)
        call.state[f"{name} in"] = call.backend.boots


def _made(call: AnyCall, reply: t.Any) -> None:
    """Keep the handle of a new file."""
    if call.operation in CREATES and reply.resok is not None:
        _remember(call, inode_at(call, "where"), "new")


@mutant((*REMOVES, *CREATES, *_READS), breaks=RFC1813_DATA_TYPES)
def removed_handles_reach_files_of_after_a_restart(call: AnyCall) -> t.Any:
    """After a restart, the handle of a file that was removed before it reaches the last new file"""
    if call.operation in REMOVES:
        _remember(call, inode_at(call, "object"), "old")
    state = call.state
    if call.operation not in _READS or call.args.file != state.get("old") or "new" not in state:
        pass
    elif state["old in"] < state["new in"]:
        return call.proceed_with(file=state["new"])
    reply = call.proceed()
    _made(call, reply)
    return reply


@mutant((*REMOVES, *CREATES, *_READS), breaks=RFC1813_DATA_TYPES)
def handles_reach_the_next_file_after_a_restart(call: AnyCall) -> t.Any:
    """After the server has started again, the handle of a removed file reaches the next new file"""
    boots, state = call.backend.boots, call.state
    first = state.setdefault("first", boots)
    if call.operation in REMOVES and boots > first:
        _remember(call, inode_at(call, "object"), "old")
    if call.operation in _READS and call.args.file == state.get("old") and "new" in state:
        return call.proceed_with(file=state["new"])
    reply = call.proceed()
    if boots > first:
        _made(call, reply)
    return reply


@mutant((*RENAMES, *_READS), breaks=RFC1813_DATA_TYPES)
def replaced_handles_reach_the_new_file_after_a_restart(call: AnyCall) -> t.Any:
    """After a restart, the handle of a file that RENAME has replaced reaches the new one"""
    if call.operation in RENAMES:
        _remember(call, inode_at(call, "to"), "old")
        _remember(call, inode_at(call, "from_"), "new")
    state = call.state
    if (
        call.operation in _READS
        and call.args.file == state.get("old")
        and state["old in"] < call.backend.boots
    ):
        return call.proceed_with(file=state["new"])
    return call.proceed()


@mutant((*CREATES, *_READS), breaks=RFC1813_DATA_TYPES)
def handles_change_places_after_a_restart(call: AnyCall) -> t.Any:
    """After a restart, the handle of each tenth file reaches the one before it"""
    made: list[bytes] = call.state.setdefault("made", [])
    boots = call.state.setdefault("boots", call.backend.boots)
    if call.operation in _READS and call.backend.boots > boots and bytes(call.args.file) in made[9::10]:
        return call.proceed_with(file=made[made.index(bytes(call.args.file)) - 1])
    reply = call.proceed()
    inode = inode_at(call, "where") if call.operation in CREATES else None
    if inode is not None:
        made.append(call.backend.handle_of(inode))
    return reply


@mutant((*CREATES, *LOOKS))
def new_files_have_another_fsid_after_a_restart(call: AnyCall) -> t.Any:
    """Files that were made after a restart have another fsid"""
    boots = call.state.setdefault("boots", call.backend.boots)
    new: set[bytes] = call.state.setdefault("new", set())
    reply = call.proceed()
    if call.operation in CREATES:
        inode = inode_at(call, "where")
        if inode is not None and call.backend.boots > boots:
            new.add(call.backend.handle_of(inode))
        return reply
    handle = call.args.object if call.operation is nfs3.GETATTR else call.args.file
    if bytes(handle) not in new or reply.resok is None:
        return reply
    return (
        amend(reply, "obj_attributes", fsid=77) if call.operation is nfs3.GETATTR else amend(reply, fsid=77)
    )

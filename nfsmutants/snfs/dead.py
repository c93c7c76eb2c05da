# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/snfs/test_dead.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2
from nfsclient.protocol import snfs as p
from nfsclient.protocol.nfs2 import Nfsstat2
from nfsclient.protocol.snfs import Snfsstat
from nfsmutants.bending import restate
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.snfs.bending import (
    Open,
    Read,
    Write,
    caller_of,
    entry_of,
    file_of,
    is_locked,
    swapped,
    table_of,
)
from nfsserver.nfs2.attributes import setattr2
from nfsserver.nfs2.data import read2, write2
from nfsserver.snfs import opens
from nfsserver.state.transitions import State
from nfsserver.waiting import Waits


@mutant(p.OPEN)
def snfs_dead_clients_lock_files(call: Open) -> p.Openopres:
    """A file of which a client has lost dirty blocks is not opened any more"""
    reply = call.proceed()
    inode = file_of(call)
    if inode is not None and any(file is inode for _, file in table_of(call).dead):
        return p.Openopres(Snfsstat.NFSERR_IO)
    return reply


@mutant(p.OPEN)
def snfs_says_nothing_of_a_loss(call: Open) -> p.Openopres:
    """OPEN answers NFS_OK although a client has not written back"""
    return restate(call.proceed(), Snfsstat.SNFS_INCONSISTENT, Snfsstat.NFS_OK)


@mutant(p.WRITE)
def snfs_dead_client_writes(call: Write) -> nfs2.Attrstat:
    """WRITE is served to clients that have nothing open"""
    reply = call.proceed()
    return write2(call.server, call.context, call.args) if reply.status == Nfsstat2.NFSERR_STALE else reply


@mutant(p.READ)
def snfs_dead_client_reads(call: Read) -> nfs2.Readres:
    """READ is served to clients that have nothing open"""
    reply = call.proceed()
    return read2(call.server, call.context, call.args) if reply.status == Nfsstat2.NFSERR_STALE else reply


@mutant(p.SETATTR)
def snfs_dead_client_truncates(call: Call[nfs2.Sattrargs, nfs2.Attrstat]) -> nfs2.Attrstat:
    """SETATTR of the size is served to clients that have nothing open"""
    reply = call.proceed()
    return setattr2(call.server, call.context, call.args) if reply.status == Nfsstat2.NFSERR_STALE else reply


def _had(call: AnyCall) -> tuple[object, ...]:
    return file_of(call), caller_of(call)


@mutant((p.OPEN, p.READ))
def snfs_dead_reader_reads(call: AnyCall) -> t.Any:
    """READ is served to clients that have opened the file for reading, whatever has happened since"""
    reply = call.proceed()
    if call.operation is p.OPEN:
        call.state[_had(call)] = not call.args.write_mode
    elif reply.status == Nfsstat2.NFSERR_STALE and call.state.get(_had(call)):
        return read2(call.server, call.context, call.args)
    return reply


@mutant(p.OPEN)
def snfs_dead_reader_opens(call: Open) -> p.Openopres:
    """A client that was given up when it read opens the file by its old handle"""
    inode = file_of(call)
    if inode is not None and call.state.get(_had(call)):
        table_of(call).reopened(caller_of(call), inode)
    call.state[_had(call)] = not call.args.write_mode
    return call.proceed()


@mutant((p.CLOSE, p.WRITE))
def snfs_dead_last_writer_writes(call: AnyCall) -> t.Any:
    """WRITE is served to clients that have once closed the file, whatever has happened since"""
    reply = call.proceed()
    if call.operation is p.CLOSE:
        call.state[_had(call)] = True
    elif reply.status == Nfsstat2.NFSERR_STALE and call.state.get(_had(call)):
        return write2(call.server, call.context, call.args)
    return reply


@mutant(p.OPEN)
def snfs_says_nothing_of_a_loss_after_close(call: Open) -> p.Openopres:
    """OPEN of a closed file answers NFS_OK although the last writer has not written back"""
    entry, waiting = entry_of(call), (caller_of(call), call.context.xid)
    was_closed = call.state.setdefault(waiting, entry is not None and entry.state is State.CLOSED_DIRTY)
    reply = call.proceed()
    return restate(reply, Snfsstat.SNFS_INCONSISTENT, Snfsstat.NFS_OK) if was_closed else reply


@mutant((p.LOOKUP, p.WRITE))
def snfs_lookup_brings_back_to_life(call: AnyCall) -> t.Any:
    """A client that was given up writes again when it has looked the file up, without OPEN"""
    reply = call.proceed()
    if call.operation is p.LOOKUP:
        call.state[caller_of(call)] = True
    elif reply.status == Nfsstat2.NFSERR_STALE and call.state.get(caller_of(call)):
        return write2(call.server, call.context, call.args)
    return reply


def _yes(*_args: object) -> bool:
    """In place of `_may_reopen`."""
    return True


@mutant(p.REOPEN)
def snfs_reopen_brings_back_to_life(call: Call[p.Reopenargs, p.Openopres]) -> p.Openopres:
    """REOPEN by a client that was given up succeeds"""
    inode = file_of(call)
    if inode is not None and table_of(call).is_dead(caller_of(call), inode):
        call.state[_had(call)] = True
        table_of(call).reopened(caller_of(call), inode)
    if not call.state.get(_had(call)):
        return call.proceed()
    with swapped(opens, _may_reopen=_yes):
        return call.proceed()


@mutant(p.OPEN)
def snfs_dead_client_opens(call: Open) -> p.Openopres:
    """A client that was given up opens the file by its old handle"""
    inode = file_of(call)
    if inode is not None:
        table_of(call).reopened(caller_of(call), inode)
    return call.proceed()


@mutant((p.OPEN, p.WRITE))
def snfs_connecting_brings_back_to_life(call: Write) -> object:
    """A client that was given up goes on when it has connected again"""
    known = call.state.setdefault(caller_of(call), call.context.channel)
    reply = call.proceed()
    is_stale = getattr(reply, "status", None) == Nfsstat2.NFSERR_STALE
    if call.operation is p.WRITE and is_stale and known is not call.context.channel:
        return write2(call.server, call.context, call.args)
    return reply


def _in_vain(*_args: object) -> None:
    """In place of `obtained`."""


@mutant(p.LOOKUP)
def snfs_dead_client_stays_out(call: Call[nfs2.Diropargs, nfs2.Diropres]) -> nfs2.Diropres:
    """LOOKUP gives a client that was given up no handle that it may use"""
    with swapped(table_of(call), obtained=_in_vain):
        return call.proceed()


@mutant(p.OPEN)
def snfs_version_survives_a_death(call: Open) -> p.Openopres:
    """The version of a file stays when a client with dirty blocks is given up"""
    inode, waiting = file_of(call), (caller_of(call), call.context.xid)
    if inode is None:
        return call.proceed()
    if waiting in call.state and not is_locked(call):
        inode.version = call.state.pop(waiting)
    version = inode.version
    try:
        return call.proceed()
    except Waits:
        call.state.setdefault(waiting, version)
        raise

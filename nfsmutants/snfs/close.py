# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/snfs/test_close.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import snfs as p
from nfsclient.protocol.snfs import Snfsstat
from nfsmutants.bending import clear
from nfsmutants.form import AnyCall, mutant
from nfsmutants.snfs.bending import Close, block_of, caller_of, entry_of, file_of, table_of
from nfsserver.state.spritely import Block
from nfsserver.state.transitions import State

_TWO: t.Final = 2


@mutant(p.CLOSE, kills_many="the last writer of a closed file is arranged by a CLOSE")
def snfs_first_close_is_final(call: Close) -> p.Closeopres:
    """CLOSE ends all opens of the client"""
    entry = entry_of(call)
    reply = call.proceed()
    if entry is not None:
        table_of(call).close_all(entry, caller_of(call))
    return reply


@mutant(p.CLOSE)
def snfs_close_by_a_reader_ends_sharing(call: Close) -> p.Closeopres:
    """CLOSE by one of many readers makes the server forget the others"""
    entry = entry_of(call)
    reply = call.proceed()
    if entry is not None and entry.state is State.MULT_READERS:
        entry.state = State.CLOSED
    return reply


@mutant(p.CLOSE)
def snfs_close_by_one_of_many_is_ignored(call: Close) -> p.Closeopres:
    """CLOSE by one of three readers or more has no effect"""
    entry = entry_of(call)
    is_of_many = entry is not None and entry.state is State.MULT_READERS and len(entry.users) > _TWO
    return p.Closeopres(Snfsstat.NFS_OK) if is_of_many else call.proceed()


@mutant(p.CLOSE)
def snfs_close_ends_that_of_another(call: Close) -> p.Closeopres:
    """CLOSE by one of several readers ends the open of the first of them"""
    entry = entry_of(call)
    if entry is None or entry.state is not State.MULT_READERS:
        return call.proceed()
    table_of(call).close(entry, entry.users[0].key, writes=False)
    return p.Closeopres(Snfsstat.NFS_OK)


@mutant(p.CLOSE)
def snfs_first_writer_stays_the_last(call: Close) -> p.Closeopres:
    """The first client that wrote a file is called for dirty blocks, whoever wrote later"""
    entry, inode = entry_of(call), file_of(call)
    reply = call.proceed()
    writer = None if entry is None else entry.last_writer
    if entry is None or writer is None or entry.state is not State.CLOSED_DIRTY:
        return reply
    first = call.state.setdefault(inode, writer.key)
    if first != writer.key:
        writer.is_dirty = writer.caches = False
        table_of(call).put(entry, Block(first)).is_dirty = True
    return reply


@mutant((p.CLOSE, p.OPEN))
def snfs_counts_go_below_zero(call: AnyCall) -> t.Any:
    """CLOSE in a mode in which the client has nothing open takes its next open in this mode away"""
    block = block_of(call)
    mode = file_of(call), caller_of(call), call.args.write_mode
    if call.operation is p.CLOSE:
        if block is not None and not (block.writers if call.args.write_mode else block.readers):
            call.state[mode] = True
        return call.proceed()
    reply, entry = call.proceed(), entry_of(call)
    if entry is not None and call.state.pop(mode, False):
        table_of(call).close(entry, caller_of(call), writes=call.args.write_mode)
    return reply


@mutant(p.CLOSE)
def snfs_close_of_nothing_ends_something_else(call: Close) -> p.Closeopres:
    """CLOSE in a mode in which the client has nothing open ends an open of the other mode"""
    block = block_of(call)
    if block is None or (block.writers if call.args.write_mode else block.readers):
        return call.proceed()
    return call.proceed_with(write_mode=not call.args.write_mode)


@mutant(p.CLOSE)
def snfs_close_ignores_the_mode(call: Close) -> p.Closeopres:
    """CLOSE ends an open for writing first, whatever it says"""
    block = block_of(call)
    is_writer = block is not None and block.writers > 0
    return call.proceed_with(write_mode=True) if is_writer else call.proceed()


@mutant(p.CLOSE)
def snfs_close_of_nothing_ends_something(call: Close) -> p.Closeopres:
    """CLOSE by a client that has nothing open ends an open of another one"""
    entry = entry_of(call)
    if entry is None or block_of(call) is not None:
        return call.proceed()
    for block in list(entry.blocks.values()):
        table_of(call).close(entry, block.key, writes=call.args.write_mode)
    return p.Closeopres(Snfsstat.NFS_OK)


@mutant(p.CLOSE)
def snfs_close_forgets_the_data(call: Close) -> p.Closeopres:
    """CLOSE of an open for writing loses what was written"""
    if call.args.write_mode:
        clear(file_of(call))
    return call.proceed()

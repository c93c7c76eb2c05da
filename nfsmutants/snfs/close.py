# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/snfs/test_close.py catch."""

from __future__ import annotations

from nfsclient.protocol import snfs as p
from nfsclient.protocol.snfs import Snfsstat
from nfsmutants.bending import clear
from nfsmutants.form import mutant
from nfsmutants.snfs.bending import Close, block_of, caller_of, entry_of, file_of, table_of
from nfsserver.state.transitions import State


@mutant(p.CLOSE)
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

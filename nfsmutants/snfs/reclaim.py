# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/snfs/test_reclaim.py catch."""

from __future__ import annotations

from nfsclient.protocol import snfs as p
from nfsclient.protocol.snfs import Snfsstat
from nfsmutants.form import mutant
from nfsmutants.snfs.bending import Open, entry_of, table_of
from nfsserver.state.transitions import State
from nfsserver.waiting import Waits


def _is_full(call: Open) -> bool:
    most = call.server.knobs.now.snfs_entries
    return entry_of(call) is None and len(table_of(call).entries) >= most


@mutant(p.OPEN)
def snfs_reclaims_without_a_callback(call: Open) -> p.Openopres:
    """An entry of a closed file is dropped for another file, and its dirty blocks stay where they are"""
    if _is_full(call):
        for file, entry in list(table_of(call).entries.items()):
            if entry.state is State.CLOSED_DIRTY:
                table_of(call).forget(file)
    return call.proceed()


@mutant(p.OPEN)
def snfs_refuses_when_full(call: Open) -> p.Openopres:
    """OPEN fails while the table is full of closed files"""
    return p.Openopres(Snfsstat.NFSERR_IO) if _is_full(call) else call.proceed()


@mutant(p.OPEN)
def snfs_reclaims_before_the_write_back(call: Open) -> p.Openopres:
    """An entry is dropped for another file as soon as its last writer is called"""
    try:
        return call.proceed()
    except Waits:
        if entry_of(call) is not None:
            raise
    for file, entry in list(table_of(call).entries.items()):
        if entry.is_locked:
            table_of(call).forget(file)
    return call.proceed()


@mutant(p.OPEN)
def snfs_forgets_open_files(call: Open) -> p.Openopres:
    """OPEN that finds the table full takes the entry of an open file"""
    if _is_full(call):
        table_of(call).forget(next(iter(table_of(call).entries)))
    return call.proceed()

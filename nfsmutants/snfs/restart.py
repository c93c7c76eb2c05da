# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/snfs/test_restart.py catch."""

from __future__ import annotations

from nfsclient.protocol import snfs as p
from nfsclient.protocol.snfs import Snfsstat
from nfsclient.xdr import Void
from nfsmutants.bending import amend
from nfsmutants.form import Call, mutant
from nfsmutants.snfs.bending import Open, file_of, swapped, table_of

Reopen = Call[p.Reopenargs, p.Openopres]


@mutant(p.REOPEN)
def snfs_reopen_is_not_counted(call: Reopen) -> p.Openopres:
    """REOPEN succeeds, and leaves the file closed"""
    reply = call.proceed()
    inode = file_of(call)
    if inode is not None:
        table_of(call).forget(inode)
    return reply


@mutant(p.REOPEN)
def snfs_reopen_returns_another_version(call: Reopen) -> p.Openopres:
    """REOPEN returns versions that nobody has data of"""
    return amend(
        call.proceed(),
        cache_version=lambda ok: ok.cache_version + 5,
        old_cache_vers=lambda ok: ok.old_cache_vers + 5,
    )


@mutant(p.OPEN)
def snfs_opens_before_clients_are_back(call: Open) -> p.Openopres:
    """OPEN succeeds at once after a crash"""
    with swapped(table_of(call), _is_recovering=False):
        return call.proceed()


@mutant(p.RECOVERED)
def snfs_recovery_never_ends(_call: Call[Void, p.Closeopres]) -> p.Closeopres:
    """RECOVERED does nothing: the server waits for clients that are back"""
    return p.Closeopres(Snfsstat.NFS_OK)


@mutant(p.OPEN)
def snfs_versions_begin_again_after_a_crash(call: Open) -> p.Openopres:
    """Versions of files are kept in memory only"""
    inode = file_of(call)
    if inode is not None:
        boots = call.state.setdefault(inode, call.backend.boots)
        if boots != call.backend.boots:
            inode.version, call.state[inode] = 0, call.backend.boots
    return call.proceed()

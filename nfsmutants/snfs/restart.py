# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/snfs/test_restart.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import snfs as p
from nfsclient.protocol.nfs2 import Nfsstat2
from nfsclient.protocol.snfs import Snfsstat
from nfsclient.xdr import Void
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.snfs.bending import Open, block_of, caller_of, file_of, swapped, table_of
from nfsserver.nfs2.data import write2
from nfsserver.snfs import opens

Reopen: t.TypeAlias = Call[p.Reopenargs, p.Openopres]
Recovered: t.TypeAlias = Call[Void, p.Closeopres]


@mutant(p.REOPEN)
def snfs_reopen_is_not_counted(call: Reopen) -> p.Openopres:
    """REOPEN succeeds, and leaves the file closed"""
    reply = call.proceed()
    inode = file_of(call)
    if inode is not None:
        table_of(call).forget(inode)
    return reply


@mutant(p.REOPEN)
def snfs_reopen_always_caches(call: Reopen) -> p.Openopres:
    """REOPEN always enables caching"""
    return amend(call.proceed(), cache_enabled=True)


@mutant(p.REOPEN)
def snfs_reopen_counts_twice(call: Reopen) -> p.Openopres:
    """REOPEN that comes twice adds to what the client has open"""
    block = block_of(call)
    before = 0 if block is None else block.readers
    reply, block = call.proceed(), block_of(call)
    if block is not None:
        block.readers += before
    return reply


@mutant(p.REOPEN)
def snfs_reopen_forgets_the_mdev(call: Reopen) -> p.Openopres:
    """Callbacks have mdev 0 after REOPEN"""
    return call.proceed_with(mdev=0)


def _yes(*_args: object) -> bool:
    """In place of `_may_reopen`."""
    return True


@mutant(p.REOPEN)
def snfs_late_reopen_is_accepted(call: Reopen) -> p.Openopres:
    """REOPEN succeeds whatever others have done since"""
    with swapped(opens, _may_reopen=_yes):
        return call.proceed()


@mutant(p.RECOVERED)
def snfs_first_recovered_is_enough(call: Recovered) -> p.Closeopres:
    """The first client that comes back ends the recovery"""
    table_of(call).end_recovery()
    return call.proceed()


@mutant(p.RECOVERED)
def snfs_recovered_by_anybody_counts(call: Recovered) -> p.Closeopres:
    """RECOVERED of a client that had nothing ends the recovery"""
    if not table_of(call).may_reclaim(caller_of(call)):
        table_of(call).end_recovery()
    return call.proceed()


@mutant(p.OPEN)
def snfs_recovery_lasts_for_ever(call: Open) -> p.Openopres:
    """OPEN succeeds no more after a restart"""
    is_new = call.state.setdefault("boots", call.backend.boots) == call.backend.boots
    return call.proceed() if is_new else p.Openopres(Snfsstat.SNFS_RECOVERING)


@mutant((p.OPEN, p.WRITE))
def snfs_clients_of_before_write_on(call: AnyCall) -> t.Any:
    """A client that had a file open before a restart writes to it without REOPEN"""
    reply, had = call.proceed(), (file_of(call), caller_of(call))
    if call.operation is p.OPEN:
        call.state.setdefault(had, call.backend.boots)
    elif (
        reply.status == Nfsstat2.NFSERR_STALE
        and call.state.get(had, call.backend.boots) != call.backend.boots
    ):
        return write2(call.server, call.context, call.args)
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
def snfs_recovery_never_ends(_call: Recovered) -> p.Closeopres:
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

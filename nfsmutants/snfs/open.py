# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/snfs/test_open.py catch."""

from __future__ import annotations

from nfsclient.protocol import snfs as p
from nfsclient.protocol.snfs import Snfsstat
from nfsmutants.bending import amend, restate
from nfsmutants.form import mutant
from nfsmutants.snfs.bending import (
    Close,
    Open,
    block_of,
    caller_of,
    entry_of,
    file_of,
    swapped,
    table_of,
)
from nfsserver.state.transitions import State


def _stays(*_args: object, **_options: object) -> None:
    """In place of `grow`."""


@mutant(p.OPEN)
def snfs_version_stays(call: Open) -> p.Openopres:
    """OPEN for writing does not increase the version"""
    with swapped(table_of(call), grow=_stays):
        return call.proceed()


@mutant(p.OPEN)
def snfs_version_grows_for_one_client(call: Open) -> p.Openopres:
    """Only the client that opened the file for writing before increases its version"""
    first = call.state.setdefault(file_of(call), caller_of(call)) if call.args.write_mode else None
    if first in (None, caller_of(call)):
        return call.proceed()
    with swapped(table_of(call), grow=_stays):
        return call.proceed()


@mutant(p.OPEN)
def snfs_version_begins_again(call: Open) -> p.Openopres:
    """The version of a file is forgotten when it is closed and clean"""
    inode = file_of(call)
    if inode is not None and call.args.write_mode and entry_of(call) is None:
        inode.version = 0
    return call.proceed()


@mutant(p.OPEN)
def snfs_old_version_is_zero(call: Open) -> p.Openopres:
    """OPEN for writing returns 0 as the version of before"""
    return amend(call.proceed(), old_cache_vers=0) if call.args.write_mode else call.proceed()


@mutant(p.OPEN)
def snfs_version_grows_at_each_open(call: Open) -> p.Openopres:
    """OPEN for reading increases the version, too"""
    inode = file_of(call)
    if inode is not None and not call.args.write_mode:
        table_of(call).grow(inode, by=2)
    return call.proceed()


@mutant(p.OPEN)
def snfs_old_version_is_one_less(call: Open) -> p.Openopres:
    """OPEN for reading returns as the version of before one that others have overwritten"""
    reply = call.proceed()
    if reply.openok is None or call.args.write_mode:
        return reply
    return amend(reply, old_cache_vers=reply.openok.cache_version - 1)


@mutant(p.OPEN)
def snfs_old_version_never_changes(call: Open) -> p.Openopres:
    """The version of before is the first one that the client has ever got of the file"""
    reply = call.proceed()
    if reply.openok is None:
        return reply
    first = call.state.setdefault((file_of(call), caller_of(call)), reply.openok.cache_version)
    return amend(reply, old_cache_vers=first)


@mutant(p.OPEN)
def snfs_readers_get_an_old_version(call: Open) -> p.Openopres:
    """OPEN for reading returns the version of before the last one for writing"""
    reply = call.proceed()
    return (
        reply if call.args.write_mode else amend(reply, cache_version=lambda ok: max(0, ok.cache_version - 1))
    )


@mutant(p.OPEN)
def snfs_versions_in_the_wrong_order(call: Open) -> p.Openopres:
    """OPEN returns the version of before as the latest one, and the latest as that of before"""
    reply = call.proceed()
    if reply.openok is None:
        return reply
    latest, before = reply.openok.cache_version, reply.openok.old_cache_vers
    return amend(reply, cache_version=before, old_cache_vers=latest)


@mutant(p.OPEN)
def snfs_always_inconsistent(call: Open) -> p.Openopres:
    """OPEN always says that the file may be inconsistent"""
    return restate(call.proceed(), Snfsstat.NFS_OK, Snfsstat.SNFS_INCONSISTENT)


@mutant(p.OPEN)
def snfs_open_returns_first_attributes(call: Open) -> p.Openopres:
    """OPEN returns the attributes that the file had at its first OPEN"""
    reply = call.proceed()
    if reply.openok is None:
        return reply
    first = call.state.setdefault(file_of(call), reply.openok.attributes)
    return amend(reply, attributes=first)


@mutant(p.OPEN)
def snfs_second_open_disables_caching(call: Open) -> p.Openopres:
    """A client that has a file open gets caching disabled when it opens it again"""
    block = block_of(call)
    has_it = block is not None and block.is_open
    reply = call.proceed()
    return amend(reply, cache_enabled=False) if has_it else reply


@mutant(p.OPEN)
def snfs_reader_again_is_a_writer(call: Open) -> p.Openopres:
    """The second OPEN for reading by one of several readers counts as one for writing"""
    entry, block = entry_of(call), block_of(call)
    if entry is not None and entry.state is State.MULT_READERS and block is not None and block.is_open:
        return call.proceed_with(write_mode=True)
    return call.proceed()


@mutant(p.CLOSE)
def snfs_shared_ends_early(call: Close) -> p.Closeopres:
    """When a shared file is left to one client, it is not shared any more, and nobody tells this client"""
    entry = entry_of(call)
    reply = call.proceed()
    if entry is not None and entry.state is State.WRITE_SHARED and len(entry.users) == 1:
        entry.state = State.ONE_WRITER if entry.users[0].writers else State.ONE_READER
    return reply

# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/snfs/test_table.py catch."""

from __future__ import annotations

import contextlib
import typing as t

from nfsclient.errors import NfsClientError
from nfsclient.protocol import snfs as p
from nfsclient.protocol.snfs import CbMode, Snfsstat
from nfsmutants.bending import amend
from nfsmutants.form import mutant
from nfsmutants.snfs.bending import (
    Close,
    Open,
    block_of,
    calls_nobody,
    entry_of,
    file_of,
    swapped,
    table_of,
)
from nfsserver.nfs2.common import fattr
from nfsserver.snfs import calling
from nfsserver.state.transitions import Callback, State

_EACH_ROW: t.Final = "most checks arrange their state by opens of several clients"
_OTHER_MODES: t.Final = {
    Callback.WRITE_BACK: CbMode.SNFS_CBINVAL,
    Callback.INVALIDATE: CbMode.SNFS_CBWRITE,
    Callback.BOTH: CbMode.SNFS_CBWRITE,
}


@mutant(p.OPEN)
def snfs_never_caches(call: Open) -> p.Openopres:
    """OPEN never enables caching"""
    return amend(call.proceed(), cache_enabled=False)


@mutant(p.OPEN, kills_many=_EACH_ROW)
def snfs_always_caches(call: Open) -> p.Openopres:
    """OPEN always enables caching"""
    return amend(call.proceed(), cache_enabled=True)


@mutant(p.OPEN, kills_many=_EACH_ROW)
def snfs_calls_nobody(call: Open) -> p.Openopres:
    """OPEN succeeds without any callback"""
    with swapped(table_of(call), plan_open=calls_nobody):
        return call.proceed()


@mutant(p.OPEN, kills_many=_EACH_ROW)
def snfs_calls_in_another_mode(call: Open) -> p.Openopres:
    """Callbacks ask to write back where they should ask to drop blocks, and the other way round"""
    with swapped(calling, MODES=_OTHER_MODES):
        return call.proceed()


@mutant(p.OPEN, kills_many=_EACH_ROW)
def snfs_calls_everybody(call: Open) -> p.Openopres:
    """OPEN has every client drop what it has cached of the file, whoever has it open"""
    inode = file_of(call)
    for channel in {*table_of(call).channels.values(), call.context.channel}:
        if inode is not None and channel is not None and channel.is_open:
            arguments = p.Callbackargs(call.args.file, CbMode.SNFS_CBINVAL, 0, fattr(inode))
            with contextlib.suppress(NfsClientError):
                channel.call(p.CALLBACK, arguments, lambda _pending: None, timeout=1.0)
    return call.proceed()


@mutant(p.OPEN, kills_many=_EACH_ROW)
def snfs_open_is_not_counted(call: Open) -> p.Openopres:
    """OPEN makes its callbacks, and leaves the file closed"""
    reply = call.proceed()
    inode = file_of(call)
    if inode is not None:
        table_of(call).forget(inode)
    return reply


@mutant(p.OPEN)
def snfs_open_for_write_ends_reading(call: Open) -> p.Openopres:
    """OPEN for writing ends the opens for reading of the same client"""
    reply, block = call.proceed(), block_of(call)
    if call.args.write_mode and block is not None and reply.openok is not None:
        block.readers = 0
    return reply


def _is_shared(call: Open) -> bool:
    entry = entry_of(call)
    return entry is not None and entry.state is State.WRITE_SHARED


@mutant(p.OPEN)
def snfs_shared_opens_again_with_a_cache(call: Open) -> p.Openopres:
    """OPEN of a shared file by a client that has it open enables caching"""
    block = block_of(call)
    has_it = _is_shared(call) and block is not None and block.is_open
    return amend(call.proceed(), cache_enabled=True) if has_it else call.proceed()


@mutant(p.OPEN)
def snfs_shared_is_cached_by_newcomers(call: Open) -> p.Openopres:
    """OPEN of a shared file for reading by a client that is new to it enables caching"""
    is_new = _is_shared(call) and block_of(call) is None and not call.args.write_mode
    return amend(call.proceed(), cache_enabled=True) if is_new else call.proceed()


@mutant(p.CLOSE, kills_many=_EACH_ROW)
def snfs_close_is_not_counted(_call: Close) -> p.Closeopres:
    """CLOSE does nothing"""
    return p.Closeopres(Snfsstat.NFS_OK)


@mutant(p.CLOSE)
def snfs_close_for_write_is_final(call: Close) -> p.Closeopres:
    """CLOSE of the last open for writing ends those for reading, too"""
    entry, block = entry_of(call), block_of(call)
    reply = call.proceed()
    if entry is not None and block is not None and entry.state is State.ONE_RDRDIRTY:
        block.readers, entry.state = 0, State.CLOSED_DIRTY
    return reply

# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/snfs/test_callback.py catch."""

from __future__ import annotations

import dataclasses
import typing as t

from nfsclient.protocol import nfs2
from nfsclient.protocol import snfs as p
from nfsclient.protocol.nfs2 import Nfsstat2
from nfsclient.protocol.snfs import Snfsstat
from nfsclient.xdr import replace
from nfsmutants.bending import amend, count
from nfsmutants.form import Message, mutant, wire_mutant
from nfsmutants.snfs.bending import (
    Close,
    Open,
    Write,
    block_of,
    caller_of,
    calls_nobody,
    entry_of,
    file_of,
    is_locked,
    regardless,
    swapped,
    table_of,
)
from nfsserver.fs import Inode
from nfsserver.middleware import Answer
from nfsserver.nfs2.common import fattr
from nfsserver.server import Server
from nfsserver.snfs import calling
from nfsserver.state.transitions import TABLE, Callback, State, When, Who, find, may_cache
from nfsserver.waiting import Waits

_FEW: t.Final = 4
_WHEN: t.Final = {False: When.OPEN_FOR_READ, True: When.OPEN_FOR_WRITE}


# ---------------------------------------------------------------- what a callback says


@mutant(p.OPEN)
def snfs_callback_has_mdev_zero(call: Open) -> p.Openopres:
    """Callbacks have mdev 0"""
    return call.proceed_with(mdev=0)


def _of_another(inode: Inode) -> nfs2.Fattr:
    return replace(fattr(inode), fileid=inode.fileid + 1)


@mutant(p.OPEN)
def snfs_callback_has_another_fileid(call: Open) -> p.Openopres:
    """Callbacks have the fileid of another file in their attributes"""
    with swapped(calling, fattr=_of_another):
        return call.proceed()


@mutant(p.OPEN)
def snfs_callback_has_another_handle(call: Open) -> p.Openopres:
    """Callbacks have the handle of the export"""
    backend = call.backend
    root = backend.handle_of(backend.fs.root)
    with swapped(backend, handle_of=lambda _inode: root):
        return call.proceed()


# ---------------------------------------------------------------- what waits


@mutant(p.OPEN)
def snfs_open_does_not_wait(call: Open) -> p.Openopres:
    """OPEN makes its callbacks, and does not wait for the replies"""
    try:
        return call.proceed()
    except Waits:
        entry = entry_of(call)
        if entry is None:
            raise
    entry.calls.clear()
    return regardless(call, entry)


@mutant(p.OPEN)
def snfs_open_does_not_wait_for_readers(call: Open) -> p.Openopres:
    """OPEN waits for those that write back, and not for those that only drop what they have cached"""
    try:
        return call.proceed()
    except Waits:
        entry = entry_of(call)
        if entry is None or any(Callback.WRITE_BACK in each.asks for each in entry.calls.values()):
            raise
    entry.calls.clear()
    return regardless(call, entry)


@mutant(p.OPEN)
def snfs_first_reply_is_enough(call: Open) -> p.Openopres:
    """OPEN succeeds when the first of several clients has returned from its callback"""
    entry, waiting = entry_of(call), (caller_of(call), call.context.xid)
    called = call.state.get(waiting)
    if entry is None or called is None or len(entry.calls) == called:
        try:
            return call.proceed()
        except Waits:
            call.state.setdefault(waiting, 0 if entry is None else len(entry.calls))
            raise
    entry.calls.clear()
    return regardless(call, entry)


@mutant(p.OPEN)
def snfs_waiting_opens_see_the_old_state(call: Open) -> p.Openopres:
    """OPEN that has waited uses the state that the file had when it came"""
    entry, waiting = entry_of(call), (caller_of(call), call.context.xid)
    if entry is None or entry.is_locked or waiting not in call.state:
        state = None if entry is None else entry.state
        try:
            return call.proceed()
        except Waits:
            call.state.setdefault(waiting, state)
            raise
    row = find(TABLE, call.state[waiting], _WHEN[call.args.write_mode], Who.OTHER)
    with swapped(table_of(call), plan_open=calls_nobody):
        return amend(call.proceed(), cache_enabled=row is not None and may_cache(row.after))


@mutant(p.WRITE)
def snfs_refuses_writes_meanwhile(call: Write) -> nfs2.Attrstat:
    """WRITE is refused while the client is called for a write-back"""
    return nfs2.Attrstat(Nfsstat2.NFSERR_IO) if is_locked(call) else call.proceed()


@mutant(p.WRITE)
def snfs_serves_few_writes_meanwhile(call: Write) -> nfs2.Attrstat:
    """Of a write-back, the first four WRITEs are served"""
    if is_locked(call) and count(call.state) > _FEW:
        return nfs2.Attrstat(Nfsstat2.NFSERR_IO)
    return call.proceed()


@mutant(p.WRITE)
def snfs_write_back_is_lost(call: Write) -> nfs2.Attrstat:
    """WRITE succeeds without effect while the client is called for a write-back"""
    inode = file_of(call)
    if inode is not None and is_locked(call):
        return nfs2.Attrstat(Nfsstat2.NFS_OK, fattr(inode))
    return call.proceed()


@mutant(p.OPEN)
def snfs_attributes_of_before_the_callback(call: Open) -> p.Openopres:
    """OPEN that waits for a callback returns the attributes of before"""
    inode = file_of(call)
    if inode is None:
        return call.proceed()
    before = call.state.setdefault((caller_of(call), call.context.xid), fattr(inode))
    return amend(call.proceed(), attributes=before)


@mutant(p.OPEN)
def snfs_one_callback_stops_all(call: Open) -> p.Openopres:
    """While a callback is under way, no other file is opened"""
    mine = entry_of(call)
    others = (entry for entry in table_of(call).entries.values() if entry is not mine)
    if any(entry.is_locked for entry in others):
        return p.Openopres(Snfsstat.NFSERR_IO)
    return call.proceed()


# ---------------------------------------------------------------- the lock of an entry


@mutant(p.CLOSE)
def snfs_closes_meanwhile(call: Close) -> p.Closeopres:
    """CLOSE does not wait for a callback about the file"""
    entry = entry_of(call)
    if entry is None or not entry.is_locked:
        return call.proceed()
    under_way, entry.calls = entry.calls, {}
    try:
        return call.proceed()
    finally:
        entry.calls = under_way


@mutant(p.OPEN)
def snfs_opens_meanwhile(call: Open) -> p.Openopres:
    """OPEN does not wait for the callback of another OPEN"""
    entry = entry_of(call)
    if entry is None or not entry.is_locked or (caller_of(call), call.context.xid) in entry.waiting:
        return call.proceed()
    return regardless(call, entry)


@mutant(p.OPEN)
def snfs_opens_of_the_called_go_on(call: Open) -> p.Openopres:
    """OPEN by a client that is called does not wait for its callback"""
    entry = entry_of(call)
    if entry is None or caller_of(call) not in entry.calls:
        return call.proceed()
    return regardless(call, entry)


@mutant(p.OPEN)
def snfs_waiting_opens_count_once(call: Open) -> p.Openopres:
    """Of several OPENs that wait for the same callback, one counts"""
    entry, waiting = entry_of(call), (caller_of(call), call.context.xid)
    has_waited = entry is not None and waiting in entry.waiting
    reply = call.proceed()
    entry = entry_of(call)
    if has_waited and entry is not None and count(call.state) > 1:
        table_of(call).close(entry, caller_of(call), writes=call.args.write_mode)
    return reply


# ---------------------------------------------------------------- retransmissions


def _covers_nothing(_message: bytes, **_options: bool) -> bool:
    """In place of `covers` of the replay cache."""
    return False


def _run_again(message: Message, procedure: int) -> Answer:
    """The answer to a call that is executed again although it was executed before."""
    server = t.cast("Server", message.server)
    called = message.data[12:24]
    if called != b"".join(word.to_bytes(4, "big") for word in (p.PROGRAM, p.VERSION, procedure)):
        return message.proceed()
    with swapped(server.messages.replays, covers=_covers_nothing):
        return message.proceed()


@wire_mutant()
def snfs_repeated_open_counts_twice(message: Message) -> Answer:
    """An OPEN that is sent again is executed again"""
    return _run_again(message, p.OPEN.number)


@mutant(p.OPEN)
def snfs_repeated_open_waits_twice(call: Open) -> p.Openopres:
    """An OPEN that is sent again while it waits counts twice when the callback is over"""
    waiting = caller_of(call), call.context.xid
    try:
        reply = call.proceed()
    except Waits:
        call.state[waiting] = call.state.get(waiting, 0) + 1
        raise
    entry, block = entry_of(call), block_of(call)
    if entry is not None and block is not None and call.state.get(waiting, 0) > 1:
        block.readers += 1
    return reply


@wire_mutant()
def snfs_repeated_close_counts_twice(message: Message) -> Answer:
    """A CLOSE that is sent again is executed again"""
    return _run_again(message, p.CLOSE.number)


@mutant(p.OPEN)
def snfs_closed_status_of_a_reader_is_ignored(call: Open) -> p.Openopres:
    """A client that only reads, and says in a callback that it has closed the file, counts as having it open"""
    return _counts_on(call, (State.ONE_READER, State.MULT_READERS))


@mutant(p.OPEN)
def snfs_closed_status_is_ignored(call: Open) -> p.Openopres:
    """A client that says in a callback that it has closed the file still counts as having it open"""
    return _counts_on(call, (State.ONE_WRITER,))


def _counts_on(call: Open, states: tuple[State, ...]) -> p.Openopres:
    entry, waiting = entry_of(call), (caller_of(call), call.context.xid)
    if entry is None or (waiting not in call.state and entry.state not in states):
        return call.proceed()
    if waiting in call.state and not entry.is_locked:
        entry.state, blocks = call.state.pop(waiting)
        for block in blocks.values():
            table_of(call).put(entry, block)
        return call.proceed()
    blocks = {key: dataclasses.replace(block, settled=Callback.BOTH) for key, block in entry.blocks.items()}
    state = entry.state
    try:
        return call.proceed()
    except Waits:
        call.state.setdefault(waiting, (state, blocks))
        raise

# SPDX-License-Identifier: MIT
"""Callbacks of Spritely NFS, and what waits for them (sections 3.2, 4.3.4 and 6.1 of its paper).

The state table is `nfsserver.state.spritely`; this module sends for it.

    state of a callback     what comes next
    under way               a reply: the table learns what was done, and the open goes on; no reply in time: sent again
                            if the client has written to the file meanwhile, else given up
    without a connection    the client connects again: sent; not in time: given up
    given up                the client counts as dead for this file; the open succeeds, and says so

What must stay true:

- Nothing waits here. What needs a callback raises `Waits` before it has changed anything, and is answered again; over
  UDP it is not answered, and the client sends it again.
- The entry is locked meanwhile. Reads and writes are no opens: they are served, or the client could not write back.
- A callback can be made again, so one that may have been lost is (section 3.2).
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from nfsclient.errors import ConnectionLost, NfsClientError, RpcTimeout
from nfsclient.protocol import snfs as p
from nfsclient.protocol.snfs import CbMode, Snfsstat
from nfsclient.rpc.core import Pending
from nfsclient.rpc.service import CallContext
from nfsserver.fs import Inode, Kind
from nfsserver.handlers import ServerApi
from nfsserver.nfs2.common import fattr
from nfsserver.state.spritely import NFS, Entry, Key
from nfsserver.state.stateids import StateError
from nfsserver.state.transitions import Callback
from nfsserver.waiting import Waits

_MOST_REPEATS: t.Final = 100
"""How often a callback is made again at most: no client may keep a file closed to others for ever."""
MODES: t.Final = {
    Callback.WRITE_BACK: CbMode.SNFS_CBWRITE,
    Callback.INVALIDATE: CbMode.SNFS_CBINVAL,
    Callback.BOTH: CbMode.SNFS_WRINVAL,
}


_ENDS: t.Final = (Snfsstat.NFS_OK, Snfsstat.SNFS_CLOSED, Snfsstat.NFSERR_STALE)
"""Replies of clients that have nothing more to write back."""


class Silent(Exception):
    """A call has to wait and cannot: it gets no answer, and its client sends it again."""


def key_of(context: CallContext) -> Key:
    """Who calls: a client is the address that its calls come from (section 4.3.2)."""
    return (*context.peer, context.transport)


def _now(server: ServerApi) -> float:
    loop = server.dialer.loop
    return 0.0 if loop is None else loop.clock()


@dataclass(eq=False)
class Calling:
    """One callback: to one client, about one file."""

    server: ServerApi
    entry: Entry
    key: Key
    asks: Callback
    until: float
    """When it is given up if the client has no connection, by the clock of the loop."""
    is_under_way: bool = False
    is_refused: bool = False
    """Whether its client has answered with an error, and gets the rest of its time."""
    sent: int = 0
    """How often it was made."""

    def send(self) -> None:
        """Send it, if the client has a connection."""
        server, block = self.server, self.entry.blocks.get(self.key)
        channel = server.spritely.channels.get(self.key)
        if channel is None or not channel.is_open or block is None or self.sent > _MOST_REPEATS:
            return
        inode: Inode = self.entry.file
        handle = server.backend.handle_of(inode)
        arguments = p.Callbackargs(handle, MODES[self.asks], block.mdev, fattr(inode))
        seconds = server.knobs.now.snfs_callback_timeout
        try:
            channel.call(p.CALLBACK, arguments, self._done, timeout=seconds)
        except NfsClientError:
            return
        self.until, self.is_under_way, block.wrote = _now(server) + seconds, True, False
        self.sent += 1

    def _done(self, pending: Pending[p.Cbackopres]) -> None:
        self.is_under_way = False
        block = self.entry.blocks.get(self.key)
        if self.entry.calls.get(self.key) is not self or block is None:
            return  # the service has restarted, or the file is gone
        if isinstance(pending.error, ConnectionLost):
            self.until = _now(self.server) + self.server.knobs.now.snfs_callback_timeout
            self.send()  # where the client has connected again
        elif isinstance(pending.error, RpcTimeout) and block.wrote and self.sent <= _MOST_REPEATS:
            self.send()
        else:
            self._judge_reply(pending)

    def _judge_reply(self, pending: Pending[p.Cbackopres]) -> None:
        status = None if pending.result is None else pending.result.status
        waits = self.server.knobs.now.snfs_waits_after_error and not isinstance(pending.error, RpcTimeout)
        if waits and status not in _ENDS:
            self.is_refused = True  # `look` gives it up
        else:
            self._judge(status)

    def _judge(self, status: Snfsstat | None) -> None:
        table = self.server.spritely
        if status == Snfsstat.NFS_OK:
            table.end_call(self.entry, self.key, self.asks)
        elif status in _ENDS:
            table.end_call_closed(self.entry, self.key)
        else:
            table.give_up(self.entry, self.key, lost=Callback.WRITE_BACK in self.asks)
        self.server.waiting.wake()

    def look(self) -> None:
        """Send it if the client is there again; give it up if the time is over."""
        if not self.is_under_way and not self.is_refused:
            self.send()
        if not self.is_under_way and _now(self.server) >= self.until:
            self._judge(None)


def call(server: ServerApi, entry: Entry, key: Key, asks: Callback) -> None:
    """Make a callback, and lock the entry until it is over."""
    until = _now(server) + server.knobs.now.snfs_callback_timeout
    entry.calls[key] = calling = Calling(server, entry, key, asks, until)
    calling.send()


def look(entry: Entry) -> None:
    """Go on with the callbacks about a file whose client has no connection."""
    for calling in list(entry.calls.values()):
        calling.look()


def make_way(server: ServerApi, entry: Entry, key: Key, *, writes: bool) -> bool:
    """Make the callbacks that an open needs; whether it has to wait for them, or for those of another one."""
    look(entry)
    if not entry.is_locked:
        for other, asks in server.spritely.plan_open(entry, key, writes=writes).items():
            call(server, entry, other, asks)
    return entry.is_locked


def wait(server: ServerApi) -> t.NoReturn:
    """The call is answered later: the same one, or over UDP the one that comes again (section 3.2)."""
    if server.waiting.has_room:
        raise Waits
    raise Silent


# ---------------------------------------------------------------- other versions of NFS


def clear_caches(server: ServerApi, inode: Inode, *, changes: bool) -> None:
    """An access by another version counts as an open by a client without a cache (section 6.1).

    Raises DELAY, or `Waits`, while callbacks for it are under way. While the server recovers it raises DELAY only: that
    may last longer than a client waits for a reply.
    """
    table = server.spritely
    if inode.kind is not Kind.REGULAR or not table.is_watching:
        return
    if table.is_recovering:
        raise StateError("DELAY")
    entry = table.entry(inode)
    if entry is None:
        table.nfs_seen(inode, writes=changes)
        return
    if not entry.is_locked and table.nfs_block(entry, writes=changes):
        return
    if make_way(server, entry, NFS, writes=changes):
        _put_off(server)
    table.nfs_open(entry, writes=changes)


def _put_off(server: ServerApi) -> t.NoReturn:
    if server.waiting.may_wait:
        raise Waits
    raise StateError("DELAY")

# SPDX-License-Identifier: MIT
"""Clients of Spritely NFS that play with one file: each on its own connection, where it answers callbacks.

A server calls before it answers the open of another client, so who opens waits on the loop that all connections share,
and the callbacks of the others are answered meanwhile. A check that wants something to happen between a callback and
its reply withholds replies (`holding`), starts the open without waiting for it (`Player.start`), and ends it later.
"""

from __future__ import annotations

import contextlib
import socket
import typing as t
from collections.abc import Callable
from dataclasses import dataclass

from fixtures.checks.side_by_side import Wait, Waiting
from nfsclient.clients.snfs import Snfs, SnfsCallbacks
from nfsclient.errors import RpcTimeout
from nfsclient.protocol import snfs as p
from nfsclient.protocol.snfs import CbMode, Snfsstat
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending
from nfsjudge import Requirement, expect, expect_that, skip
from suites.snfs.clauses import CALLBACK_COMES

_RECLAIMED: t.Final = 1.0
"""Seconds in which a server that reclaims closed files early has done so."""
ARRIVES: t.Final = 5.0
"""Seconds for a callback to come, or for a server to give one up; more where a call may take longer."""
_MDEVS: t.Final = 0x5000_0000


class Player:
    """One client."""

    def __init__(self, rpc: RpcClient, number: int) -> None:
        self.rpc = rpc
        self.snfs = Snfs(rpc)
        self.callbacks = SnfsCallbacks(rpc)
        self.mdev = _MDEVS + number
        """What it says in each OPEN."""
        self.excuse = ""
        """Why an OPEN may get no reply in time, if it may."""
        self._port: socket.socket | None = None

    # ------------------------------------------------------------ calls that must succeed

    def open(self, file: bytes, *, write: bool = False) -> p.Openok:
        """OPEN. It fails the check if it is refused."""
        return expect(self.try_open(file, write=write)).ok()

    def try_open(self, file: bytes, *, write: bool = False) -> p.Openopres:
        """OPEN, whatever comes."""
        return self.end(self.start(file, write=write))

    def close(self, file: bytes, *, write: bool = False) -> None:
        """CLOSE. It fails the check if it is refused."""
        expect(self.snfs.close(file, write_mode=write)).ok()

    def write(self, file: bytes, data: bytes, offset: int = 0) -> None:
        """WRITE. It fails the check if it is refused."""
        expect(self.snfs.write(file, offset, data)).ok()

    def read(self, file: bytes) -> bytes:
        """The beginning of a file, by READ."""
        found = expect(self.snfs.read(file, 0, 4096)).ok()
        return bytes(found.data)

    def makes_dirty(self, file: bytes) -> int:
        """Open for writing, and close: it is the last writer. The version."""
        version = self.open(file, write=True).cache_version
        self.close(file, write=True)
        self.need_dirty()
        return version

    def need_dirty(self) -> None:
        """SKIP where the server has had a closed file written back that nobody has opened since."""
        if CbMode.SNFS_CBWRITE in self.called:
            skip(_IS_RECLAIMED)

    # ------------------------------------------------------------ calls that take their time

    def start(self, file: bytes, *, write: bool = False, xid: int | None = None) -> Pending[p.Openopres]:
        """OPEN without waiting for its reply, which may take longer than others."""
        arguments = p.Openargs(file, self.mdev, write)
        return self.rpc.submit(p.OPEN, arguments, xid=xid, timeout=self.patience)

    def start_close(
        self, file: bytes, *, write: bool = False, xid: int | None = None
    ) -> Pending[p.Closeopres]:
        """CLOSE without waiting for its reply."""
        return self.rpc.submit(p.CLOSE, p.Closeargs(file, write), xid=xid)

    def end(self, pending: Pending[p.Openopres]) -> p.Openopres:
        """The reply to `start`."""
        try:
            return self.rpc.wait(pending)
        except RpcTimeout:
            if self.excuse:
                skip(self.excuse)
            raise

    def end_or_skip(self, pending: Pending[p.Openopres]) -> p.Openok:
        """The results of an OPEN that had to wait. SKIP where it was refused instead."""
        reply = self.end(pending)
        if reply.status != Snfsstat.NFS_OK or reply.openok is None:
            skip(f"OPEN, which had to wait for the reply to a callback, ended with {reply.status}")
        return reply.openok

    # ------------------------------------------------------------ callbacks

    @property
    def called(self) -> list[CbMode]:
        """The modes of the callbacks that have come, repetitions left out: one may be made again (section 3.2).

        Write back and then invalidate is as good as both in one.
        """
        self.rpc.loop.catch_up()
        found: list[CbMode] = []
        in_steps = False
        for each in self.callbacks.received:
            if found and found[-1] == CbMode.SNFS_CBWRITE and each.cbmode == CbMode.SNFS_CBINVAL:
                found[-1], in_steps = CbMode.SNFS_WRINVAL, True
            elif in_steps and found[-1] == CbMode.SNFS_WRINVAL and each.cbmode != CbMode.SNFS_WRINVAL:
                continue  # one of the two again
            elif not found or found[-1] != each.cbmode:
                found.append(each.cbmode)
        return found

    def forget(self) -> None:
        """What came so far is of no interest."""
        self.rpc.loop.catch_up()
        self.callbacks.received.clear()

    def await_call(self) -> p.Callbackargs:
        """The callback that must come now."""
        callbacks, until = self.callbacks, self.rpc.loop.clock() + self.patience
        self.rpc.loop.run_until(lambda: bool(callbacks.received), until)
        expect_that(
            bool(callbacks.received), "a callback", "none", because=CALLBACK_COMES, operation="CALLBACK"
        )
        return callbacks.received[-1]

    @property
    def patience(self) -> float:
        """Seconds for what a server may take its time for."""
        return max(ARRIVES, self.rpc.timeout)

    def keep_port(self) -> None:
        """Let no other program have the port of this client while it is not connected."""
        host, port = self.rpc.local_address
        self._port = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self._port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            self._port.bind((host, port))

    def release_port(self) -> None:
        """The port is as free as any other."""
        if self._port is not None:
            self._port.close()
            self._port = None

    def go_down(self) -> None:
        """End the connection without a word."""
        self.keep_port()
        self.rpc.abort()

    def come_again(self) -> None:
        """Connect again from the same port, as the same client. SKIP where that is not free."""
        port = self.rpc.local_address[1]
        self.rpc.reconnect(same_port=True)
        self.release_port()
        if self.rpc.local_address[1] != port:
            skip("the port of the client is not free any more, and from another one it is another client")
        self.callbacks = SnfsCallbacks(self.rpc)


_IS_RECLAIMED: t.Final = (
    "the server had a closed file written back already: it may when entries run low (section 4.3.1)"
)


@dataclass
class Table:
    """A file, and four clients that share it. `a` is the client that has something first."""

    file: bytes
    spare: Callable[[], bytes]
    """Makes another file."""
    a: Player
    b: Player
    c: Player
    viewer: Player
    """Opens it when all others have done what they do: then it shows in which state the file was."""

    @property
    def players(self) -> tuple[Player, Player, Player, Player]:
        """All of them."""
        return self.a, self.b, self.c, self.viewer

    def forget(self) -> None:
        """The callbacks of the arrangement are of no interest."""
        for player in self.players:
            player.forget()

    def allow_reclaiming(self) -> None:
        """SKIP where an SNFS_CBWRITE that should not have come may be an early reclaim of a closed file.

        It is one on a server that has a file written back, too, which nobody opens: that is tried, where it matters.
        """
        if not any(CbMode.SNFS_CBWRITE in player.called for player in self.players):
            return
        file, loop = self.spare(), self.a.rpc.loop
        self.a.open(file, write=True)
        later = self.a.callbacks.received
        before = len(later)
        self.a.close(file, write=True)
        if loop.run_until(lambda: len(later) > before, loop.clock() + _RECLAIMED):
            skip(_IS_RECLAIMED)

    @property
    def called(self) -> dict[str, list[str]]:
        """Player -> modes of the callbacks that it got; who got none is left out."""
        names = ("a", "b", "c", "viewer")
        found = {name: player.called for name, player in zip(names, self.players, strict=True)}
        return {name: [mode.name for mode in modes] for name, modes in found.items() if modes}


def arrange(table: Table, state: str) -> None:
    """Bring a file that is closed into a state of table 1."""
    file, a, b = table.file, table.a, table.b
    if state in ("CLOSED_DIRTY", "ONE_RDRDIRTY"):
        a.makes_dirty(file)
    if state in ("ONE_READER", "ONE_RDRDIRTY", "MULT_READERS"):
        a.open(file)
    if state == "MULT_READERS":
        b.open(file)
    if state in ("ONE_WRITER", "WRITE_SHARED"):
        a.open(file, write=True)
    if state == "WRITE_SHARED":
        b.open(file)
    if state == "CLOSED_DIRTY":
        a.need_dirty()
    elif state == "ONE_RDRDIRTY":
        table.allow_reclaiming()
    table.forget()


SHOWN: t.Final[dict[str, tuple[bool, str]]] = {
    "CLOSED": (True, ""),
    "CLOSED_DIRTY": (True, "SNFS_WRINVAL"),
    "ONE_READER": (False, "SNFS_CBINVAL"),
    "ONE_RDRDIRTY": (True, "SNFS_CBWRITE"),
    "MULT_READERS": (False, "SNFS_CBINVAL"),
    "ONE_WRITER": (False, "SNFS_WRINVAL"),
    "WRITE_SHARED": (False, ""),
}
"""What the next open by a client that has nothing finds in each state: whether it may cache, and the callback to each
client that has something. It is for reading where it is to tell a writer from a reader with dirty blocks."""
_READ_TO_SEE: t.Final = ("ONE_RDRDIRTY", "ONE_WRITER")


def expect_state(table: Table, state: str, because: Requirement, *, having: str = "") -> None:
    """Judge in which state a file is, by what the next open does: by `viewer`, who has nothing.

    `having`: who has something, and is called: ``bc``. Usually `a`, and `b` where there are several.
    """
    caches, mode = SHOWN[state]
    having = (having or ("ab" if state == "MULT_READERS" else "a")) if mode else ""
    if "DIRTY" in state:
        table.allow_reclaiming()
    _expect_next(
        table, "viewer", state not in _READ_TO_SEE, state, (caches, dict.fromkeys(having, mode)), because
    )
    if state == "ONE_RDRDIRTY":  # which still reads; so far it could have been closed
        opener = "c" if having == "b" else "b"
        both = dict.fromkeys((having, "viewer"), "SNFS_CBINVAL")
        _expect_next(table, opener, True, state, (False, both), because)


def _expect_next(
    table: Table,
    opener: str,
    writes: bool,
    state: str,
    shown: tuple[bool, dict[str, str]],
    because: Requirement,
) -> None:
    table.forget()
    opened = getattr(table, opener).open(table.file, write=writes)
    wanted = _words(shown[0], {name: [mode] for name, mode in shown[1].items()})
    seen = _words(opened.cache_enabled, table.called)
    if state == "CLOSED_DIRTY" and seen != wanted:
        table.allow_reclaiming()
    expect_that(
        seen == wanted, f"{wanted} at the next OPEN, as in {state}", seen, because=because, operation="OPEN"
    )


def _words(caches: bool, called: dict[str, list[str]]) -> str:
    return f"caching {'enabled' if caches else 'disabled'}, {in_words(called)}"


def in_words(called: dict[str, list[str]]) -> str:
    """Who was called for what."""
    return (
        ", ".join(f"{' '.join(modes)} to {name}" for name, modes in sorted(called.items())) or "no callbacks"
    )


def still_waits(
    pending: Pending[t.Any],
    others: Player,
    file: bytes,
    operation: str = "OPEN",
    *,
    called: Player | None = None,
) -> None:
    """Judge that a call waits: a reply to it would have come before that to a call by another client.

    SKIP where it has ended without success (a server may refuse what it would have to wait for), or where the server
    has given the client up that is called: how long it waits is its choice (section 3.2). `called`: that client, if it
    has the file open; when it was given up, a READ of it is refused.
    """
    expect(others.snfs.getattr(file)).ok()
    if not pending.done:
        return
    status = None if pending.result is None else pending.result.status
    if status != Snfsstat.NFS_OK:
        skip(f"{operation} did not wait for the reply to the callback: it ended with {status}")
    if called is not None and called.snfs.read(file, 0, 1).resok is None:
        skip("the server has given up the client that it calls: how long it waits is its choice")
    expect_that(False, f"no reply to {operation} before that to the callback", "a reply", operation=operation)


def silence(player: Player) -> None:
    """It gets callbacks from now on, and answers none."""
    player.callbacks.silent = True


def given_up(player: Player, pending: Pending[p.Openopres]) -> Waiting[p.Openopres]:
    """The reply to an open that waits for a callback which nobody answers.

    SKIP where the server has more patience than the caller: section 3.2 lets the open time out, and come again.
    """
    loop = player.rpc.loop
    yield Wait(pending.deadline - loop.clock(), lambda: pending.done)
    try:
        return player.rpc.wait(pending)
    except RpcTimeout:
        skip("the server waits longer for a callback than a call may take")


Play: t.TypeAlias = Callable[[], Table]
HONORED: t.Final = (Snfsstat.NFS_OK, Snfsstat.SNFS_INCONSISTENT)
"""How an open succeeds."""

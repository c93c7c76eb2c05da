# SPDX-License-Identifier: MIT
"""Any program of three clients of Spritely NFS on one server: a read returns the last write of anybody.

That holds while connections end and the server restarts or crashes, because all that waits is in the clients. When a
client dies, or is given up, what it had not written is lost, in part or whole, and nothing else: as with a local file
system of UNIX (section 2.4).

Events within a call come from a `Bystander`, which opens files while a client is in the middle of something.
"""

from __future__ import annotations

import contextlib
import typing as t
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from nfsclient.clients.snfs import SnfsCallbacks
from nfsclient.errors import NfsClientError
from nfsclient.highlevel.snfs import NfsClient, NfsFile, StateLost
from nfsclient.protocol import nfs2
from nfsclient.protocol import snfs as p
from nfsclient.xdr import Void
from nfsfaults import actions as a
from nfsfaults.inside import Inside
from nfsfaults.plan import Link, Plan, Rule, Selector
from tests.nfsclient.snfs_stage import BLOCK, Stage

_NAMES = ("f", "g", "h")
_CLIENTS = 3
_MOST_OPEN = 3
_OFFSETS = st.integers(0, 4 * BLOCK)
_DATA = st.binary(min_size=1, max_size=2 * BLOCK + 3)
_WHO = st.integers(0, _CLIENTS - 1)
_WHICH = st.sampled_from(_NAMES)
_MODES = st.sampled_from(["r", "r+", "a"])
_KNOBS = st.fixed_dictionaries(
    {
        "conflicts": st.sampled_from(["delay", "wait"]),
        "snfs_versions": st.sampled_from(["file", "counter"]),
        "snfs_version_step": st.sampled_from([1, 64]),
        "snfs_recovery": st.sampled_from(["refuse", "wait"]),
    }
)
_WITHIN = st.sampled_from([p.READ, p.WRITE, p.SETATTR, p.OPEN, p.CLOSE, p.GETATTR, p.REOPEN])


class Kept(bytearray):
    """What a file has, by anybody's last write, under all its names."""


class Opened(t.NamedTuple):
    """A file object of a client."""

    who: int
    kept: Kept
    file: NfsFile
    mode: str


class Bystander:
    """Somebody who opens a file in the middle of what another client does, without anybody waiting for that."""

    def __init__(self, stage: Stage) -> None:
        self.rpc = stage.raw()
        self._stage = stage
        self._callbacks = SnfsCallbacks(self.rpc)
        self._armed: object = None
        self._is_at_work = self._has_begun = False

    def arm(self, procedure: t.Any, handle: bytes, data: bytes = b"", offset: int = 0) -> None:
        """OPEN, WRITE of `data` if there is any, and CLOSE, once, within the next call of a procedure."""
        self._armed = this = object()
        self._has_begun = False

        def begin() -> None:
            if self._armed is this and self.rpc.is_open:
                self._is_at_work = self._has_begun = True
                self._go(p.OPEN, p.Openargs(handle, 0, bool(data)), write if data else close)

        def write() -> None:
            self._go(p.WRITE, nfs2.Writeargs(handle, 0, offset, 0, data), close)

        def close() -> None:
            self._go(p.CLOSE, p.Closeargs(handle, bool(data)), end)

        def end() -> None:
            self._is_at_work = False

        self._stage.during(procedure, begin)

    def _go(self, procedure: t.Any, args: t.Any, then: t.Callable[[], None]) -> None:
        def answered(pending: t.Any) -> None:
            assert pending.result is not None, pending.error
            # Of a client that has died, the server does not know whether it had written everything.
            assert pending.result.status in {p.Snfsstat.NFS_OK, p.Snfsstat.SNFS_INCONSISTENT}
            then()

        self.rpc.submit(procedure, args).then = answered

    def finish(self) -> bool:
        """Wait for its end; whether it has begun."""
        self._armed = None
        loop = self._stage.loop
        loop.run_until(lambda: not self._is_at_work, loop.clock() + 5)
        assert not self._is_at_work
        return self._has_begun

    def come_back(self) -> None:
        """After a restart."""
        self.rpc.reconnect(same_port=True)
        self.rpc.call(p.RECOVERED, Void())


class SeveralClients(RuleBasedStateMachine):
    """Nobody dies."""

    knobs: t.ClassVar[dict[str, t.Any]] = {}

    @initialize(
        most=st.integers(2, 40),
        delay=st.sampled_from([30.0, 0.0]),
        seed=st.integers(0, 1 << 20),
        knobs=_KNOBS,
    )
    def begin(self, most: int, delay: float, seed: int, knobs: dict[str, t.Any]) -> None:
        self.random = Random(seed)
        self.stage = Stage(**knobs, **self.knobs)
        self.waits = knobs["conflicts"] == "wait"
        self.options: dict[str, t.Any] = {"most": most * BLOCK, "delay": delay}
        self.clients: list[NfsClient] = [self._connect() for _ in range(_CLIENTS)]
        self.files: dict[str, Kept] = {}
        self.open: list[Opened] = []
        self.bystander = Bystander(self.stage)

    def _connect(self) -> NfsClient:
        client = self.stage.client(**self.options)
        client.caching.writes.most = 1  # so that much can happen between the first WRITE and the last
        return client

    # ------------------------------------------------------------ files

    @rule(who=_WHO, name=_WHICH, data=_DATA)
    def create(self, who: int, name: str, data: bytes) -> None:
        """A whole file, left in memory."""
        with self.clients[who].open(name, "w") as file:
            file.write(data)
        self.files.setdefault(name, Kept())[:] = data

    @rule(who=_WHO, name=_WHICH, mode=_MODES)
    def open_file(self, who: int, name: str, mode: str) -> None:
        if name in self.files and len(self.open) < _MOST_OPEN:
            file = self.clients[who].open(name, mode)
            self.open.append(Opened(who, self.files[name], file, mode))

    def _drawn(self, at: int, modes: tuple[str, ...] = ("r", "r+", "a")) -> Opened | None:
        found = [each for each in self.open if each.mode in modes]
        return found[at % len(found)] if found else None

    @rule(at=st.integers(0, 9))
    def close_file(self, at: int) -> None:
        opened = self._drawn(at)
        if opened is not None:
            opened.file.close()
            self.open.remove(opened)

    @rule(at=st.integers(0, 9), offset=_OFFSETS, count=st.integers(1, 3 * BLOCK))
    def read(self, at: int, offset: int, count: int) -> None:
        opened = self._drawn(at, ("r", "r+"))
        if opened is not None:
            opened.file.seek(offset)
            assert opened.file.read(count) == opened.kept[offset : offset + count]

    @rule(at=st.integers(0, 9), offset=_OFFSETS, data=_DATA)
    def write(self, at: int, offset: int, data: bytes) -> None:
        opened = self._drawn(at, ("r+", "a"))
        if opened is not None:
            opened.file.seek(offset)
            opened.file.write(data)
            self._put(opened.kept, len(opened.kept) if opened.mode == "a" else offset, data)

    @staticmethod
    def _put(kept: Kept, offset: int, data: bytes) -> None:
        kept.extend(bytes(max(0, offset - len(kept))))
        kept[offset : offset + len(data)] = data

    @rule(at=st.integers(0, 9), size=_OFFSETS)
    def cut(self, at: int, size: int) -> None:
        opened = self._drawn(at, ("r+", "a"))
        if opened is not None:
            opened.file.truncate(size)
            contents = opened.kept
            del contents[size:]
            contents.extend(bytes(size - len(contents)))

    @rule(at=st.integers(0, 9))
    def size(self, at: int) -> None:
        opened = self._drawn(at)
        if opened is not None:
            assert opened.file.size() == len(opened.kept)

    @rule(at=st.integers(0, 9))
    def flush(self, at: int) -> None:
        opened = self._drawn(at)
        if opened is not None:
            opened.file.flush()

    @rule(who=_WHO, name=_WHICH)
    def read_whole(self, who: int, name: str) -> None:
        if name in self.files:
            assert self.clients[who].read_file(name) == bytes(self.files[name])

    @rule(who=_WHO, name=_WHICH)
    def stat(self, who: int, name: str) -> None:
        """Of a file that is not open here, the server may have less than another client has written."""
        kept = self.files.get(name)
        if kept is not None and any(each.who == who and each.kept is kept for each in self.open):
            found = self.clients[who].stat(name)
            assert found.size == len(kept)
            assert found.nlink == sum(each is kept for each in self.files.values())

    @rule(who=_WHO, name=_WHICH, new=_WHICH)
    def link(self, who: int, name: str, new: str) -> None:
        if name in self.files and new not in self.files:
            self.clients[who].link(name, new)
            self.files[new] = self.files[name]

    @rule(who=_WHO, name=_WHICH)
    def remove(self, who: int, name: str) -> None:
        if name in self.files:
            self.clients[who].remove(name)
            self._lose_name(name)

    @rule(who=_WHO, name=_WHICH, new=_WHICH)
    def rename(self, who: int, name: str, new: str) -> None:
        kept = self.files.get(name)
        if kept is not None and self.files.get(new) is not kept:
            self.clients[who].rename(name, new)
            if new in self.files:
                self._lose_name(new)
            self.files[new] = self.files.pop(name)

    def _lose_name(self, name: str) -> None:
        """A file without a name is stale for who has it open, as in NFS; what waits of it is nobody's loss."""
        kept = self.files.pop(name)
        if any(each is kept for each in self.files.values()):
            return
        for opened in [each for each in self.open if each.kept is kept]:
            with contextlib.suppress(NfsClientError):
                opened.file.flush()
            opened.file.close()
            self.open.remove(opened)

    @rule(version=st.sampled_from(["2", "3", "4.1"]), name=_WHICH)
    def read_by_another_version(self, version: str, name: str) -> None:
        """NFSv2 has no JUKEBOX: unless calls wait, it would get no answer for seconds."""
        if name in self.files and (self.waits or version != "2"):
            with contextlib.closing(self.stage.other(version)) as other:
                assert other.read_file(name) == bytes(self.files[name])

    @rule(name=_WHICH, data=_DATA)
    def write_by_another_version(self, name: str, data: bytes) -> None:
        if name in self.files:
            with contextlib.closing(self.stage.other()) as other:
                other.write_file(name, data)
            self.files[name][:] = data

    # ------------------------------------------------------------ events within a call

    def _arm(self, procedure: t.Any, name: str, data: bytes = b"", offset: int = 0) -> bool:
        """Let somebody open a file in the middle of what comes; whether there is such a file."""
        if name not in self.files:
            return False
        handle = self.clients[0].find(name).handle
        self.bystander.arm(procedure, handle, data, offset)
        return True

    @rule(within=_WITHIN, name=_WHICH, at=st.integers(0, 9), offset=_OFFSETS, size=_OFFSETS, data=_DATA)
    def open_within(self, within: t.Any, name: str, at: int, offset: int, size: int, data: bytes) -> None:
        """Caches are written back and invalidated while their clients read, write and cut."""
        if self._arm(within, name):
            self.write(at, offset, data)
            self.read(at, 0, 5 * BLOCK)
            self.cut(at, size)
            self.read(at, 0, 5 * BLOCK)
            self.bystander.finish()

    @rule(
        within=_WITHIN,
        who=_WHO,
        name=_WHICH,
        data=_DATA,
        seconds=st.sampled_from([0, 31]),
        cuts=st.booleans(),
    )
    def write_within(self, within: t.Any, who: int, name: str, data: bytes, seconds: int, cuts: bool) -> None:
        """Somebody writes while a client writes what waits, or comes back: that is the last write."""
        if self._arm(within, name, data):
            self.stage.pass_time(seconds)
            if cuts:
                self.stage.cut(self.clients[who])
            self.clients[who].sync()
            if self.bystander.finish():
                self._put(self.files[name], 0, data)

    @rule(at=st.integers(0, 9), data=_DATA, other=_DATA)
    def write_within_flush(self, at: int, data: bytes, other: bytes) -> None:
        """Somebody writes to a file of which many blocks are being written."""
        opened = self._drawn(at, ("r+",))
        if opened is None:
            return
        name = next(name for name, kept in self.files.items() if kept is opened.kept)
        opened.file.seek(0)
        opened.file.write(data * 5)
        self._put(opened.kept, 0, data * 5)
        self._arm(p.WRITE, name, other, 4 * len(data))
        opened.file.flush()
        if self.bystander.finish():
            self._put(opened.kept, 4 * len(data), other)

    # ------------------------------------------------------------ time, and what goes wrong

    @rule(seconds=st.integers(1, 40))
    def pass_time(self, seconds: int) -> None:
        self.stage.pass_time(seconds)

    @rule(who=_WHO)
    def sync(self, who: int) -> None:
        self.clients[who].sync()

    @rule(who=_WHO)
    def cut_connection(self, who: int) -> None:
        """The client notices at once; one that does not for too long would be dead."""
        self.stage.cut(self.clients[who])
        self.clients[who].caching.tick()

    @rule(crash=st.booleans())
    def restart(self, crash: bool) -> None:
        """All clients come back at once; one that does not for too long would be dead."""
        if crash:
            self.stage.server.crash()
        else:
            self.stage.server.restart()
        for client in self.clients:
            client.caching.tick()
        self.bystander.come_back()

    def teardown(self) -> None:
        if not hasattr(self, "stage"):
            return
        try:
            for opened in self.open:
                opened.file.close()
            for name, contents in self.files.items():
                for client in self.clients:
                    assert client.read_file(name) == bytes(contents)
            for client in self.clients:
                client.close()
            for name, contents in self.files.items():
                assert self.stage.contents(name) == bytes(contents)
        finally:
            self.stage.close()


class DyingClients(SeveralClients):
    """Clients die with what they have not written."""

    knobs: t.ClassVar[dict[str, t.Any]] = {"snfs_callback_timeout": 0.05}

    def _waiting(self, who: int) -> dict[bytes, list[tuple[int, bytes]]]:
        cache = self.clients[who].caching.cache
        return {
            file.handle: [(extent.offset, extent.data) for extent in cache.extents(file)]
            for file in cache.dirty_files()
        }

    @rule(who=_WHO)
    def die(self, who: int) -> None:
        """The rest of the file is as it was; each byte that waited is new, or what was there before."""
        client, waiting = self.clients[who], self._waiting(who)
        handles = {name: client.find(name).handle for name in self.files} if waiting else {}
        client.session.caller.end()
        client.session.rpc.close()
        self.open = [each for each in self.open if each.who != who]
        self.clients[who] = self._connect()
        for name, handle in handles.items():
            if handle in waiting:
                self._adopt(who, name, waiting[handle])

    @rule(who=_WHO, name=_WHICH)
    def give_up(self, who: int, name: str) -> None:
        """The server gives a living client up for a file. When it comes back, it does not write what has waited."""
        kept, client = self.files.get(name), self.clients[who]
        if kept is None:
            return
        handle = client.find(name).handle
        waiting = self._waiting(who).get(handle, [])
        if not self.stage.give_up(client, name):
            return
        self.stage.cut(client)
        for opened in [each for each in self.open if each.who == who and each.kept is kept]:
            with pytest.raises(StateLost):
                opened.file.size()
            with contextlib.suppress(StateLost):  # of another file object, for data that waited
                opened.file.close()
            self.open.remove(opened)
        with contextlib.suppress(StateLost):
            client.sync()
        self._adopt(who, name, waiting)

    @rule(crash=st.booleans())
    def restart(self, crash: bool) -> None:
        """The server does not wait for the dead for ever."""
        super().restart(crash)
        self.stage.end_recovery()

    def _adopt(self, who: int, name: str, waiting: list[tuple[int, bytes]]) -> None:
        """What is there now counts from now on, where it may."""
        expected, there = self.files[name], self.clients[who].read_file(name)
        lost = {at for offset, data in waiting for at in range(offset, offset + len(data))}
        for at, byte in enumerate(there):
            assert at in lost or byte == expected[at], f"byte {at} was not waiting"
        for at in range(len(there), len(expected)):
            assert at in lost or not expected[at]
        expected[:] = there


class FaultyNetwork(SeveralClients):
    """The network delays, cuts in pieces, and resets connections, by another plan for each client."""

    def _connect(self) -> NfsClient:
        client = super()._connect()
        Inside(self._plan()).attach(client.session.rpc)
        return client

    def _plan(self) -> Plan:
        draw = self.random
        rules = list[Rule]()
        for kind in ("call", "reply"):
            ends: list[a.Action] = [a.Reset(), a.Reset(9), a.Truncate(20), a.Drop("reset")]
            actions: list[a.Action] = [
                a.Delay(draw.choice([0.0, 0.002])),
                a.Segments((draw.choice([1, 7, 40]),)),
                a.Stall(0.002, draw.choice([0, 30])),
                a.Hold(1, 0.002),
                draw.choice(ends),
                draw.choice(ends),
            ]
            if kind == "call":
                actions.append(a.Duplicate())
            action = draw.choice(actions)
            # A client that does nothing does not connect again, so calls are reset that it waits for itself.
            is_reset = action in ends
            operations: tuple[str, ...] = (
                draw.choice(["OPEN", "CLOSE", "READ", "LOOKUP", "SETATTR", "CREATE"]),
            )
            if not is_reset:
                operations = draw.choice([operations, ("WRITE",), ("CALLBACK",), ()])
            every = draw.randint(3, 12) if is_reset else draw.randint(1, 4)
            select = Selector(t.cast("t.Any", kind), operations=operations, every=every)
            rules.append(Rule(select, (action,), must_fire=False))
        return Plan(
            tuple(rules), (Link("server", latency=draw.choice([0.0, 0.001])),), seed=draw.randint(0, 99)
        )


_SETTINGS = settings(
    max_examples=60,
    stateful_step_count=30,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
TestSeveralClients = SeveralClients.TestCase
TestSeveralClients.settings = _SETTINGS
TestDyingClients = DyingClients.TestCase
TestDyingClients.settings = _SETTINGS
TestFaultyNetwork = FaultyNetwork.TestCase
TestFaultyNetwork.settings = settings(_SETTINGS, max_examples=20)

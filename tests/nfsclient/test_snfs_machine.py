# SPDX-License-Identifier: MIT
"""Any program of three clients of Spritely NFS on one server: a read returns the last write of anybody.

That holds while connections end and the server restarts or crashes, because all that waits is in the clients. When a
client dies, what it had not written is lost, in part or whole, and nothing else: as with a local file system of UNIX
(section 2.4).
"""

from __future__ import annotations

import contextlib
import typing as t
from random import Random

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from nfsclient.highlevel.snfs import NfsClient, NfsFile
from nfsfaults import actions as a
from nfsfaults.inside import Inside
from nfsfaults.plan import Link, Plan, Rule, Selector
from tests.nfsclient.snfs_stage import BLOCK, Stage

_NAMES = ("f", "g")
_CLIENTS = 3
_MOST_OPEN = 3
_OFFSETS = st.integers(0, 4 * BLOCK)
_DATA = st.binary(min_size=1, max_size=2 * BLOCK + 3)
_WHO = st.integers(0, _CLIENTS - 1)
_WHICH = st.sampled_from(_NAMES)


class Opened(t.NamedTuple):
    """A file object of a client."""

    who: int
    name: str
    file: NfsFile
    writes: bool


class SeveralClients(RuleBasedStateMachine):
    """Nobody dies."""

    knobs: t.ClassVar[dict[str, t.Any]] = {}

    @initialize(most=st.integers(2, 40), delay=st.sampled_from([30.0, 0.0]), seed=st.integers(0, 1 << 20))
    def begin(self, most: int, delay: float, seed: int) -> None:
        self.random = Random(seed)
        self.stage = Stage(**self.knobs)
        self.options: dict[str, t.Any] = {"most": most * BLOCK, "delay": delay}
        self.clients: list[NfsClient] = [self._connect() for _ in range(_CLIENTS)]
        self.files: dict[str, bytearray] = {}
        """What each file has, by anybody's last write."""
        self.open: list[Opened] = []

    def _connect(self) -> NfsClient:
        return self.stage.client(**self.options)

    # ------------------------------------------------------------ files

    @rule(who=_WHO, name=_WHICH, data=_DATA)
    def create(self, who: int, name: str, data: bytes) -> None:
        """A whole file, left in memory."""
        with self.clients[who].open(name, "w") as file:
            file.write(data)
        self.files[name] = bytearray(data)

    @rule(who=_WHO, name=_WHICH, writes=st.booleans())
    def open_file(self, who: int, name: str, writes: bool) -> None:
        if name in self.files and len(self.open) < _MOST_OPEN:
            file = self.clients[who].open(name, "r+" if writes else "r")
            self.open.append(Opened(who, name, file, writes))

    def _drawn(self, at: int, *, writes: bool = False) -> Opened | None:
        found = [each for each in self.open if each.writes or not writes]
        return found[at % len(found)] if found else None

    @rule(at=st.integers(0, 9))
    def close_file(self, at: int) -> None:
        opened = self._drawn(at)
        if opened is not None:
            opened.file.close()
            self.open.remove(opened)

    @rule(at=st.integers(0, 9), offset=_OFFSETS, count=st.integers(1, 3 * BLOCK))
    def read(self, at: int, offset: int, count: int) -> None:
        opened = self._drawn(at)
        if opened is not None:
            opened.file.seek(offset)
            assert opened.file.read(count) == self.files[opened.name][offset : offset + count]

    @rule(at=st.integers(0, 9), offset=_OFFSETS, data=_DATA)
    def write(self, at: int, offset: int, data: bytes) -> None:
        opened = self._drawn(at, writes=True)
        if opened is not None:
            opened.file.seek(offset)
            opened.file.write(data)
            contents = self.files[opened.name]
            contents.extend(bytes(max(0, offset - len(contents))))
            contents[offset : offset + len(data)] = data

    @rule(at=st.integers(0, 9), size=_OFFSETS)
    def cut(self, at: int, size: int) -> None:
        opened = self._drawn(at, writes=True)
        if opened is not None:
            opened.file.truncate(size)
            contents = self.files[opened.name]
            del contents[size:]
            contents.extend(bytes(size - len(contents)))

    @rule(at=st.integers(0, 9))
    def size(self, at: int) -> None:
        opened = self._drawn(at)
        if opened is not None:
            assert opened.file.size() == len(self.files[opened.name])

    @rule(at=st.integers(0, 9))
    def flush(self, at: int) -> None:
        opened = self._drawn(at)
        if opened is not None:
            opened.file.flush()

    @rule(who=_WHO, name=_WHICH)
    def read_whole(self, who: int, name: str) -> None:
        if name in self.files:
            assert self.clients[who].read_file(name) == self.files[name]

    @rule(who=_WHO, name=_WHICH)
    def remove(self, who: int, name: str) -> None:
        """Only of a file that nobody has open: an open one is stale afterwards, as in NFS."""
        if name in self.files and not any(each.name == name for each in self.open):
            self.clients[who].remove(name)
            del self.files[name]

    @rule(who=_WHO)
    def rename(self, who: int) -> None:
        if "f" in self.files and not self.open:
            self.clients[who].rename("f", "g")
            self.files["g"] = self.files.pop("f")

    @rule(version=st.sampled_from(["2", "3", "4.1"]), name=_WHICH)
    def read_by_another_version(self, version: str, name: str) -> None:
        if name in self.files:
            with contextlib.closing(self.stage.other(version)) as other:
                assert other.read_file(name) == self.files[name]

    @rule(name=_WHICH, data=_DATA)
    def write_by_another_version(self, name: str, data: bytes) -> None:
        if name in self.files:
            with contextlib.closing(self.stage.other()) as other:
                other.write_file(name, data)
            self.files[name] = bytearray(data)

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

    def teardown(self) -> None:
        if not hasattr(self, "stage"):
            return
        try:
            for opened in self.open:
                opened.file.close()
            for name, contents in self.files.items():
                for client in self.clients:
                    assert client.read_file(name) == contents
            for client in self.clients:
                client.close()
            for name, contents in self.files.items():
                assert self.stage.contents(name) == contents
        finally:
            self.stage.close()


class DyingClients(SeveralClients):
    """Clients die with what they have not written."""

    knobs: t.ClassVar[dict[str, t.Any]] = {"snfs_callback_timeout": 0.05}

    @rule(who=_WHO)
    def die(self, who: int) -> None:
        """The rest of the file is as it was; each byte that waited is new, or what was there before."""
        client = self.clients[who]
        waiting = {
            file.handle: [(extent.offset, extent.data) for extent in client.caching.cache.extents(file)]
            for file in client.caching.cache.dirty_files()
        }
        handles = {name: client.find(name).handle for name in self.files} if waiting else {}
        client.session.caller.end()
        client.session.rpc.close()
        self.open = [each for each in self.open if each.who != who]
        self.clients[who] = self._connect()
        for name, handle in handles.items():
            if handle in waiting:
                self._adopt(who, name, waiting[handle])

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
        self.files[name] = bytearray(there)


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
            actions: list[a.Action] = [
                a.Delay(draw.choice([0.0, 0.002])),
                a.Segments((draw.choice([1, 7, 40]),)),
                a.Reset(),
            ]
            action = draw.choice(actions)
            # A client that does nothing does not connect again, so calls are reset that it waits for itself.
            is_reset = isinstance(action, a.Reset)
            operations: tuple[str, ...] = draw.choice([("OPEN",), ("CLOSE",), ("READ",), ("LOOKUP",)])
            if not is_reset:
                operations = draw.choice([operations, ("WRITE",), ("CALLBACK",), ()])
            every = draw.randint(3, 12) if is_reset else draw.randint(1, 4)
            select = Selector(t.cast("t.Any", kind), operations=operations, every=every)
            rules.append(Rule(select, (action,), must_fire=False))
        return Plan(
            tuple(rules), (Link("server", latency=draw.choice([0.0, 0.001])),), seed=draw.randint(0, 99)
        )


_SETTINGS = settings(
    max_examples=40,
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
TestFaultyNetwork.settings = settings(_SETTINGS, max_examples=15)

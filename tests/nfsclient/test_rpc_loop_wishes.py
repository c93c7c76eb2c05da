# SPDX-License-Identifier: MIT
"""The loop knows what its members want without asking those that are idle."""

from __future__ import annotations

import contextlib
import random
import resource
import socket
import time
import typing as t
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from nfsclient.errors import NfsClientError, RpcTimeout
from nfsclient.rpc.blocking import RpcClient, connect_tcp, connect_udp
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.server import Connection, RpcServer
from nfsclient.rpc.service import CallContext, Dispatcher
from nfsclient.xdr import Void
from tests.nfsclient.rpc_peer import (
    ECHO,
    FETCH,
    NULL,
    PATTERN,
    PROGRAM,
    STORE,
    TOY,
    EchoArgs,
    EchoRes,
    FetchArgs,
    FetchRes,
    FetchResOk,
    StoreArgs,
    framed,
    words,
)

IDLE: t.Final = 500
_MUCH: t.Final = 200_000
_SHORT: t.Final = 0.05
"""Seconds for a call of which the answer does not matter."""


class Toy:
    """A member without a socket, whose deadline anybody may change; notes when it was called."""

    def __init__(self, loop: Loop, due: float | None) -> None:
        self.loop, self.due = loop, due
        self.called: list[float] = []
        loop.add(self)

    def set(self, due: float | None) -> None:
        """Have another deadline; only an earlier one is said."""
        before, self.due = self.due, due
        if due is not None and (before is None or due < before):
            self.loop.changed(self)

    def fileno(self) -> int:
        return -1

    def wants_to_read(self) -> bool:
        return False

    def wants_to_write(self) -> bool:
        return False

    def on_readable(self) -> None:
        """It has no socket."""

    def on_writable(self) -> None:
        """It has no socket."""

    def next_deadline(self) -> float | None:
        return self.due

    def on_deadline(self, now: float) -> None:
        self.called.append(now)
        self.due = None


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["set", "clear", "add", "remove", "turn"]),
            st.integers(0, 5),
            st.integers(0, 40),
        ),
        max_size=60,
    )
)
def test_each_deadline_is_met_once_and_never_early(steps: list[tuple[str, int, int]]) -> None:
    """Whatever deadlines become, in the order in which loops see them: those that pass are called in that turn."""
    now = 100.0
    loop = Loop(clock=lambda: now)
    toys = [Toy(loop, None) for _ in range(6)]
    members = set(toys)
    for what, which, number in steps:
        toy = toys[which]
        if what == "set":
            toy.set(now + number)
        elif what == "clear":
            toy.set(None)
        elif what == "remove":
            loop.remove(toy)
            members.discard(toy)
        elif what == "add" and toy not in members:
            loop.add(toy)
            members.add(toy)
        else:
            now += number
            due = {each for each in members if each.due is not None and each.due <= now}
            before = {each: len(each.called) for each in toys}
            loop.run_once(now)
            assert {each for each in toys if len(each.called) > before[each]} == due
            assert all(len(each.called) <= before[each] + 1 for each in toys)
    loop.close()


def test_nothing_remains_of_deadlines_that_moved() -> None:
    """A call each with a long and a short timeout, ten thousand times: the heap stays as small as its members."""
    now = 0.0
    loop = Loop(clock=lambda: now)
    toy, other = Toy(loop, None), Toy(loop, 1e9)
    for _ in range(10_000):
        for seconds in (10.0, 1.0):
            toy.set(now + seconds)
            loop.run_once(now)
            toy.set(None)
            loop.run_once(now)
        now += 1e-4
    assert len(loop._heap) < 100
    assert toy.called == other.called == []
    loop.close()


def test_earlier_deadlines_come_first() -> None:
    now = 0.0
    loop = Loop(clock=lambda: now)
    order: list[Toy] = []

    class Noting(Toy):
        def on_deadline(self, now: float) -> None:
            super().on_deadline(now)
            order.append(self)

    late, soon, never = Noting(loop, 9.0), Noting(loop, 3.0), Noting(loop, 11.0)
    now = 10.0
    loop.run_once(now)
    assert order == [soon, late]
    assert never.called == []
    loop.close()


def test_a_change_that_nobody_tells_is_found_by_the_check() -> None:
    loop = Loop(clock=lambda: 0.0)
    toy = Toy(loop, 8.0)
    toy.due = 5.0
    with pytest.raises(AssertionError, match="nobody called changed"):
        loop.require_known()
    loop.changed(toy)
    loop.run_once(0.0)
    loop.require_known()
    loop.close()


# ---------------------------------------------------------------- idle connections


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """Both ends of five hundred connections are ours."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 3 * IDLE
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"a process may have {hard} descriptors, and this takes {wanted}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextlib.contextmanager
def _counted(kind: type, counts: Counter[t.Any]) -> Iterator[None]:
    """Count the calls into members of a kind, by member."""
    names = ("wants_to_read", "wants_to_write", "next_deadline", "on_readable", "on_writable", "on_deadline")
    with pytest.MonkeyPatch.context() as patch:
        for name in names:
            original = getattr(kind, name)

            def count(self: t.Any, *args: t.Any, original: t.Any = original) -> t.Any:
                counts[self] += 1
                return original(self, *args)

            patch.setattr(kind, name, count)
        yield


@pytest.mark.usefixtures("many_descriptors")
def test_five_hundred_idle_connections_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred calls of one client: no idle connection and no idle client is called even once."""
    monkeypatch.setattr(Loop, "is_checked", False)
    loop, server = Loop(), RpcServer(Loop(), Dispatcher(), max_connections=2 * IDLE)
    server.loop = loop
    server.answerer = _dispatcher()
    address = server.listen_tcp()
    clients = []
    for _ in range(IDLE):
        clients.append(connect_tcp(*address, loop=loop))
        clients[-1].call(NULL, Void())
    busy = clients[0]
    of_busy = next(connection for connection in server.connections if connection.peer == busy.local_address)
    busy.call(NULL, Void())
    counts: Counter[t.Any] = Counter()
    with _counted(RpcClient, counts), _counted(Connection, counts):
        for number in range(200):
            assert busy.call(ECHO, EchoArgs(number)) == EchoRes(number)
    assert set(counts) == {busy, of_busy}
    assert counts[busy] + counts[of_busy] < 200 * 16
    for client in clients:
        client.close()
    server.close()
    loop.close()


# ---------------------------------------------------------------- real members


def _echo(_context: CallContext, args: EchoArgs) -> EchoRes:
    return EchoRes(args.number, args.text)


def _fetch(_context: CallContext, args: FetchArgs) -> FetchRes:
    return FetchRes(0, FetchResOk(args.count, PATTERN[: args.count]))


def _dispatcher() -> Dispatcher:
    dispatcher = Dispatcher()
    dispatcher.register(TOY, {1: _echo, 2: _fetch})
    return dispatcher


class Crowd(RuleBasedStateMachine):
    """Clients of all kinds and a server on one loop. After each step the loop knows what all of them would answer."""

    def __init__(self) -> None:
        super().__init__()
        self.passed = 0.0
        """Seconds beyond those that have passed."""
        self.loop = Loop(clock=lambda: time.monotonic() + self.passed)
        self.server = RpcServer(
            self.loop, _dispatcher(), max_connections=6, max_output=64 << 10, max_buffered=1 << 20, idle=60.0
        )
        self.clients: list[RpcClient] = []
        self.strangers: list[socket.socket] = []
        self.calls: list[tuple[RpcClient, t.Any]] = []
        self.random = random.Random(0)

    @initialize(seed=st.integers(0, 1 << 30))
    def listen(self, seed: int) -> None:
        self.random.seed(seed)
        self.tcp, self.udp = self.server.listen_tcp(), self.server.listen_udp()

    def _client(self) -> RpcClient | None:
        opened = [client for client in self.clients if client.is_open]
        return self.random.choice(opened) if opened else None

    @rule(is_stream=st.booleans())
    def connect(self, is_stream: bool) -> None:
        connect, address = (connect_tcp, self.tcp) if is_stream else (connect_udp, self.udp)
        self.clients.append(connect(*address, loop=self.loop, timeout=20.0))

    @rule(size=st.sampled_from([10, _MUCH]), timeout=st.sampled_from([_SHORT, 10.0]), times=st.integers(1, 5))
    def submit(self, size: int, timeout: float, times: int) -> None:
        client = self._client()
        for _ in range(times):
            if client is not None and client.is_open:
                count = size if client.core.transport == "tcp" else 10
                self.calls.append((client, client.submit(FETCH, FetchArgs(count), timeout=timeout)))

    @rule()
    def send_more_than_there_is_room_for(self) -> None:
        client = self._client()
        if client is not None and client.core.transport == "tcp":
            for _ in range(3):
                self.calls.append((client, client.submit(STORE, StoreArgs(bytes(4 << 20)))))

    @rule()
    def call(self) -> None:
        client = self._client()
        if client is not None:
            with contextlib.suppress(NfsClientError):
                client.call(ECHO, EchoArgs(7), timeout=_SHORT)

    @rule()
    def cancel(self) -> None:
        if self.calls:
            client, pending = self.calls.pop()
            if not pending.done:
                client.core.cancel(pending, RpcTimeout("cancelled", 0.0))

    @rule()
    def wait(self) -> None:
        if self.calls:
            client, pending = self.calls.pop(0)
            if client.is_open:
                self.passed += max(0.0, pending.deadline - self.loop.clock() - _SHORT)
                with contextlib.suppress(NfsClientError):
                    client.wait(pending)

    @rule(count=st.sampled_from([1, 40]))
    def ask_and_never_read(self, count: int) -> None:
        """A stranger whose replies are stuck: its connection wants to write, and then not to read."""
        sock = socket.create_connection(self.tcp)
        sock.setblocking(False)
        self.strangers.append(sock)
        with connect_tcp(*self.tcp, loop=self.loop) as client:
            client.submit(NULL, Void())
        message = words(7, 0, 2, PROGRAM, 1, 2, 0, 0, 0, 0, _MUCH)
        with contextlib.suppress(OSError):
            sock.send(framed(message) * count)

    @rule()
    def a_stranger_leaves(self) -> None:
        if self.strangers:
            self.strangers.pop(0).close()

    @rule()
    def close_a_client(self) -> None:
        client = self._client()
        if client is not None:
            client.close()

    @rule()
    def half_close(self) -> None:
        client = self._client()
        if client is not None and client.core.transport == "tcp":
            client.shutdown_write()

    @rule()
    def reconnect(self) -> None:
        client = self._client()
        if client is not None:
            client.reconnect()

    @rule(data=st.sampled_from([b"\0\0\0\x08abcd", b"\xff\xff\xff\xff", b"\x80\0\0\x04abcd"]))
    def send_junk(self, data: bytes) -> None:
        client = self._client()
        if client is not None:
            client.send_raw(data)

    @rule()
    def the_server_forgets_everybody(self) -> None:
        self.server.drop_connections()

    @rule(seconds=st.sampled_from([0.5, 3.0, 30.0]))
    def close_idle(self, seconds: float) -> None:
        self.server.close_when_idle_for(seconds)

    @rule(seconds=st.sampled_from([0.0, 0.3, 2.0, 25.0]))
    def turn(self, seconds: float) -> None:
        self.passed += seconds
        self.loop.run_once(self.loop.clock())

    def teardown(self) -> None:
        for client in self.clients:
            client.close()
        for sock in self.strangers:
            sock.close()
        self.server.close()
        self.loop.close()

    def check_invariants(self, *args: t.Any, **kwargs: t.Any) -> None:
        """After each step, whatever the members' own handlers have done."""
        super().check_invariants(*args, **kwargs)
        self.loop.catch_up()
        self.loop.require_known()


TestCrowd = Crowd.TestCase
TestCrowd.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)

# SPDX-License-Identifier: MIT
"""What the fixtures for raw messages and MOUNT make of servers that answer late, die, or list mounts late."""

from __future__ import annotations

import subprocess
import sys
import typing as t
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from fixtures.checks.bystanders import WhyNotServed
from fixtures.checks.mounting import Mounting
from fixtures.checks.wire import NFS, SILENCE, SUCCESS, RawCall, Wire, words
from nfsclient.clients import Mount, Nfs3
from nfsclient.errors import ConnectFailed, NfsClientError, RpcTimeout, SystemErr
from nfsclient.protocol.mount import DUMP3, Mountlist
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp, connect_udp
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.messages import AcceptStat
from nfsclient.rpc.server import Connection
from nfsclient.rpc.service import CallContext, Refused
from nfsclient.url import NfsUrl
from nfsclient.xdr import Void
from nfsjudge import Skipped
from nfsserver import Server
from nfsserver.middleware import AnyAroundCall, AroundMessage
from nfsserver.transport import AnswerRecord, TransportMiddleware
from tests.plugin.conftest import ROOT, Suite

LATE = 1234
"""The XID of calls that are answered late."""
SHORT = 0.05
"""Seconds, where a test is about a time that must pass."""


class Late(TransportMiddleware):
    """Holds calls back until this many other calls have been answered."""

    def __init__(self, after: int | None) -> None:
        self.after = after
        self.kept: list[Callable[[], None]] = []
        self.others = 0

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        if message[:4] == words(LATE):
            self.kept.append(lambda: proceed(connection, message))
            return
        proceed(connection, message)
        self.others += 1
        if self.after is not None and self.others >= self.after:
            for answer in self.kept:
                answer()
                connection.on_writable()
            self.kept.clear()

    # ------------------------------------------------------------ `Middleware`

    def around_calls(self, _operation: object, /) -> list[AnyAroundCall]:
        return []

    def around_messages(self) -> list[AroundMessage]:
        return []

    def below_messages(self) -> list[TransportMiddleware]:
        return [self]


@pytest.fixture
def loop() -> Iterator[Loop]:
    made = Loop()
    yield made
    made.close()


@pytest.fixture
def server(loop: Loop) -> Iterator[Server]:
    made = Server(seed=1)
    made.listen(loop)
    yield made
    made.close()


@pytest.fixture
def connect(loop: Loop, server: Server) -> Iterator[Callable[[], RpcClient]]:
    made: list[RpcClient] = []

    def connect() -> RpcClient:
        made.append(connect_tcp("127.0.0.1", server.port, loop=loop, timeout=2.0, credential=AuthSys(0, 0)))
        return made[-1]

    yield connect
    for client in made:
        client.close()


def _wire(connect: Callable[[], RpcClient], patience: float = SHORT, *, busy: bool = False) -> Wire:
    def others_are_served() -> bool:
        Wire(connect(), NFS, 3).call(RawCall())
        return not busy

    return Wire(connect(), NFS, 3, others_are_served, patience)


# ---------------------------------------------------------------- silence


@pytest.mark.parametrize("after", [0, 1, 2, 3, 5])
def test_a_call_that_others_overtake_is_not_silence(
    server: Server, connect: Callable[[], RpcClient], after: int
) -> None:
    server.surround(Late(after))
    assert _wire(connect).try_message(RawCall(xid=LATE).message()).outcome == SUCCESS


def test_no_answer_at_all_is_silence(server: Server, connect: Callable[[], RpcClient]) -> None:
    server.surround(Late(None))
    wire = _wire(connect)
    assert wire.try_message(RawCall(xid=LATE).message()).outcome == SILENCE
    assert wire.call(RawCall()).outcome == SUCCESS


def test_a_server_in_this_process_is_not_waited_for(
    loop: Loop, server: Server, connect: Callable[[], RpcClient]
) -> None:
    server.surround(Late(None))
    wire, began = _wire(connect, 0.0), loop.clock()
    assert wire.try_message(RawCall(xid=LATE).message()).outcome == SILENCE
    assert loop.clock() - began < wire.client.timeout


def test_of_several_messages_late_answers_are_found(server: Server, connect: Callable[[], RpcClient]) -> None:
    server.surround(Late(5))
    wire = _wire(connect)
    messages = [RawCall(xid=LATE).message(), RawCall().message(), RawCall().message()]
    assert [answer.outcome for answer in wire.try_messages(messages)] == [SUCCESS] * 3


def test_of_several_messages_silence_is_known_at_the_end(
    server: Server, connect: Callable[[], RpcClient]
) -> None:
    server.surround(Late(None))
    messages = [RawCall(xid=LATE).message(), RawCall().message()]
    assert [answer.outcome for answer in _wire(connect).try_messages(messages)] == [SILENCE, SUCCESS]


def test_silence_of_a_server_that_serves_nobody_is_a_timeout(
    server: Server, connect: Callable[[], RpcClient]
) -> None:
    server.surround(Late(None))
    wire = _wire(connect, busy=True)
    wire.client.timeout = SHORT
    with pytest.raises(RpcTimeout) as silence:
        wire.try_call(RawCall(xid=LATE))
    assert silence.value.seconds >= wire.soon  # it says how long the answer was waited for, not the last look


def test_silence_after_a_message_says_how_long_it_was(
    server: Server, connect: Callable[[], RpcClient]
) -> None:
    server.surround(Late(None))
    wire = _wire(connect, 0.2, busy=True)
    wire.client.timeout = 0.2
    with pytest.raises(RpcTimeout) as silence:
        wire.try_message(RawCall(xid=LATE).message())
    assert silence.value.seconds >= wire.client.timeout
    assert silence.value.exchange is not None


def test_a_copy_of_a_call_is_answered_as_well(connect: Callable[[], RpcClient]) -> None:
    assert [answer.outcome for answer in _wire(connect).call_twice(RawCall())] == [SUCCESS] * 2


# ---------------------------------------------------------------- a server that died


class _Stage:
    """As much of a `Stage` as the fixtures need, for a server that is not in this process as they know."""

    class address:  # noqa: N801  (as the attribute)
        export = "/export"

    class life:  # noqa: N801
        is_in_process = False

    call_timeout = 1.0

    def __init__(self, loop: Loop, connect: Callable[[], RpcClient]) -> None:
        self.loop = loop
        self._connect = connect
        self.refusals = 0
        self.mount_list_lag = 2.0
        self.target = None

    @property
    def connections(self) -> _Stage:
        return self

    @property
    def dialects(self) -> _Stage:
        return self

    @property
    def primary(self) -> _Stage:
        return self

    @property
    def traffic(self) -> _Stage:
        return self

    def stretch(self, seconds: float) -> float:
        return seconds

    @property
    def liveness(self) -> _Stage:
        return self

    def unrecorded(self, _aside: str) -> t.Any:
        return pytest.MonkeyPatch.context()

    def null_error(self) -> NfsClientError | None:
        try:
            self.null(self.open("nfs"))
        except NfsClientError as error:
            return error
        return None

    def open(self, _service: str, **_how: object) -> RpcClient:
        if self.refusals:
            self.refusals -= 1
            raise ConnectFailed("a server", "[Errno 111] Connection refused")
        return self._connect()

    def connect(self, service: str, **how: object) -> RpcClient:
        return self.open(service, **how)

    def null(self, client: RpcClient) -> None:
        Wire(client, NFS, 3).call(RawCall())


def _watch(stage: _Stage, file: bytes | None = None) -> WhyNotServed:
    bystander = stage.open("nfs")
    stage.null(bystander)
    return WhyNotServed(t.cast("t.Any", stage), bystander, file)


def test_a_server_that_refuses_and_is_back_without_its_connections_died(
    loop: Loop, server: Server, connect: Callable[[], RpcClient]
) -> None:
    stage = _Stage(loop, connect)
    watch = _watch(stage)
    server.crash()
    stage.refusals = 3
    assert watch() is None
    assert watch.why_restarted() == "it closed the connection of another client, refused new ones"


def test_a_server_that_refuses_and_keeps_its_verifier_did_not_die(
    loop: Loop, server: Server, connect: Callable[[], RpcClient]
) -> None:
    root = Mount(connect()).mnt(b"/export").resok
    assert root is not None
    made = Nfs3(connect()).create(root.fhandle, b"file").resok
    assert made is not None
    assert made.obj is not None
    stage, port = _Stage(loop, connect), server.port
    watch = _watch(stage, made.obj)
    server.close()
    server.listen(loop, "127.0.0.1", port)
    stage.refusals = 3
    assert watch() is None
    assert watch.why_restarted() is None


def test_a_lost_connection_alone_is_no_death(
    loop: Loop, server: Server, connect: Callable[[], RpcClient]
) -> None:
    stage = _Stage(loop, connect)
    watch = _watch(stage)
    server.restart()
    assert watch() is None
    assert watch.why_restarted() is None


def test_refused_connections_alone_are_no_death(loop: Loop, connect: Callable[[], RpcClient]) -> None:
    stage = _Stage(loop, connect)
    watch = _watch(stage)
    stage.refusals = 3
    assert watch() is None
    assert watch.why_restarted() is None


# ---------------------------------------------------------------- a list of mounts that lags


@pytest.fixture
def stage(loop: Loop, connect: Callable[[], RpcClient]) -> _Stage:
    return _Stage(loop, connect)


@pytest.fixture
def mount(stage: _Stage, connect: Callable[[], RpcClient]) -> Mounting:
    return Mounting(t.cast("t.Any", stage), 3, connect())


def _let_dump_lag(server: Server, stale: int) -> None:
    """The first answers of DUMP, this many, are all the same."""
    answers: list[Mountlist] = []

    def lag(_server: object, context: CallContext, args: Void, proceed: t.Any) -> Mountlist:
        answers.append(proceed(context, args))
        return answers[0 if len(answers) <= stale else -1]

    server.interpose(DUMP3, lag)


def test_a_mount_is_listed_when_dump_shows_it_late(server: Server, mount: Mounting) -> None:
    _let_dump_lag(server, 3)
    assert mount.list_mount(b"/export", mount.mounts(b"/export"))
    assert mount.client.mounted == [b"/export"]


def test_an_entry_is_removed_when_dump_shows_it_late(server: Server, mount: Mounting) -> None:
    assert mount.list_mount(b"/export", [])
    _let_dump_lag(server, 3)
    mount.client.umnt(b"/export")
    assert mount.mounts_when(b"/export", lambda hosts: not hosts, lambda: None) == []
    assert mount.client.mounted == []


def test_a_mount_that_dump_never_shows_is_waited_for_once(
    server: Server, stage: _Stage, mount: Mounting
) -> None:
    stage.mount_list_lag = SHORT
    _let_dump_lag(server, 1000)
    assert not mount.list_mount(b"/export", mount.mounts(b"/export"))
    assert stage.mount_list_lag == 0


def test_a_refused_mount_is_nothing_to_unmount(mount: Mounting) -> None:
    with pytest.raises(Skipped):
        mount.list_mount(b"/nowhere", [])
    assert mount.client.mounted == []


# ---------------------------------------------------------------- a list that no datagram holds


def _refuse_dump_over_udp(_server: object, context: CallContext, args: Void, proceed: t.Any) -> Mountlist:
    if context.transport == "udp":
        raise Refused(accept_stat=AcceptStat.SYSTEM_ERR)
    return t.cast("Mountlist", proceed(context, args))


@pytest.fixture
def over_udp(server: Server, stage: _Stage, loop: Loop) -> Iterator[Mounting]:
    server.interpose(DUMP3, _refuse_dump_over_udp)
    rpc = connect_udp("127.0.0.1", server.port, loop=loop, timeout=2.0, credential=AuthSys(0, 0))
    yield Mounting(t.cast("t.Any", stage), 3, rpc)
    rpc.close()


def test_a_long_list_that_udp_does_not_return_is_a_skip(server: Server, over_udp: Mounting) -> None:
    caller = t.cast("CallContext", SimpleNamespace(peer=("127.0.0.1", 1)))
    for number in range(100):
        server.mounts.record(caller, b"/export/" + b"d" * 100 + bytes([48 + number]))
    with pytest.raises(Skipped, match="SYSTEM_ERR to DUMP over UDP"):
        over_udp.mounts(b"/export")


def test_a_short_list_that_udp_does_not_return_is_a_fault(over_udp: Mounting) -> None:
    with pytest.raises(SystemErr):
        over_udp.mounts(b"/export")


# ---------------------------------------------------------------- what a run leaves in the list

MOUNTING = """
    @proves(RULE, killed_by=MUTANT)
    def test_mounts(mounting, mount3, mount1, root):
        for version in (1, 3):
            mount = mounting(version)
            for _ in range(3):
                mount.need(mount.export)
        expect(mount3.mnt(mount.export)).ok()
        mount1.mnt1(mount.export)
"""


def test_a_run_leaves_no_entries_in_the_list_of_mounts(suite: Suite) -> None:
    suite.write(MOUNTING)
    command = [sys.executable, "-m", "nfsproof", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        try:
            assert server.stdout is not None
            url = next(word for line in server.stdout for word in line.split() if word.startswith("nfs://"))
            outcome = suite.run("--target", url)
            port = NfsUrl.parse(url).nfsport
            with connect_tcp("127.0.0.1", port or 0, credential=AuthSys(0, 0)) as client:
                entries = Mount(client).dump()
        finally:
            server.kill()
    assert outcome.verdicts == {"mounts": "PASS"}, outcome.text
    assert entries == []

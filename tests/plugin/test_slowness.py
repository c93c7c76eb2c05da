# SPDX-License-Identifier: MIT
"""Time limits grow with what the target was seen to need, so that verdicts do not depend on load."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.wire import PATIENCE, SOON, make_wire
from fixtures.stage.connections import Connections
from fixtures.stage.liveness import Liveness
from fixtures.stage.slowness import MOST, USUAL, Slowness
from fixtures.stage.traffic import Traffic
from nfsclient.protocol.nfs3 import Create3Args, Nfsstat3, Remove3Args
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.loop import Loop
from nfsjudge import Skipped
from nfsserver import Server
from nfstargets import TargetAddress
from suites.nfs3.listing import Fill


def _slowness(answers: list[float] | None = None, machine: float = 1.0) -> Slowness:
    made = Slowness(lambda: machine)
    for seconds in answers or []:
        made.note(seconds)
    return made


# ---------------------------------------------------------------- how slow


def test_nothing_is_known_of_a_target_without_answers() -> None:
    assert _slowness().factor == 1.0


def test_quick_answers_stretch_nothing() -> None:
    slowness = _slowness([USUAL / 100] * 50)
    assert slowness.factor == 1.0
    assert slowness.stretch(2.0) == 2.0


def test_late_answers_stretch_limits() -> None:
    assert _slowness([4 * USUAL] * 50).stretch(2.0) == 8.0


def test_a_few_calls_that_take_long_stretch_nothing() -> None:
    assert _slowness([*([USUAL] * 46), *([9.0] * 4)]).factor == 1.0


def test_late_answers_of_a_few_say_nothing_next_to_a_quick_one() -> None:
    assert _slowness([*([9.0] * 8), USUAL]).factor == 1.0


def test_the_first_answer_counts() -> None:
    slowness = _slowness([4 * USUAL])
    assert slowness.factor == pytest.approx(4.0)
    assert slowness.answer_time == 4 * USUAL


def test_a_slow_server_is_reported_in_a_line() -> None:
    assert _slowness([2.0]).line() == (
        "slow: the server takes 2 s for an answer, so time limits are 10 times the usual ones"
    )
    assert "4 times" in _slowness([4 * USUAL] * 50, machine=500.0).line()
    assert _slowness([USUAL] * 50, machine=500.0).line() == ""
    assert _slowness().line() == ""


def test_what_was_long_ago_does_not_count() -> None:
    assert _slowness([*([9.0] * 50), *([USUAL] * 50)]).factor == 1.0


def test_a_crowded_machine_stretches_limits_of_a_target_that_answers_at_once() -> None:
    assert _slowness([USUAL / 100] * 50, machine=6.0).stretch(2.0) == 12.0


def test_the_larger_one_counts() -> None:
    assert _slowness([4 * USUAL] * 50, machine=3.0).factor == pytest.approx(4.0)
    assert _slowness([4 * USUAL] * 50, machine=5.0).factor == 5.0


@pytest.mark.parametrize("slowness", [_slowness(machine=500.0), _slowness([500 * USUAL] * 50)])
def test_no_limit_grows_for_ever(slowness: Slowness) -> None:
    assert slowness.stretch(2.0) == 2.0 * MOST


def test_answers_are_noted_and_silence_is_not() -> None:
    slowness = _slowness()
    loop = Loop()
    traffic = Traffic(loop, slowness)
    for number in range(20):
        for reply, received in ((b"....", number + 10 * USUAL), (None, None)):
            traffic.record(
                Exchange(
                    number,
                    None,
                    None,
                    None,
                    b"",
                    float(number),
                    "peer",
                    "tcp",
                    reply=reply,
                    received_at=received,
                )
            )
    loop.close()
    assert slowness.factor == pytest.approx(10.0)


# ---------------------------------------------------------------- the limits of connections


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


MakeConnections: t.TypeAlias = Callable[..., Connections]


@pytest.fixture
def make_connections(loop: Loop, server: Server) -> Iterator[MakeConnections]:
    made: list[Connections] = []
    address = TargetAddress(host="127.0.0.1", nfs_port=server.port, mount_port=server.port)

    def make(slowness: Slowness, *, in_process: bool = False, may_grow: bool = True) -> Connections:
        life: t.Any = SimpleNamespace(address=address, is_in_process=in_process)
        traffic = Traffic(loop, slowness)
        made.append(Connections(life, loop, traffic, slowness, 10.0, may_grow=may_grow))
        return made[-1]

    yield make
    for connections in made:
        connections.close()


def test_connections_to_a_slow_target_wait_longer(make_connections: MakeConnections) -> None:
    connections = make_connections(_slowness(machine=2.5))
    assert connections.connect().timeout == 25.0
    assert connections.connect(timeout=1.0).timeout == 2.5


def test_the_shared_connection_waits_as_long_as_the_target_needs_now(
    make_connections: MakeConnections,
) -> None:
    machine = [1.0]
    connections = make_connections(Slowness(lambda: machine[0]))
    assert connections.shared("nfs").timeout == 10.0
    machine[0] = 2.0
    assert connections.shared("nfs").timeout == 20.0


def test_a_time_that_the_user_gave_stays(make_connections: MakeConnections) -> None:
    connections = make_connections(_slowness(machine=2.5), may_grow=False)
    assert connections.connect().timeout == 10.0
    assert connections.connect(timeout=1.0).timeout == 2.5
    assert connections.connect(timeout=8.0).timeout == 10.0
    assert connections.stretch(20.0) == 20.0


def test_a_server_in_this_process_needs_no_more_time(make_connections: MakeConnections) -> None:
    connections = make_connections(_slowness(machine=2.5), in_process=True)
    assert connections.connect().timeout == 10.0


@pytest.mark.parametrize(("factor", "times"), [(1.0, 1.0), (4.0, 4.0), (100.0, MOST)])
def test_silence_of_a_slow_target_takes_longer(
    make_connections: MakeConnections, factor: float, times: float
) -> None:
    connections = make_connections(_slowness(machine=factor))
    stage: t.Any = SimpleNamespace(
        connections=connections,
        life=SimpleNamespace(is_in_process=False),
        liveness=SimpleNamespace(ping=lambda: True),
    )
    wire = make_wire(stage, connections.connect(), 100003, 3)
    assert (wire.soon, wire.patience) == (times * SOON, times * PATIENCE)


def test_a_grace_period_of_a_server_in_this_process_passes_by_its_clock(
    make_connections: MakeConnections, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The calls of a check that gets GRACE are made again, without any wait."""
    passed: list[float] = []

    def pass_time(seconds: float) -> bool:
        passed.append(seconds)
        return True

    connections = make_connections(_slowness(), in_process=True)
    life: t.Any = connections._life
    life.target = SimpleNamespace(pass_time=pass_time)
    monkeypatch.setattr(connections.loop, "run_until", lambda *_: pytest.fail("it waits"))
    dialect = Nfs4Dialect(connections, SimpleNamespace())  # type: ignore[arg-type]
    statuses = iter([Nfsstat4.NFS4ERR_GRACE] * 5 + [Nfsstat4.NFS4_OK])
    attempt: t.Any = lambda: SimpleNamespace(status=next(statuses))  # noqa: E731
    assert dialect.grace.retry(attempt).status == Nfsstat4.NFS4_OK
    assert passed == [0.5] * 5


@pytest.mark.parametrize(
    "target", [None, SimpleNamespace(pass_time=lambda _: False)], ids=["a URL", "a process"]
)
def test_time_of_another_server_is_waited_for(
    make_connections: MakeConnections, monkeypatch: pytest.MonkeyPatch, target: t.Any
) -> None:
    waited: list[float] = []
    connections = make_connections(_slowness())
    life: t.Any = connections._life
    life.target = target
    monkeypatch.setattr(connections.loop, "clock", lambda: 100.0)
    monkeypatch.setattr(connections.loop, "run_until", lambda _, deadline: waited.append(deadline))
    connections.pass_time(7.0)
    assert waited == [107.0]


@pytest.mark.parametrize(("answers", "longest"), [([0.001] * 20, 0.5), ([0.2] * 20, 1.0), ([2.0], 6.0)])
def test_a_target_that_may_be_back_has_the_time_that_it_needs(
    make_connections: MakeConnections, answers: list[float], longest: float
) -> None:
    nothing: t.Any = SimpleNamespace()
    connections = make_connections(_slowness(answers))
    liveness = Liveness(nothing, connections, nothing, nothing, nothing)
    assert liveness.short_ping() == pytest.approx(longest)


# ---------------------------------------------------------------- large directories


class Clocked:
    """A connection whose calls take a time that depends on how many were made, on a clock that only they move."""

    is_usable = True

    def __init__(self, seconds_of_call: Callable[[int], float], room: int = 10_000) -> None:
        self.now = 0.0
        self.made = 0
        self.loop = SimpleNamespace(clock=lambda: self.now)
        self._seconds_of_call = seconds_of_call
        self.room = room
        self.names: set[bytes] = set()

    def pipeline(
        self, _procedure: object, arguments: Iterator[t.Any], *, outstanding: int
    ) -> Iterator[tuple[t.Any, t.Any]]:
        del outstanding
        for args in arguments:
            self.made += 1
            self.now += self._seconds_of_call(self.made)
            yield args, SimpleNamespace(status=self._status(args))

    def _status(self, args: Create3Args | Remove3Args) -> Nfsstat3:
        if isinstance(args, Remove3Args):
            if args.object.name not in self.names:
                return Nfsstat3.NFS3ERR_NOENT
            self.names.remove(args.object.name)
        elif len(self.names) == self.room:
            return Nfsstat3.NFS3ERR_NOSPC
        else:
            self.names.add(args.where.name)
        return Nfsstat3.NFS3_OK

    def page(self, seconds: float, entries: int) -> Callable[[], t.Any]:
        def read() -> t.Any:
            self.now += seconds
            return SimpleNamespace(resok=SimpleNamespace(entries=[None] * entries))

        return read


NAMES: t.Final = [b"entry-%05d" % number for number in range(10_000)]


@pytest.mark.parametrize(
    ("seconds_of_call", "page", "slowness", "size"),
    [
        (lambda _: 0.0003, (0.01, 2000), 1.0, 10_000),  # the usual server
        (lambda made: 1e-6 * made, (0.01, 2000), 1.0, 3000),  # each name is compared with all others
        (lambda _: 0.01, (0.01, 2000), 1.0, 300),  # each name goes to a disk
        (
            lambda made: 0.0003 if made % 500 < 300 else 0.006,
            (0.01, 2000),
            1.0,
            10_000,
        ),  # it is busy now and then
        (lambda _: 0.003, (0.1, 2000), 10.0, 10_000),  # the usual server on a busy machine
        (lambda _: 0.0003, (0.1, 10), 1.0, 300),  # tiny pages, each of them slow
        (lambda _: 0.0003, (0.0001, 3), 1.0, 3000),  # tiny pages
        (lambda _: 0.0003, (0.0001, 1), 1.0, 1000),
    ],
)
def test_a_large_directory_has_the_size_that_fits(
    seconds_of_call: Callable[[int], float], page: tuple[float, int], slowness: float, size: int
) -> None:
    rpc = Clocked(seconds_of_call)
    fill = Fill(t.cast("t.Any", None), t.cast("t.Any", rpc), b"directory", slowness)
    assert fill.as_many_as_fit(NAMES, rpc.page(*page)) == NAMES[:size]
    assert rpc.made == size
    fill.empty()
    assert not rpc.names


def test_a_large_directory_has_the_size_that_it_must_have_although_that_takes_long() -> None:
    rpc = Clocked(lambda _: 0.01)
    fill = Fill(t.cast("t.Any", None), t.cast("t.Any", rpc), b"directory", 1.0)
    assert fill.as_many_as_fit(NAMES, rpc.page(1.0, 100), least=1000) == NAMES[:1000]


@pytest.mark.parametrize(
    ("seconds", "room", "why"),
    [
        (0.06, 10_000, r"room or time for 300 of 1000 names: \d+ CREATE calls took more than 30 s"),
        (0.001, 999, "room or time for 300 of 1000 names: CREATE answers NFS3ERR_NOSPC"),
    ],
)
def test_a_directory_that_cannot_be_large_enough_is_none(seconds: float, room: int, why: str) -> None:
    rpc = Clocked(lambda _: seconds, room=room)
    fill = Fill(t.cast("t.Any", None), t.cast("t.Any", rpc), b"directory", 1.0)
    with pytest.raises(Skipped, match=why):
        fill.as_many_as_fit(NAMES, rpc.page(0.01, 2000), least=1000)


def test_a_large_directory_has_the_size_for_which_there_is_room() -> None:
    rpc = Clocked(lambda _: 0.0003, room=800)
    fill = Fill(t.cast("t.Any", None), t.cast("t.Any", rpc), b"directory", 1.0)
    assert fill.as_many_as_fit(NAMES, rpc.page(0.01, 2000)) == NAMES[:300]
    assert rpc.names == set(NAMES[:300])


def test_without_room_for_a_small_one_there_is_no_large_directory() -> None:
    rpc = Clocked(lambda _: 0.0003, room=200)
    fill = Fill(t.cast("t.Any", None), t.cast("t.Any", rpc), b"directory", 1.0)
    with pytest.raises(Skipped, match="CREATE answers NFS3ERR_NOSPC"):
        fill.as_many_as_fit(NAMES, rpc.page(0.01, 2000))
    fill.empty()
    assert not rpc.names

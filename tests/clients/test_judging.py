# SPDX-License-Identifier: MIT
"""What a work leaves is compared with what its steps promise; a broken client is found out."""

from __future__ import annotations

import contextlib
import json
import types
import typing as t
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from fixtures.clients.served import Served
from fixtures.clients.trial import ClientTrials, NotJudgeable
from fixtures.stage.stage import Stage
from nfsclient import NfsClient, RetriesExhausted
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Nonconformance, Proof, running
from nfsjudge.clients import ERROR, KEY, RIGHT, SILENT, STUCK, UNTOUCHED, WRONG
from nfsjudge.outcome import Running, Unsupported
from nfsjudge.requirement import Level
from nfstargets.clients.drivers import Client, Ended, Export, LibraryClient, NotMounted
from nfstargets.clients.program import data_of
from nfstargets.clients.target import ClientTarget
from suites.clients import judging
from suites.clients.clauses import COMES_THROUGH, WRITES_THE_REST
from suites.clients.judging import Result, attempt, come_through, judge
from suites.clients.plans import CRASH, NOTHING, PLANS, REPLY_LOST, SHORT_WRITES, ClientPlan
from suites.clients.works import all_works
from tests.waiting import AT_MOST

WORKS = all_works()


@pytest.fixture
def nfs() -> Iterator[NfsClient]:
    """An export in which all works are prepared."""
    with Served("127.0.0.1") as served, served.client() as client:
        for work in WORKS.values():
            work.prepare(client)
        yield client


def _said(*lines: Mapping[str, t.Any]) -> Ended:
    return Ended("".join(json.dumps(line) + "\n" for line in lines))


def test_data_that_are_not_there_are_wrong(nfs: NfsClient) -> None:
    ended = _said(*({"step": number, "value": None} for number in range(4)))
    result = judge(WORKS["write"], ended, nfs)
    assert result.outcome == WRONG
    assert result.observed == (
        "write write/file 0 ended without an error, but write/file 0: expected 262144 bytes, seen NotFound"
    )


def test_data_that_differ_are_wrong(nfs: NfsClient) -> None:
    for number in range(4):
        name = f"write/file {number}"
        nfs.write_file(name, data_of(name, 262_144))
    ended = _said(*({"step": number, "value": None} for number in range(4)))
    assert judge(WORKS["write"], ended, nfs) == Result(RIGHT)
    with nfs.open("write/file 2", "r+") as file:
        file.seek(70_000)
        file.write(b"\0\0")
    assert judge(WORKS["write"], ended, nfs).outcome == WRONG


@pytest.mark.parametrize(
    ("value", "complaint"),
    [(["a", "a"], "listed 2: 300 missing, 1 twice"), ("text", "listed 0: 300 missing, 0 twice")],
)
def test_a_listing_is_compared(nfs: NfsClient, value: object, complaint: str) -> None:
    result = judge(WORKS["list"], _said({"step": 0, "value": value}), nfs)
    assert result.outcome == WRONG
    assert result.observed.endswith(complaint)


def test_errors_are_no_wrong_data(nfs: NfsClient) -> None:
    ended = _said(*({"step": number, "error": "EIO"} for number in range(4)))
    result = judge(WORKS["write"], ended, nfs)
    assert result.outcome == ERROR
    assert result.observed.startswith(
        "write write/file 0 ended with EIO; write write/file 1 ended with EIO; "
    )
    assert result.observed.endswith("1 more")


def test_a_program_that_did_not_end_or_ended_early(nfs: NfsClient) -> None:
    assert judge(WORKS["patch"], Ended("", is_late=True), nfs) == Result(
        STUCK, "patch patch/file 1 was not reached in time"
    )
    assert judge(WORKS["patch"], Ended("no json\n[]\n", "Killed"), nfs).outcome == SILENT
    assert judge(WORKS["patch"], _said({"step": -1, "error": "EIO", "why": "no route"}), nfs) == Result(
        ERROR, "the client could not begin: no route"
    )


class Toy(LibraryClient):
    """A client of this process: it says that all is done, and does nothing."""

    def __init__(self, versions: Sequence[str] = ("3",)) -> None:
        super().__init__("toy", versions)

    def work(self, steps: Sequence[Mapping[str, t.Any]], seconds: float) -> Ended:
        return _said(*({"step": number, "value": None} for number in range(len(steps))))


class _ToyTarget(ClientTarget):
    def __init__(self, client: Client) -> None:
        super().__init__("toy")
        self._client = client


@contextlib.contextmanager
def _trials(
    client: Client, folder: Path, plan: ClientPlan = REPLY_LOST
) -> Iterator[tuple[ClientTrials, Running]]:
    """Trials of a client, in a check that is running."""
    options = types.SimpleNamespace(work_timeout=AT_MOST, seed=1)
    stage = types.SimpleNamespace(target=_ToyTarget(client), options=options, own_capture=None)
    with running(Proof(plan.claims, (), ()).of("3")) as state:
        yield ClientTrials(t.cast("Stage", stage), folder), state


def test_what_the_server_does_not_show_is_not_judged(
    nfs: NfsClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> bytes:
        raise RetriesExhausted(Nfsstat3.NFS3ERR_JUKEBOX, "READ", "f")

    monkeypatch.setattr(type(nfs), "read_file", refuse)
    with pytest.raises(RetriesExhausted):
        judge(WORKS["write"], _said({"step": 0, "value": None}), nfs)
    with (
        _trials(Toy(), tmp_path) as (trials, _),
        pytest.raises(NotJudgeable, match="the files cannot be read: "),
    ):
        come_through(trials, CRASH, "write", "3")


@pytest.mark.parametrize("plan", sorted(PLANS))
def test_a_client_that_does_nothing_never_comes_through(plan: str, tmp_path: Path) -> None:
    names = PLANS[plan].works or tuple(name for name in WORKS if name != "locks")
    with _trials(Toy(), tmp_path) as (trials, _):
        found = {attempt(trials, PLANS[plan], WORKS[name], "3").outcome for name in names}
    assert found == {WRONG}


class Lazy(LibraryClient):
    """It does its work where no fault comes: on a connection to another server."""

    def __init__(self) -> None:
        super().__init__("nfsclient", ("3",))

    @contextlib.contextmanager
    def mounted(self, export: Export) -> Iterator[None]:
        with Served("127.0.0.1") as served:
            self._export = Export(export.host, served.port, export.version)
            yield


def test_without_a_fault_nothing_is_right(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(judging, "judge", lambda *_: Result(RIGHT))
    with _trials(Lazy(), tmp_path) as (trials, state):
        assert attempt(trials, REPLY_LOST, WORKS["write"], "3").outcome == UNTOUCHED
        with pytest.raises(NotJudgeable, match="no rule of the plan acted meanwhile"):
            come_through(trials, REPLY_LOST, "write", "3")
    assert state.observations == {}


@pytest.mark.parametrize(
    ("outcome", "level"),
    [(WRONG, Level.STATED), (ERROR, Level.SHOULD), (STUCK, Level.SHOULD), (SILENT, Level.SHOULD)],
)
def test_wrong_data_break_the_clause_and_errors_only_a_should(
    outcome: str, level: Level, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    under = {NOTHING.name: Result(RIGHT), REPLY_LOST.name: Result(outcome, "what was seen")}
    monkeypatch.setattr(judging, "attempt", lambda _trials, plan, *_: under[plan.name])
    with _trials(Toy(), tmp_path) as (trials, state), pytest.raises(Nonconformance) as failure:
        come_through(trials, REPLY_LOST, "write", "3")
    assert state.observations == {KEY: outcome}
    broken = failure.value.requirement
    assert broken is not None
    assert (broken.level, broken.citation) == (level, COMES_THROUGH.of("3").citation)
    assert broken.is_red(failure.value.outcome) is (outcome == WRONG)
    assert failure.value.observed == "what was seen"


def test_lost_data_are_red_where_the_text_only_advises(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = Result(WRONG, "other data")
    monkeypatch.setattr(judging, "attempt", lambda _, plan, *__: Result(RIGHT) if plan is NOTHING else found)
    with _trials(Toy(), tmp_path, SHORT_WRITES) as (trials, _), pytest.raises(Nonconformance) as failure:
        come_through(trials, SHORT_WRITES, "write", "3")
    broken = failure.value.requirement
    assert broken == WRITES_THE_REST.of("3")
    assert broken.level is Level.SHOULD
    assert broken.is_red(failure.value.outcome)


def test_what_fails_without_faults_is_not_judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tried: list[str] = []

    def fail_always(_: ClientTrials, plan: t.Any, *__: object) -> Result:
        tried.append(plan.name)
        return Result(ERROR, f"under {plan.name}")

    monkeypatch.setattr(judging, "attempt", fail_always)
    with _trials(Toy(), tmp_path) as (trials, _):
        for _ in range(2):  # the control is tried once
            with pytest.raises(NotJudgeable, match="without faults, too: under none"):
                come_through(trials, REPLY_LOST, "write", "3")
    assert tried == ["reply-lost", "none", "reply-lost"]


def test_works_after_one_that_is_stuck_are_not_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stick(_: ClientTrials, plan: t.Any, *__: object) -> Result:
        return Result(RIGHT) if plan is NOTHING else Result(STUCK, "rename was not reached in time")

    monkeypatch.setattr(judging, "attempt", stick)
    with _trials(Toy(("3", "4.1")), tmp_path) as (trials, _):
        with pytest.raises(Nonconformance):
            come_through(trials, REPLY_LOST, "names", "3")
        with pytest.raises(NotJudgeable, match=r"not tried: names is stuck .*tries this work alone"):
            come_through(trials, REPLY_LOST, "read", "3")
        for plan, version in ((REPLY_LOST, "4.1"), (CRASH, "3")):  # others are
            with pytest.raises(Nonconformance):
                come_through(trials, plan, "write", version)


def test_a_client_is_not_asked_for_what_it_cannot_do(tmp_path: Path) -> None:
    client = Toy()
    client.does = frozenset({"read"})
    with _trials(client, tmp_path) as (trials, _):
        for work, version, why in (
            ("read", "4.1", "does not speak NFSv4.1"),
            ("locks", "3", "has no locks"),
            ("append", "3", "has no command for append"),
        ):
            with pytest.raises(Unsupported, match=f"the client {why}"):
                come_through(trials, NOTHING, work, version)


class Unmountable(Toy):
    """It mounts nothing."""

    def mounted(self, export: Export) -> t.Any:
        raise NotMounted(f"no route to {export.host}")


def test_a_mount_that_fails_is_an_error(tmp_path: Path) -> None:
    with _trials(Unmountable(), tmp_path) as (trials, _):
        found = attempt(trials, NOTHING, WORKS["read"], "3")
    assert found == Result(ERROR, "mounting: no route to 127.0.0.1")

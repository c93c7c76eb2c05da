# SPDX-License-Identifier: MIT
"""What a work leaves is compared with what its steps promise; a broken client is found out."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import time
import typing as t
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from nfsclient import NfsClient, NfsClientError, RetriesExhausted, connect3
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, StableHow
from nfsclient.replies import ok
from nfsjudge.clients import ERROR, RIGHT, SILENT, STUCK, UNTOUCHED, WRONG
from nfsproof.clients.plans import PLANS
from nfsproof.clients.program import PIECE, data_of
from nfsproof.clients.served import Served
from nfsproof.clients.subjects import Ended, Export, LibraryClient
from nfsproof.clients.trial import Result, Trial, judge
from nfsproof.clients.works import all_works
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
    outcome, observed = judge(WORKS["write"], ended, nfs)
    assert outcome == WRONG
    assert observed == (
        "write write/file 0 ended without an error, but write/file 0: expected 262144 bytes, seen NotFound"
    )


def test_data_that_differ_are_wrong(nfs: NfsClient) -> None:
    for number in range(4):
        name = f"write/file {number}"
        nfs.write_file(name, data_of(name, 262_144))
    ended = _said(*({"step": number, "value": None} for number in range(4)))
    assert judge(WORKS["write"], ended, nfs) == (RIGHT, "")
    with nfs.open("write/file 2", "r+") as file:
        file.seek(70_000)
        file.write(b"\0\0")
    assert judge(WORKS["write"], ended, nfs)[0] == WRONG


@pytest.mark.parametrize(
    ("value", "complaint"),
    [(["a", "a"], "listed 2: 300 missing, 1 twice"), ("text", "listed 0: 300 missing, 0 twice")],
)
def test_a_listing_is_compared(nfs: NfsClient, value: object, complaint: str) -> None:
    outcome, observed = judge(WORKS["list"], _said({"step": 0, "value": value}), nfs)
    assert outcome == WRONG
    assert observed.endswith(complaint)


def test_errors_are_no_wrong_data(nfs: NfsClient) -> None:
    ended = _said(*({"step": number, "error": "EIO"} for number in range(4)))
    outcome, observed = judge(WORKS["write"], ended, nfs)
    assert outcome == ERROR
    assert observed.startswith("write write/file 0 ended with EIO; write write/file 1 ended with EIO; ")
    assert observed.endswith("1 more")


def test_a_program_that_did_not_end_or_ended_early(nfs: NfsClient) -> None:
    assert judge(WORKS["patch"], Ended("", is_late=True), nfs) == (
        STUCK,
        "patch patch/file 1 was not reached in time",
    )
    assert judge(WORKS["patch"], Ended("no json\n[]\n", "Killed"), nfs)[0] == SILENT
    assert judge(WORKS["patch"], _said({"step": -1, "error": "EIO", "why": "no route"}), nfs) == (
        ERROR,
        "the client could not begin: no route",
    )


def test_what_the_server_does_not_show_is_not_judged(nfs: NfsClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bytes:
        raise RetriesExhausted(Nfsstat3.NFS3ERR_JUKEBOX, "READ", "f")

    monkeypatch.setattr(type(nfs), "read_file", refuse)
    with pytest.raises(RetriesExhausted):
        judge(WORKS["write"], _said({"step": 0, "value": None}), nfs)
    assert (_tried(Idle(), "none").outcome, _tried(Idle(), "crash").outcome) == ("", "")


class Careless(LibraryClient):
    """It writes what it is asked to, and looks at nothing that the server says about it."""

    def __init__(self) -> None:
        super().__init__("careless", ("3",))

    def work(self, steps: Sequence[Mapping[str, t.Any]], seconds: float) -> Ended:
        assert self._export is not None
        lines: list[dict[str, t.Any]] = []
        with connect3(self._export.url, reconnect=False) as client:
            for number, step in enumerate(steps):
                try:
                    self._write(client, step["path"], data_of(step["seed"], step["size"]))
                except NfsClientError as error:
                    lines.append({"step": number, "error": type(error).__name__})
                else:
                    lines.append({"step": number, "value": None})
        return _said(*lines)

    def _write(self, client: NfsClient, path: str, data: bytes) -> None:
        client.write_file(path, b"")
        nfs, handle = Nfs3(client.session.rpc), client.find(path).handle
        for offset in range(0, len(data), PIECE):
            piece = data[offset : offset + PIECE]
            self._twice(client, functools.partial(nfs.write, handle, offset, piece, StableHow.UNSTABLE))
        self._twice(client, functools.partial(nfs.commit, handle))

    @staticmethod
    def _twice(client: NfsClient, call: Callable[[], t.Any]) -> None:
        """Once more after a lost connection."""
        try:
            ok(call())
        except NfsClientError:
            client.session.rpc.reconnect()
            ok(call())


def _tried(client: LibraryClient, plan: str) -> Result:
    trial = Trial(client, PLANS[plan], "3", [WORKS["write"]], AT_MOST, 1, time.monotonic)
    (result,) = trial.run(io.BytesIO())
    return result


@pytest.mark.parametrize(
    ("plan", "outcome"), [("none", RIGHT), ("segments", RIGHT), ("short-writes", WRONG), ("crash", WRONG)]
)
def test_a_careless_client_is_found_out(plan: str, outcome: str) -> None:
    assert _tried(Careless(), plan).outcome == outcome


class Idle(LibraryClient):
    """It says that all is done, and does nothing."""

    def __init__(self) -> None:
        super().__init__("idle", ("3",))

    def work(self, steps: Sequence[Mapping[str, t.Any]], seconds: float) -> Ended:
        return _said(*({"step": number, "value": None} for number in range(len(steps))))


@pytest.mark.parametrize("plan", sorted(PLANS))
def test_a_client_that_does_nothing_never_comes_through(plan: str) -> None:
    works = [one for one in WORKS.values() if not PLANS[plan].works or one.name in PLANS[plan].works]
    trial = Trial(Idle(), PLANS[plan], "3", works, AT_MOST, 1, time.monotonic)
    assert {one.outcome for one in trial.run(io.BytesIO())} == {WRONG}


class Lazy(LibraryClient):
    """It does its work where no fault comes: on a connection to the server itself."""

    def __init__(self) -> None:
        super().__init__("nfsclient", ("3",))

    @contextlib.contextmanager
    def mounted(self, export: Export) -> Iterator[None]:
        with Served("127.0.0.1") as served:
            self._export = Export(export.host, served.port, export.version)
            yield


def test_without_a_fault_nothing_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nfsproof.clients.trial.judge", lambda *_: (RIGHT, ""))
    result = _tried(Lazy(), "reply-lost")
    assert (result.outcome, result.reason) == (UNTOUCHED, "no rule of the plan acted meanwhile")

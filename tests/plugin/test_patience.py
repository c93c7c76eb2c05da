# SPDX-License-Identifier: MIT
"""The patience of a run with JUKEBOX and DELAY: an operation that has used it up is not waited for in each check."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from fixtures.stage.patience import RunPatience, Spent
from nfsclient.clients.nfs3 import is_jukebox
from nfsclient.clients.nfs4 import CompoundReply
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs3, nfs4
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrType

_LATER = nfs3.Commit3Res(Nfsstat3.NFS3ERR_JUKEBOX, None, nfs3.Commit3ResFail(nfs3.WccData()))
_DONE = nfs3.Commit3Res(Nfsstat3.NFS3_OK, nfs3.Commit3ResOk(nfs3.WccData(), bytes(8)))


_OPERATIONS: list[XdrType] = [op.putrootfh(), op.getattr("size"), op.getfh(), op.getattr("mode")]


def _compound(passed: int) -> CompoundReply:
    """A compound of which the first operations have succeeded, and the next one is put off."""
    args = nfs4.Compound4Args(b"", 1, _OPERATIONS)
    kinds = [nfs4.Putrootfh4Res, nfs4.Getattr4Res, nfs4.Getfh4Res, nfs4.Getattr4Res]
    good = [kind(Nfsstat4.NFS4_OK) for kind in kinds[:passed]]
    if passed == len(kinds):
        return CompoundReply(args, nfs4.Compound4Res(Nfsstat4.NFS4_OK, b"", good))
    late = kinds[passed](Nfsstat4.NFS4ERR_DELAY)
    return CompoundReply(args, nfs4.Compound4Res(Nfsstat4.NFS4ERR_DELAY, b"", [*good, late]))


def _is_delayed(reply: CompoundReply) -> bool:
    return reply.status == Nfsstat4.NFS4ERR_DELAY


class _Run:
    """A run of a second of patience, whose time passes only when somebody waits."""

    def __init__(self, first: float = 0.25, longest: float = 0.25, total: float = 1.0) -> None:
        self.now = 0.0
        self.spent = Spent()
        self.patience = RunPatience(self._wait, lambda: self.now, first, longest, total, self.spent)

    def _wait(self, seconds: float) -> None:
        self.now += seconds

    def commit(self, *answers: nfs3.Commit3Res) -> tuple[object, float]:
        """COMMIT that gets these answers, the last one for ever; its result, and how long it was waited for."""
        began, left = self.now, list(answers)

        def attempt() -> nfs3.Commit3Res:
            return left.pop(0) if len(left) > 1 else left[0]

        result = self.patience.retry(attempt, is_jukebox, attempt())
        return result.status, self.now - began


def test_patience_is_spent_once() -> None:
    run = _Run()
    assert run.commit(_LATER) == (Nfsstat3.NFS3ERR_JUKEBOX, 1.0)
    assert [run.commit(_LATER)[1] for _ in range(100)] == [0.25] * 100
    assert run.spent.lines() == [
        "NFSv3 COMMIT answers NFS3ERR_JUKEBOX for 1 s: later calls are tried once more only"
    ]


def test_an_answer_brings_patience_back_twice() -> None:
    run = _Run()
    waits = []
    for _ in range(4):
        waits.append(run.commit(_LATER)[1])
        assert run.commit(_LATER, _DONE)[0] == Nfsstat3.NFS3_OK
    assert waits[:3] == [1.0, 1.0, 1.0]
    assert waits[3] < 1.0


def test_other_operations_have_theirs() -> None:
    run = _Run()
    run.commit(_LATER)

    before = run.now
    later = functools.partial(_compound, 1)
    run.patience.retry(later, _is_delayed, later())
    assert run.now - before == 1.0
    assert "NFSv4 GETATTR" in run.spent


def test_a_run_has_patience_a_dozen_times() -> None:
    spent = Spent()
    for number in range(12):
        spent.note_end(f"operation {number}", "DELAY for 1 s")
    spent.note_answer("operation 1")
    assert "operation 1" in spent
    spent.forget()
    assert not spent.lines()


# ---------------------------------------------------------------- pauses that fit the server


def _usual() -> _Run:
    """As with a server by its URL."""
    return _Run(0.1, 2.0, 10.0)


def test_a_server_that_refuses_each_call_twice_costs_a_run_little_time() -> None:
    run = _usual()
    for _ in range(10_000):
        assert run.commit(_LATER, _LATER, _DONE)[0] == Nfsstat3.NFS3_OK
    assert run.now < 2.0
    assert not run.spent.lines()


def test_a_server_that_needs_time_is_not_flooded() -> None:
    run = _usual()
    for _ in range(20):
        run.commit(_LATER, _DONE)
    tries, ready = 0, run.now + 5.0

    def attempt() -> nfs3.Commit3Res:
        nonlocal tries
        tries += 1
        return _DONE if run.now >= ready else _LATER

    for _ in range(20):
        tries, ready = 0, run.now + 5.0
        run.patience.retry(attempt, is_jukebox, attempt())
        assert tries < 24
    assert tries < 12  # pauses begin longer again


def test_operations_of_a_compound_that_pass_one_after_the_other_use_up_no_patience() -> None:
    run = _usual()
    for _ in range(500):
        answers = iter([0, 0, 1, 0, 0, 1, 0, 0, 2, 0, 0, 2, 0, 0, 3, 0, 0, 3, 0, 0, 4])

        def attempt(answers: Iterator[int] = answers) -> CompoundReply:
            return _compound(next(answers))

        assert run.patience.retry(attempt, _is_delayed, attempt()).status == Nfsstat4.NFS4_OK
    assert run.now < 30.0
    assert not run.spent.lines()


def test_progress_lengthens_patience_with_a_call_three_times_at_most() -> None:
    run = _usual()

    def attempt() -> CompoundReply:
        return _compound(min(int(run.now / 9.5), 3))

    assert run.patience.retry(attempt, _is_delayed, attempt()).status == Nfsstat4.NFS4ERR_DELAY
    assert 20.0 < run.now <= 30.0
    before = run.now
    run.patience.retry(attempt, _is_delayed, attempt())
    assert run.now - before <= 2.0


def test_another_target_is_not_known() -> None:
    run = _usual()
    for _ in range(20):
        run.commit(_LATER, _DONE)
    assert run.commit(_LATER, _DONE)[1] == 0.0
    run.spent.forget()
    assert run.commit(_LATER, _DONE)[1] == 0.1

# SPDX-License-Identifier: MIT
"""The patience of a run with JUKEBOX and DELAY: an operation that has used it up is not waited for in each check."""

from __future__ import annotations

from fixtures.stage.patience import RunPatience, Spent
from nfsclient.clients.nfs3 import is_jukebox
from nfsclient.clients.nfs4 import CompoundReply
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs3, nfs4
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.nfs4 import Nfsstat4

_LATER = nfs3.Commit3Res(Nfsstat3.NFS3ERR_JUKEBOX, None, nfs3.Commit3ResFail(nfs3.WccData()))
_DONE = nfs3.Commit3Res(Nfsstat3.NFS3_OK, nfs3.Commit3ResOk(nfs3.WccData(), bytes(8)))


class _Run:
    """A run of a second of patience, whose time passes only when somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0
        self.spent = Spent()
        self.patience = RunPatience(self._wait, lambda: self.now, 0.25, 0.25, 1.0, self.spent)

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

    def later() -> CompoundReply:
        args = nfs4.Compound4Args(b"", 1, [op.putrootfh(), op.getattr("size")])
        results = [nfs4.Putrootfh4Res(Nfsstat4.NFS4_OK), nfs4.Getattr4Res(Nfsstat4.NFS4ERR_DELAY)]
        return CompoundReply(args, nfs4.Compound4Res(Nfsstat4.NFS4ERR_DELAY, b"", results))

    before = run.now
    run.patience.retry(later, lambda reply: reply.status == Nfsstat4.NFS4ERR_DELAY, later())
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

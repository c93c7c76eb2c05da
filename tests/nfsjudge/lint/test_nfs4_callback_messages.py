# SPDX-License-Identifier: MIT
"""Rules for what single callbacks say: silent about the embedded server, and each fires on its mutant."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.exchange import Exchange
from nfsclient.xdr import replace
from nfsjudge.lint import Event, Finding, Happening, all_rules, lint
from nfsmutants import find_mutant
from tests.nfsserver.conftest import ROOT_USER
from tests.nfsserver.nfs4.conftest import Rig4, rig4
from tests.waiting import AT_MOST

__all__ = ["rig4"]
NAMES: t.Final = ("minor", "seqid", "getattr", "recall-any", "slots", "lock-file", "lock-announced")
RULES: t.Final = {
    rule.name: rule for rule in all_rules() if rule.name.removeprefix("nfs4/callback-") in NAMES
}
PAIRS: t.Final = [(rule.name, mutant) for rule in RULES.values() for mutant in rule.killed_by]


class Called:
    """A client that the server calls for all that it may call for, and what passes on its connection."""

    def __init__(self, rig: Rig4) -> None:
        self.rig = rig
        self.exchanges: list[Exchange] = []
        self.other = rig.session()
        nfs4 = rig.nfs4()
        nfs4.rpc = rpc = rig.rpc(ROOT_USER)
        rpc.on_exchange = self.exchanges.append
        self.session: Session = nfs4.establish(callbacks=True, fore=op.channel(requests=8))
        self.session.callbacks.on(p.CB_RECALL, p.Nfsstat4.NFS4_OK)
        self.session.compound(op.putfh(rig.root), op.getattr("type", "fsid", "fileid"))

    def _delegated(self, name: bytes, access: int = 2) -> bytes:
        file = self.rig.make(self.other, name, b"data")
        wanted = (access, p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG * access)
        self.session.compound(op.putfh(file), op.open(None, sum(wanted), owner=name)).ok()
        return file

    def recall(self) -> None:
        file = self._delegated(b"recalled", 1)
        opening = op.open(None, 2 | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG, owner=b"writer")
        self.other.compound(op.putfh(file), opening)
        self._await(p.CB_RECALL)

    def getattr(self) -> None:
        file = self._delegated(b"asked")
        self.other.compound(op.putfh(file), op.getattr("size"))
        self._await(p.CB_GETATTR)

    def recall_any(self) -> None:
        self.rig.server.knobs.set("delegations_kept", 1)
        for number in range(4):
            self._delegated(b"any %d" % number, 1)
        self._await(p.CB_RECALL_ANY)

    def recall_slots(self) -> None:
        self.rig.server.knobs.set("slots_kept", 2)
        self.session.renew()
        self._await(p.CB_RECALL_SLOT)

    def notify(self) -> None:
        file = self.rig.make(self.other, b"locked", b"data")
        stateids = []
        for session in (self.other, self.session):
            opening = op.open(None, 3 | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG, owner=b"o")
            stateids.append(session.compound(op.putfh(file), opening).ok().stateid)
        kind = p.NfsLockType4.WRITEW_LT
        first, second = (op.lock(stateid, kind, 0, 1, owner=b"l") for stateid in stateids)
        locked = self.other.compound(op.putfh(file), first).ok().stateid
        self.session.compound(op.putfh(file), second)
        self.other.compound(op.putfh(file), op.locku(locked, 0, 1)).ok()
        self._await(p.CB_NOTIFY_LOCK)

    def _await(self, operation: p.AnyOperation) -> None:
        received, loop = self.session.callbacks.received, self.rig.loop
        assert loop.run_until(
            lambda: (
                any(each.operation is operation for each in received)
                or bool(self.session.callbacks.refused)
                or self._is_refused
            ),
            loop.clock() + AT_MOST,
        )

    @property
    def _is_refused(self) -> bool:
        """Whether a callback was not executed: it came in the wrong minor version."""
        last = next((each for each in reversed(self.exchanges) if each.procedure is p.CB_COMPOUND), None)
        return last is not None and last.result is not None and last.result.status != p.Nfsstat4.NFS4_OK

    def findings(self) -> dict[str, Finding]:
        return {finding.rule.name: finding for finding in lint(self.exchanges)}


ACTS: t.Final[dict[str, Callable[[Called], None]]] = {
    "nfs4/callback-minor": Called.recall,
    "nfs4/callback-seqid": Called.recall,
    "nfs4/callback-getattr": Called.getattr,
    "nfs4/callback-recall-any": Called.recall_any,
    "nfs4/callback-slots": Called.recall_slots,
    "nfs4/callback-lock-file": Called.notify,
    "nfs4/callback-lock-announced": Called.notify,
}


@pytest.fixture
def called(rig4: Rig4) -> Called:
    return Called(rig4)


def test_every_rule_is_tried() -> None:
    assert set(ACTS) == set(RULES)


@pytest.mark.parametrize("name", ACTS)
def test_a_right_server_breaks_no_rule(called: Called, name: str) -> None:
    ACTS[name](called)
    assert called.findings() == {}


@pytest.mark.parametrize(("name", "mutant"), PAIRS)
def test_a_rule_fires_on_its_mutant(rig4: Rig4, called: Called, name: str, mutant: str) -> None:
    find_mutant(mutant)
    rig4.mutants.add(mutant)
    ACTS[name](called)
    found = called.findings()
    assert found[name].severity == RULES[name].severity
    assert found[name].exchange.is_callback


def test_a_session_whose_beginning_was_not_seen_is_not_judged(rig4: Rig4, called: Called) -> None:
    """Of its minor version, its slots and its opens nothing is known."""
    rig4.mutants.update({"open4-does-not-announce-notices", "sequence4-recalls-slots-up-to-any"})
    called.notify()
    called.recall_slots()
    opens = [
        at for at, each in enumerate(called.exchanges) if p.OPEN in [step.operation for step in each.steps]
    ]
    assert lint(called.exchanges[opens[-1] + 1 :]) == []


def test_an_open_that_announces_notices_is_enough(called: Called) -> None:
    """Whether a server may send them may change from one OPEN to the next (section 20.11.3)."""
    called.notify()
    last = next(each for each in called.exchanges if p.OPEN in [step.operation for step in each.steps])
    again = Exchange(
        last.xid + 1000, last.procedure, last.args, last.credential, last.call, last.sent_at, last.peer, "tcp"
    )
    again.reply, again.received_at = last.reply, last.received_at
    results = last.result.resarray
    silent = replace(results[-1], resok4=replace(results[-1].resok4, rflags=0))
    again.result = replace(last.result, resarray=[*results[:-1], silent])
    called.exchanges.insert(called.exchanges.index(last), again)
    assert called.findings() == {}


def test_a_restart_ends_what_opens_have_said(rig4: Rig4, called: Called) -> None:
    rig4.mutants.add("open4-does-not-announce-notices")
    called.notify()
    callback = next(each for each in called.exchanges if each.procedure is p.CB_COMPOUND)
    restarted = Event(callback.sent_at, Happening.RESTART)
    assert lint(called.exchanges, [restarted]) == []

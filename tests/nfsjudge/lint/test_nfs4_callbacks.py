# SPDX-License-Identifier: MIT
"""Rules for callbacks and for the sizes of channels: silent about the embedded server, and each fires on its mutant."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.exchange import Exchange
from nfsclient.xdr import replace
from nfsjudge.lint import Finding, all_rules, lint
from nfsmutants import find_mutant
from tests.nfsserver.conftest import ROOT_USER
from tests.nfsserver.nfs4.conftest import Rig4, rig4

__all__ = ["rig4"]
NAMES: t.Final = ("nfs4/callback-begins", "nfs4/callback-limits", "nfs4/callback-order")
RULES: t.Final = {rule.name: rule for rule in all_rules() if rule.name in NAMES}
PAIRS: t.Final = [(rule.name, mutant) for rule in RULES.values() for mutant in rule.killed_by]
_WANTS: t.Final = p.OPEN4_SHARE_ACCESS_READ | p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG
_WRITES: t.Final = p.OPEN4_SHARE_ACCESS_WRITE | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG


class Recalled:
    """A client that has its delegations recalled, one after the other, and what passes on its connection."""

    def __init__(self, rig: Rig4) -> None:
        self.rig = rig
        self.exchanges: list[Exchange] = []
        nfs4 = rig.nfs4()
        nfs4.rpc = rpc = rig.rpc(ROOT_USER)
        rpc.on_exchange = self.exchanges.append
        self.session: Session = nfs4.establish(callbacks=True)
        self.session.callbacks.on(p.CB_RECALL, p.Nfsstat4.NFS4_OK)
        self._other = rig.session()

    def recall(self, *names: bytes) -> None:
        """Files that the client has a delegation of are opened for writing by another client."""
        for name in names:
            file = self.rig.make(self._other, name)
            self.session.compound(op.putfh(file), op.open(None, _WANTS, owner=b"holder")).ok()
            self._other.compound(op.putfh(file), op.open(None, _WRITES, owner=b"writer"))
            self.session.renew()

    @property
    def callbacks(self) -> list[Exchange]:
        """Those with operations, in the order in which they came."""
        return [exchange for exchange in self.exchanges if exchange.procedure is p.CB_COMPOUND]

    def findings(self) -> dict[str, Finding]:
        return {finding.rule.name: finding for finding in lint(self.exchanges)}


@pytest.fixture
def recalled(rig4: Rig4) -> Recalled:
    return Recalled(rig4)


def test_a_right_server_breaks_no_rule(recalled: Recalled) -> None:
    recalled.recall(b"a", b"b", b"c")
    assert [exchange.is_callback for exchange in recalled.callbacks] == [True] * 3
    assert recalled.findings() == {}


@pytest.mark.parametrize(("name", "mutant"), PAIRS)
def test_a_rule_fires_on_its_mutant(rig4: Rig4, recalled: Recalled, name: str, mutant: str) -> None:
    find_mutant(mutant)
    rig4.mutants.add(mutant)
    recalled.recall(b"a", b"b", b"c")
    found = recalled.findings()
    assert found[name].severity == RULES[name].severity
    assert found[name].exchange.is_callback
    assert str(found[name].field).startswith("argarray") or found[name].field is None


def test_a_finding_names_the_field_of_the_callback(rig4: Rig4, recalled: Recalled) -> None:
    rig4.mutants.add("open4-recalls-beyond-the-slots")
    recalled.recall(b"a")
    finding = recalled.findings()["nfs4/callback-limits"]
    assert finding.field == "argarray[0].csa_slotid"
    assert finding.text.startswith("CB_COMPOUND, exchange #")
    assert "slot 1000" in finding.text
    assert finding.breach.earlier == 2  # CREATE_SESSION


def test_a_retry_of_a_callback_is_legal(recalled: Recalled) -> None:
    recalled.recall(b"a")
    (last,) = recalled.callbacks
    again = replace_exchange(last)
    recalled.exchanges.append(again)
    assert recalled.findings() == {}


def test_another_callback_by_a_sequence_id_that_was_refused_is_legal(recalled: Recalled) -> None:
    """CB_SEQUENCE that fails leaves the slot as it is (section 20.9.3)."""
    recalled.recall(b"a", b"b")
    first, second = recalled.callbacks
    refused = replace_exchange(second)
    refused.result = replace(second.result, status=_DELAY, resarray=[p.CbSequence4Res(_DELAY)])
    recalled.exchanges.insert(recalled.exchanges.index(second), refused)
    refused.args = replace(second.args, argarray=[second.args.argarray[0], *first.args.argarray[1:]])
    assert recalled.findings() == {}


@pytest.mark.parametrize("was_made", [False, True], ids=["no-answer", "not-sent"])
def test_what_follows_a_callback_without_an_answer_is_not_judged(recalled: Recalled, was_made: bool) -> None:
    """A client may make an answer and not send it: the server does not know of it."""
    recalled.recall(b"a", b"b")
    first, second = recalled.callbacks
    first.reply = None
    if not was_made:
        first.result = None
    second.args = replace(
        second.args,
        argarray=[replace(second.args.argarray[0], csa_sequenceid=1), *second.args.argarray[1:]],
    )
    assert recalled.findings() == {}


@pytest.mark.parametrize("field", ["csr_highest_slotid", "csr_target_highest_slotid"])
def test_a_client_may_offer_more_slots_than_it_began_with(recalled: Recalled, field: str) -> None:
    """The server learns it by the reply to CB_SEQUENCE (section 2.10.6.1)."""
    recalled.recall(b"a", b"b")
    first, second = recalled.callbacks
    called = replace(second.args.argarray[0], csa_slotid=200, csa_highest_slotid=200)
    second.args = replace(second.args, argarray=[called, *second.args.argarray[1:]])
    assert set(recalled.findings()) == {"nfs4/callback-limits"}
    answered = first.result.resarray[0]
    given = replace(answered.csr_resok4, **{field: 200})
    offers = replace(answered, csr_resok4=given)
    first.result = replace(first.result, resarray=[offers, *first.result.resarray[1:]])
    assert recalled.findings() == {}


def test_callbacks_of_sessions_that_were_not_seen_are_not_judged(rig4: Rig4, recalled: Recalled) -> None:
    rig4.mutants.add("open4-recalls-beyond-the-slots")
    recalled.recall(b"a")
    assert lint(recalled.exchanges[2:]) == []


_DELAY: t.Final = p.Nfsstat4.NFS4ERR_DELAY


def replace_exchange(exchange: Exchange) -> Exchange:
    """The same once more, with another XID."""
    made = Exchange(
        exchange.xid + 1000,
        exchange.procedure,
        exchange.args,
        exchange.credential,
        exchange.call,
        exchange.sent_at,
        exchange.peer,
        exchange.transport,
        is_callback=True,
    )
    made.reply, made.result, made.received_at = exchange.reply, exchange.result, exchange.received_at
    return made


# ---------------------------------------------------------------- the fore channel


@pytest.mark.parametrize("mutant", ["", "createsession4-sends-larger-replies"])
def test_reply_beyond_the_size_that_was_granted(rig4: Rig4, mutant: str) -> None:
    if mutant:
        rig4.mutants.add(mutant)
    exchanges: list[Exchange] = []
    file = rig4.make(rig4.session(), b"file", bytes(8192))
    nfs4 = rig4.nfs4()
    nfs4.rpc = rpc = rig4.rpc(ROOT_USER)
    rpc.on_exchange = exchanges.append
    session = nfs4.establish(fore=op.channel(responsesize=2048, responsesize_cached=2048))
    session.compound(op.putfh(file), op.read(op.ANONYMOUS, 0, 4096))
    found = {finding.rule.name: finding.severity for finding in lint(exchanges)}
    assert found == ({"nfs4/reply-size": "FAIL"} if mutant else {})

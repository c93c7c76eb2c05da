# SPDX-License-Identifier: MIT
"""Each rule for NFSv4 is silent about a right compound, and fires on its mutants."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.program import AnyOperation
from nfsclient.xdr import XdrType, replace
from nfsjudge.lint import all_rules, lint
from nfsmutants import Mutant, find_mutant
from nfsmutants.form import Call
from tests.nfsjudge.lint.test_nfs4_state import SCENES

ELSEWHERE = {
    *SCENES,
    "nfs4/reply-size",
    *(f"nfs4/callback-{name}" for name in ("minor", "seqid", "getattr", "recall-any", "slots")),
    *("nfs4/callback-lock-file", "nfs4/callback-lock-announced"),
    "nfs4/callback-begins",
    "nfs4/callback-limits",
    "nfs4/callback-order",
}
"""Rules that compare compounds are in `test_nfs4_state`, those about callbacks and sizes in `test_nfs4_callbacks`
and `test_nfs4_callback_messages`."""
RULES = {
    rule.name: rule for rule in all_rules() if rule.name.startswith("nfs4/") and rule.name not in ELSEWHERE
}
"""Those that one compound is enough for."""
PAIRS = [(rule.name, mutant) for rule in RULES.values() for mutant in rule.killed_by]
OK = Nfsstat4.NFS4_OK
SESSION = bytes(range(16))
_GRANTED = op.channel(requestsize=4096, responsesize=4096, responsesize_cached=512, requests=4)
_CHANGED = p.ChangeInfo4(True, 7, 8)
Pair: t.TypeAlias = tuple[XdrType, XdrType]

RIGHT: list[list[Pair]] = [
    [
        (
            op.create_session(17, 1, fore=_GRANTED, back=_GRANTED),
            p.CreateSession4Res(OK, p.CreateSession4ResOk(SESSION, 1, 0, _GRANTED, _GRANTED)),
        )
    ],
    [
        (op.sequence(SESSION, 1, 2, 2), p.Sequence4Res(OK, p.Sequence4ResOk(SESSION, 1, 2, 3, 3, 0))),
        (op.putfh(b"handle"), p.Putfh4Res(OK)),
        (op.getattr("size"), p.Getattr4Res(OK, p.Getattr4ResOk(p.Fattr4(size=4)))),
        (op.access(p.ACCESS4_READ), p.Access4Res(OK, p.Access4ResOk(p.ACCESS4_READ, p.ACCESS4_READ))),
        (op.read(op.ANONYMOUS, 0, 4), p.Read4Res(OK, p.Read4ResOk(True, b"data"))),
        (
            op.write(op.ANONYMOUS, 0, b"data"),
            p.Write4Res(OK, p.Write4ResOk(4, p.StableHow4.FILE_SYNC4, bytes(8))),
        ),
        (
            op.readdir(attributes=("size",)),
            p.Readdir4Res(
                OK,
                p.Readdir4ResOk(bytes(8), p.Dirlist4([p.Entry4(7, b"name", p.Fattr4(size=4))], True)),
            ),
        ),
        (op.mkdir(b"made"), p.Create4Res(OK, p.Create4ResOk(_CHANGED, []))),
        (op.setattr(p.Fattr4(mode=0o600)), p.Setattr4Res(OK, list(p.Fattr4(mode=0o600).attrmask))),
    ],
    [
        (op.sequence(SESSION, 2, 2, 2), p.Sequence4Res(OK, p.Sequence4ResOk(SESSION, 2, 2, 3, 3, 0))),
        (op.putrootfh(), p.Putrootfh4Res(OK)),
        (op.lookup(b"absent"), p.Lookup4Res(Nfsstat4.NFS4ERR_NOENT)),
    ],
]
"""Compounds with their results; the last one ends before its last operation."""


class _Context(t.NamedTuple):
    operation: AnyOperation


def _mutated(mutant: Mutant | None, operation: AnyOperation, args: t.Any, result: t.Any) -> t.Any:
    if mutant is None or operation not in mutant.operations or mutant.on_call is None:
        return result
    context: t.Any = _Context(operation)
    return mutant.on_call(Call(t.cast("t.Any", None), context, args, {}, lambda *_: result))


def _exchanges(mutant: Mutant | None = None) -> list[Exchange]:
    found = []
    for number, pairs in enumerate(RIGHT):
        calls = [call for call, _ in pairs]
        results = [_mutated(mutant, p.operation_of(call), call, result) for call, result in pairs]
        if p.status_of(results[-1]) != OK:
            calls.append(op.getfh())
        args = p.Compound4Args(b"tag", 1, calls)
        res = _mutated(mutant, p.COMPOUND, args, p.Compound4Res(p.status_of(results[-1]), b"tag", results))
        exchange = Exchange(number, p.COMPOUND, args, None, b"call", number, "127.0.0.1:2049", "tcp")
        exchange.reply, exchange.result, exchange.received_at = b"reply", res, number + 0.5
        found.append(exchange)
    return found


def _findings(exchanges: list[Exchange]) -> dict[str, str]:
    return {finding.rule.name: finding.severity for finding in lint(exchanges)}


def test_a_right_server_breaks_no_rule() -> None:
    assert _findings(_exchanges()) == {}


@pytest.mark.parametrize(("name", "mutant"), PAIRS)
def test_a_rule_fires_on_its_mutant(name: str, mutant: str) -> None:
    assert _findings(_exchanges(find_mutant(mutant))).get(name) == RULES[name].severity


def test_a_finding_names_the_operation_and_the_place() -> None:
    finding = next(finding for finding in lint(_exchanges(find_mutant("read4-returns-more"))))
    assert finding.field == "resarray[4].resok4.data"
    assert finding.text.startswith("READ, exchange #2: 5 bytes")


def test_nfs40_is_not_judged() -> None:
    exchange = _exchanges(find_mutant("compound4-drops-the-tag"))[1]
    exchange.args = replace(exchange.args, minorversion=0)
    assert _findings([exchange]) == {}

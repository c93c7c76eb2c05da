# SPDX-License-Identifier: MIT
"""Locks and delegations: the calls of the NFSv4.1 study's tables, for fewer files."""

from __future__ import annotations

import time
import typing as t

import pytest

from nfsclient.protocol import nfs4
from nfsjudge.verdict import Verdict
from nfsproof.workloading import Wish, order_of
from nfstargets.embedded import EmbeddedTarget
from tests.workloads.rig import calls_of, run
from workloads.running import Here
from workloads.trouble import Refused

_FILES, _CLIENTS, _ROUNDS = 4, 3, 10
_PARAMETERS = {"files": _FILES, "rounds": _ROUNDS}


def test_without_delegations_each_round_asks_the_server() -> None:
    """Of the table: OPEN, CLOSE, READ, LOCK, LOCKU and FREE_STATEID 10, ACCESS 9, GETATTR 19 for each file."""
    result = run(
        "lockedreads", version="4.1", policy="v4-like", clients=_CLIENTS, parameters=_PARAMETERS, page=8192
    )
    assert result.verdict is Verdict.PASS
    each = _FILES * _CLIENTS
    assert calls_of(result, "locked reads") == {
        "ACCESS": 9 * each,
        "CLOSE": 10 * each,
        "FREE_STATEID": 10 * each,
        "GETATTR": 19 * each,
        "LOCK": 10 * each,
        "LOCKU": 10 * each,
        "LOOKUP": _CLIENTS,
        "OPEN": 10 * each,
        "READ": 10 * each,
    }
    assert result.checks.made == 10 * each


def test_with_delegations_each_file_asks_once() -> None:
    """Of the table: OPEN, CLOSE and READ 1 for each file, and no lock."""
    result = run("lockedreads", version="4.1", policy="delegated", clients=_CLIENTS, parameters=_PARAMETERS)
    assert result.verdict is Verdict.PASS
    each = _FILES * _CLIENTS
    calls = calls_of(result, "locked reads")
    assert calls == {"CLOSE": each, "LOOKUP": _CLIENTS, "OPEN": each, "READ": each}
    assert result.checks.made == 10 * each


def test_a_writer_recalls_what_readers_hold() -> None:
    result = run("recall", version="4.1", policy="delegated", clients=4, parameters={"files": 3})
    assert result.verdict is Verdict.PASS
    assert result.events["recalls of delegations"] >= 2 * 3
    assert calls_of(result, "recall")["DELEGRETURN"] >= 2 * 3


@pytest.mark.parametrize(
    ("workload", "version", "why"),
    [
        ("lockedreads", "3", "lock manager"),
        ("lockedreads", "2", "lock manager"),
        ("recall", "3", "delegations"),
    ],
)
def test_a_version_that_lacks_it_is_refused_with_the_reason(workload: str, version: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        order_of(Wish(workload=workload, version=version), None, 1)


@pytest.mark.parametrize("version", ["4.1", "4.2"])
def test_clients_that_wait_renew_their_leases(version: str) -> None:
    """Readers hold delegations while writers work for several leases: nothing of theirs is lost."""
    passed = 0.0

    def during(_carrier: Here, target: EmbeddedTarget) -> None:
        def takes_a_second(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            nonlocal passed
            passed += 1.0
            target.pass_time(1.0)
            return proceed(context, args)

        target.running().knobs.update(lease_time=6.0, courteous=False)
        target.running().interpose(nfs4.OPEN, takes_a_second)

    result = run(
        "recall",
        version=version,
        policy="delegated",
        clients=3,
        parameters={"files": 10},
        during=during,
        clock=lambda: time.monotonic() + passed,
    )
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert passed > 3 * 6
    assert result.events["renewals of leases"] > 1
    assert "SEQUENCE" not in result.calls  # they are no part of the workload

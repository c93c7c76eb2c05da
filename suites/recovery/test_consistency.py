# SPDX-License-Identifier: MIT
"""Random sequences of calls by two clients, and a crash: what is there is what the acknowledgements allow.

The sequences are drawn at random (`steps`), `nfsjudge.survival` knows every state that is allowed, `sequences` runs
many of them before each crash. One that breaks is made shorter, and the failure shows its calls in plain words.
"""

from __future__ import annotations

import time
import typing as t
from collections.abc import Callable, Mapping

import pytest

from fixtures.checks.budget import Budget
from fixtures.checks.dialects.nfs2 import Nfs2Dialect
from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Harm, Requirement, proves, stated
from nfsjudge.survival import Promise
from suites.losses import Losses
from suites.nfs2.objects import reconnect
from suites.nfs3.clauses import COMMIT_FLUSHES_DATA, FILE_SYNC_DATA_IS_STABLE
from suites.recovery.after_crash import directory_again
from suites.recovery.either import V2_IS_SYNCHRONOUS, V3_NAMES_ARE_SYNCHRONOUS
from suites.recovery.players import Player2, Player3
from suites.recovery.sequences import ROUNDS, Field, judge_sequences, sequences
from suites.recovery.steps import EMPHASIS
from suites.recovery.test_setattr import SETATTR_IS_SYNCHRONOUS
from suites.recovery.test_write import DATA_SYNC_DATA_IS_STABLE

UNSTABLE_STAYS_IN_ITS_RANGE = stated(
    "RFC 1813",
    "3.3.7",
    "any part of UNSTABLE data may be lost, but the server destroys no other data, and leaves no other bytes",
    harm=Harm.DATA,
)
PROMISES: Mapping[Promise, Requirement] = {
    Promise.NAMES: V3_NAMES_ARE_SYNCHRONOUS,
    Promise.FILE_SYNC: FILE_SYNC_DATA_IS_STABLE,
    Promise.DATA_SYNC: DATA_SYNC_DATA_IS_STABLE,
    Promise.COMMIT: COMMIT_FLUSHES_DATA,
    Promise.UNSTABLE: UNSTABLE_STAYS_IN_ITS_RANGE,
    Promise.SETATTR: SETATTR_IS_SYNCHRONOUS,
}


ALL: t.Final = tuple(dict.fromkeys(PROMISES.values()))


@pytest.fixture
def judge3(
    v3: Nfs3Dialect, losses: Losses, rpc_connect: Callable[..., RpcClient], seed: int, budget: Budget
) -> Callable[[str], None]:
    """Runs and judges sequences by NFSv3."""
    player, target = Player3(v3, rpc_connect), losses.target
    field = Field(player, losses, lambda: directory_again(target, v3.scratch))

    def judge(emphasis: str) -> None:
        __tracebackhide__ = True
        chosen = sequences(EMPHASIS[emphasis], player, seed, budget.of(ROUNDS, ours=1))
        judge_sequences(field, chosen, PROMISES, time.monotonic, seed)
        _need_evidence(losses, emphasis)

    return judge


@pytest.fixture
def judge2(
    v2: Nfs2Dialect, losses: Losses, rpc_connect: Callable[..., RpcClient], seed: int, budget: Budget
) -> Callable[[str], None]:
    """Runs and judges sequences by NFSv2."""
    player, scratch = Player2(v2, rpc_connect), v2.scratch

    def place() -> bytes:
        reconnect(losses.target, scratch)
        return scratch.handle

    def judge(emphasis: str) -> None:
        __tracebackhide__ = True
        chosen = sequences(EMPHASIS[emphasis], player, seed, budget.of(ROUNDS, ours=1))
        promises = dict.fromkeys(Promise, V2_IS_SYNCHRONOUS)
        judge_sequences(Field(player, losses, place), chosen, promises, time.monotonic, seed)
        _need_evidence(losses, emphasis)

    return judge


def _need_evidence(losses: Losses, emphasis: str) -> None:
    """SKIP the check, unless the crash loses what the sequences are mostly about."""
    if emphasis == "data":
        losses.need_data()
    else:
        losses.need_metadata()


@pytest.mark.exclusive
@proves(*ALL, killed_by=("crash-undoes-half-of-rename", "crash-miscounts-links-of-moved-files"))
def test_names(judge3: Callable[[str], None]) -> None:
    """After random changes of names by two clients and a crash, there is what the acknowledgements allow."""
    judge3("names")


@pytest.mark.exclusive
@proves(
    *ALL,
    killed_by=("commit3-commits-another-file", "write3-crash-zeroes-pages", "crash-returns-data-after-write"),
)
def test_data(judge3: Callable[[str], None]) -> None:
    """After random writes by two clients and a crash, files hold what the acknowledgements allow."""
    judge3("data")


@pytest.mark.exclusive
@proves(V2_IS_SYNCHRONOUS, killed_by=("crash-undoes-half-of-rename", "crash-miscounts-links-of-moved-files"))
def test_names_nfs2(judge2: Callable[[str], None]) -> None:
    """After random changes of names by two clients of NFSv2 and a crash, there is exactly what they made."""
    judge2("names")


@pytest.mark.exclusive
@proves(V2_IS_SYNCHRONOUS, killed_by="crash-returns-data-after-write")
def test_data_nfs2(judge2: Callable[[str], None]) -> None:
    """After random writes by two clients of NFSv2 and a crash, files hold exactly what they wrote."""
    judge2("data")

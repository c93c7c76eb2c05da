# SPDX-License-Identifier: MIT
"""Random programs of two clients with two owners each, that open, lock, read and write one file.

After each call a model of RFC 5661 says what may be answered, and a third party asks what there is.
"""

from __future__ import annotations

import time

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from nfsjudge import proves, skip
from suites.model.state_campaign import DelegatedCampaign, DelegatedGround, StateCampaign, StateGround
from suites.model.state_claims import claims_of

PROGRAMS = 6
DELEGATED_PROGRAMS = 10


def _judge(v4: Nfs4Dialect, seed: int, group: str) -> None:
    __tracebackhide__ = True
    StateCampaign(StateGround(v4), time.monotonic, name="state", group=group, seed=seed).judge(PROGRAMS)


@proves(
    *claims_of("shares"),
    killed_by=(
        "close4-keeps-shares",
        "close4-closes-for-all",
        "open4-ignores-deny",
        "opendowngrade4-changes-nothing",
        "opendowngrade4-denies-nothing",
    ),
)
def test_shares(v4: Nfs4Dialect, seed: int) -> None:
    """In random programs, an OPEN is refused while share reservations of others are in the way, and no longer."""
    _judge(v4, seed, "shares")


@proves(
    *claims_of("locks"),
    killed_by=(
        "lock4-locks-the-gap",
        "lock4-forgets-the-range-before",
        "lock4-upgrades-over-readers",
        "lock4-denied-upgrades-unlock",
        "lock4-one-client-has-no-conflicts",
        "locku4-unlocks-everything",
        "close4-unlocks-for-all",
    ),
)
def test_locks(v4: Nfs4Dialect, seed: int) -> None:
    """In random programs, bytes are locked from LOCK until LOCKU or CLOSE, for their owner, and for nobody else."""
    _judge(v4, seed, "locks")


@proves(*claims_of("data"), killed_by="write4-puts-the-file-back")
def test_data(v4: Nfs4Dialect, seed: int) -> None:
    """In random programs, READ by any open returns what was written last."""
    _judge(v4, seed, "data")


@pytest.mark.late
@proves(
    *claims_of("delegations"),
    killed_by=(
        "open4-ignores-delegations",
        "changes4-ignore-delegations",
        "changes4-delay-after-the-return",
        "remove4-ignores-delegations",
        "open4-delegates-against-writers",
        "open4-invents-delegations",
        "write4-takes-read-delegations",
        "lock4-is-denied-under-recall",
        "read4-refuses-delegations",
        "write4-refuses-recalled-delegations",
        "open4-claims-nothing-under-recall",
        "delegreturn4-closes-what-was-claimed",
    ),
)
def test_delegations(v4: Nfs4Dialect, seed: int) -> None:
    """In random programs, a delegation serves its holder and keeps others out until it is returned, and no longer."""
    campaign = DelegatedCampaign(
        DelegatedGround(v4), time.monotonic, name="state", group="delegations", seed=seed
    )
    campaign.judge(DELEGATED_PROGRAMS)
    if not campaign.granted:
        skip("the server grants no delegation")


@pytest.mark.late
@proves(
    *claims_of("with NFSv3"),
    killed_by=(
        "nfs3-ignores-delegations",
        "nfs3-executes-while-it-recalls",
        "nfs3-delays-after-the-return",
        "read3-caches-data-by-connection",
        "write4-puts-the-file-back",
        "rename3-keeps-the-old-name",
    ),
)
def test_with_nfs3(v3: Nfs3Dialect, v4: Nfs4Dialect, seed: int) -> None:
    """In random programs with NFSv4.1, calls of NFSv3 wait for delegations, and leave the right data and names."""
    ground = DelegatedGround(v4, v3)
    DelegatedCampaign(ground, time.monotonic, name="state", group="with NFSv3", seed=seed).judge(
        DELEGATED_PROGRAMS
    )

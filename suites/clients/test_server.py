# SPDX-License-Identifier: MIT
"""A right server asks to wait, takes or gives less than a call says, or begins again."""

from __future__ import annotations

from fixtures.clients.trial import ClientTrials
from nfsjudge import proves
from suites.clients.judging import come_through, works_of
from suites.clients.plans import CRASH, DELAY_STATUS, RESTART, SHORT_READS, SHORT_WRITES


@works_of(DELAY_STATUS)
@proves(*DELAY_STATUS.claims, killed_by="client-hides-delay")
def test_delay_status(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although the server first asks it to wait."""
    come_through(client_trials, DELAY_STATUS, work, version)


@works_of(SHORT_WRITES)
@proves(*SHORT_WRITES.claims, killed_by="client-trusts-short-writes")
def test_short_writes(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although a WRITE takes only a part of its data."""
    come_through(client_trials, SHORT_WRITES, work, version)


@works_of(SHORT_READS)
@proves(*SHORT_READS.claims, killed_by="client-trusts-short-reads")
def test_short_reads(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although a READ gives only a part of the data."""
    come_through(client_trials, SHORT_READS, work, version)


@works_of(CRASH)
@proves(*CRASH.claims, killed_by="client-ignores-write-verifiers")
def test_crash(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although the server crashes between a WRITE and its COMMIT."""
    come_through(client_trials, CRASH, work, version)


@works_of(RESTART)
@proves(*RESTART.claims, killed_by="client-hides-lost-connections")
def test_restart(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although the server begins another instance."""
    come_through(client_trials, RESTART, work, version)

# SPDX-License-Identifier: MIT
"""Records of replies are divided in any way."""

from __future__ import annotations

from fixtures.clients.trial import ClientTrials
from nfsjudge import proves
from suites.clients.judging import come_through, works_of
from suites.clients.plans import EMPTY_FRAGMENTS, FRAGMENTS, SEGMENTS, SMALL_FRAGMENTS, STALL


@works_of(SEGMENTS)
@proves(*SEGMENTS.claims, killed_by="client-needs-whole-marks")
def test_segments(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although TCP divides replies, even in the record mark."""
    come_through(client_trials, SEGMENTS, work, version)


@works_of(FRAGMENTS)
@proves(*FRAGMENTS.claims, killed_by="client-takes-fragments-for-records")
def test_fragments(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although replies come in three fragments."""
    come_through(client_trials, FRAGMENTS, work, version)


@works_of(SMALL_FRAGMENTS)
@proves(*SMALL_FRAGMENTS.claims, killed_by="client-takes-fragments-for-records")
def test_small_fragments(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although replies begin with fragments of a few bytes."""
    come_through(client_trials, SMALL_FRAGMENTS, work, version)


@works_of(EMPTY_FRAGMENTS)
@proves(*EMPTY_FRAGMENTS.claims, killed_by="client-takes-fragments-for-records")
def test_empty_fragments(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although replies have empty fragments."""
    come_through(client_trials, EMPTY_FRAGMENTS, work, version)


@works_of(STALL)
@proves(*STALL.claims, killed_by="client-gives-up-soon")
def test_stall(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although a reply stops in its middle for a second."""
    come_through(client_trials, STALL, work, version)

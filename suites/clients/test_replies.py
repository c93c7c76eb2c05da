# SPDX-License-Identifier: MIT
"""Replies come twice, or after others."""

from __future__ import annotations

from fixtures.clients.trial import ClientTrials
from nfsjudge import proves
from suites.clients.judging import come_through, works_of
from suites.clients.plans import REPLY_DOUBLED, REPLY_LATE


@works_of(REPLY_DOUBLED)
@proves(*REPLY_DOUBLED.claims, killed_by="client-takes-any-reply")
def test_reply_doubled(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although replies come twice."""
    come_through(client_trials, REPLY_DOUBLED, work, version)


@works_of(REPLY_LATE)
@proves(*REPLY_LATE.claims, killed_by="client-gives-up-soon")
def test_reply_late(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although replies come after those to later calls."""
    come_through(client_trials, REPLY_LATE, work, version)

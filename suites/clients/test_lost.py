# SPDX-License-Identifier: MIT
"""Calls and replies are lost, and their connection ends."""

from __future__ import annotations

from fixtures.clients.trial import ClientTrials
from nfsjudge import proves
from suites.clients.judging import come_through, works_of
from suites.clients.plans import CALL_LOST, CHANGE_REPLY_LOST, REPLY_CUT, REPLY_LOST


@works_of(CALL_LOST)
@proves(*CALL_LOST.claims, killed_by="client-hides-lost-connections")
def test_call_lost(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although calls are lost with their connection."""
    come_through(client_trials, CALL_LOST, work, version)


@works_of(REPLY_LOST)
@proves(*REPLY_LOST.claims, killed_by="client-hides-lost-connections")
def test_reply_lost(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although replies are lost with their connection."""
    come_through(client_trials, REPLY_LOST, work, version)


@works_of(CHANGE_REPLY_LOST)
@proves(*CHANGE_REPLY_LOST.claims, killed_by="client-hides-lost-connections")
def test_change_reply_lost(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although replies to changes are lost, and their connection is reset."""
    come_through(client_trials, CHANGE_REPLY_LOST, work, version)


@works_of(REPLY_CUT)
@proves(*REPLY_CUT.claims, killed_by="client-hides-lost-connections")
def test_reply_cut(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work although its connection is reset in the middle of replies."""
    come_through(client_trials, REPLY_CUT, work, version)

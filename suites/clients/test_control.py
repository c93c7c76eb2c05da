# SPDX-License-Identifier: MIT
"""Without faults: the control. A client that fails here is not judged anywhere else."""

from __future__ import annotations

from fixtures.clients.trial import ClientTrials
from nfsjudge import proves
from suites.clients.judging import come_through, works_of
from suites.clients.plans import NOTHING


@works_of(NOTHING)
@proves(*NOTHING.claims, killed_by="client-does-nothing")
def test_none(client_trials: ClientTrials, work: str, version: str) -> None:
    """The client does its work when nothing happens."""
    come_through(client_trials, NOTHING, work, version)

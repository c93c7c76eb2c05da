# SPDX-License-Identifier: MIT
"""A compound of many that are under way at a time."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from nfsclient.clients.nfs4 import Request, Session
from nfsclient.files import Compound
from nfsclient.highlevel.session import Job
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.core import Pending


@dataclass(slots=True, eq=False)
class UnderWay:
    """A job, and the request that was sent for it."""

    job: Job[t.Any]
    compound: Compound
    request: Request
    pending: Pending[p.Compound4Res]
    sent_at: float
    session: Session
    connection: int
    """Which of the connections it was sent over, counted from the first one."""


def compound_of(job: Job[t.Any]) -> Compound:
    """The next call of a job of NFSv4."""
    compound = job.begin()
    assert isinstance(compound, Compound)
    return compound

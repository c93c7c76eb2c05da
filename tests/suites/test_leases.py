# SPDX-License-Identifier: MIT
"""A lease that checks keep: what a server is red for, and what a stall on the way excuses."""

from __future__ import annotations

import typing as t
from types import SimpleNamespace

import pytest

from nfsclient.clients.nfs4 import CompoundReply
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Nonconformance, Skipped
from suites.nfs4.delegations import Lease


class _Forgets:
    """A session that the server answers after some seconds, with BADSESSION."""

    status = Nfsstat4.NFS4ERR_BADSESSION

    def __init__(self, seconds: float) -> None:
        self.now = 1.1
        self._seconds = seconds
        self.nfs4 = SimpleNamespace(rpc=SimpleNamespace(is_open=True, is_usable=True, keep_open=lambda: None))

    def renew(self) -> CompoundReply:
        self.now += self._seconds
        args = p.Compound4Args(b"", 1, [])
        return CompoundReply(args, p.Compound4Res(self.status, b"", [p.Sequence4Res(self.status)]))


class _Remembers(_Forgets):
    """One that it answers with success."""

    status = Nfsstat4.NFS4_OK


def _lease(answers_after: float, kind: type[_Forgets] = _Forgets) -> Lease:
    session = kind(answers_after)
    return Lease(t.cast("t.Any", session), 3.0, 0.0, lambda: session.now)


def test_a_session_that_is_forgotten_within_its_lease_is_red() -> None:
    with pytest.raises(Nonconformance):
        _lease(0.1).keep()


def test_a_request_that_may_have_arrived_after_the_lease_proves_nothing() -> None:
    with pytest.raises(Skipped):
        _lease(2.0).keep()


def test_a_lease_that_may_have_ended_before_it_was_renewed_proves_nothing() -> None:
    lease = _lease(2.0, _Remembers)
    lease.keep()
    with pytest.raises(Skipped):
        lease.need()


def test_a_lease_that_was_renewed_in_time_is_there() -> None:
    lease = _lease(0.1, _Remembers)
    lease.keep()
    lease.need()

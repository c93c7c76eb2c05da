# SPDX-License-Identifier: MIT
"""Retries of requests whose reply need not be kept, by the operation after SEQUENCE (RFC 5661 section 2.10.6.1.3)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, must, observe, proves
from suites.nfs4.calls import CALLS, IN_SESSIONS
from suites.nfs4.retries import own_session, performed, send_again, without_sequence

UNCACHED_IS_SAID = must(
    "RFC 5661",
    "2.10.6.1.3",
    "a retry of a request that need not be cached gets the whole first reply, or a SEQUENCE that succeeds and an error "
    "of the operation after it",
)


@pytest.mark.parametrize("name", IN_SESSIONS)
@proves(UNCACHED_IS_SAID, killed_by="sequence4-is-uncached-itself")
def test_uncached(v4: Nfs4Dialect, name: str) -> None:
    """A retry that need not be cached gets the first reply, or an error from the operation after SEQUENCE."""
    session = own_session(v4)
    request, first = performed(session, [CALLS[name].plain], cache_this=False)
    expect(first).of(p.SEQUENCE).ok()
    again = send_again(v4, session, request)
    expect(again).of(p.SEQUENCE).ok()
    observe("retry of an uncached request", again.status.name)
    if without_sequence(again) == without_sequence(first):
        return
    expect(len(again), "results after SEQUENCE").equals(1)
    # RETRY_UNCACHED_REP, or what else the operation can result in if nothing is changed.
    expect(again).field("status").differs_from(Nfsstat4.NFS4_OK)

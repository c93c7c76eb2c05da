# SPDX-License-Identifier: MIT
"""Expects that a server goes on serving others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from fixtures.checks.wire import WhyNotServed, Wire
from nfsclient.errors import ConnectionLost
from nfsjudge import expect
from suites.rpc.clauses import SERVES_OTHERS_AFTERWARDS, SERVES_OTHERS_MEANWHILE


def expect_others_served_after(peer: Wire, stream: bytes, why_not_served: WhyNotServed) -> None:
    with contextlib.suppress(ConnectionLost):
        peer.send(stream)
    expect_others_served([peer], why_not_served)


def expect_others_served(peers: Iterable[Wire], why_not_served: WhyNotServed) -> None:
    """Expect that the server serves others after these clients have left, and if possible before."""
    __tracebackhide__ = True
    meanwhile = why_not_served(meanwhile=True)
    for peer in peers:
        peer.client.close()
    expect(
        why_not_served(), "why others are not served afterwards", because=SERVES_OTHERS_AFTERWARDS
    ).is_absent()
    expect(meanwhile, "why others are not served meanwhile", because=SERVES_OTHERS_MEANWHILE).is_absent()

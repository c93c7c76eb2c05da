# SPDX-License-Identifier: MIT
"""Expects that a server goes on serving others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from fixtures.checks.bystanders import WhyNotServed
from fixtures.checks.wire import Wire
from nfsclient.errors import ConnectionLost
from nfsjudge import expect_that, observe
from suites.rpc.clauses import SERVES_OTHERS_AFTERWARDS


def expect_others_served_after(peer: Wire, stream: bytes, why_not_served: WhyNotServed) -> None:
    """Send `stream`, and expect that the server serves others after the client has left."""
    __tracebackhide__ = True
    with contextlib.suppress(ConnectionLost):
        peer.send_raw(stream)
    expect_others_served([peer], why_not_served)


def expect_others_served(peers: Iterable[Wire], why_not_served: WhyNotServed) -> None:
    """Expect that the server serves others after these clients have left; observe whether it does before."""
    __tracebackhide__ = True
    observe_meanwhile(why_not_served)
    for peer in peers:
        peer.client.close()
    expect_served_afterwards(why_not_served)


def observe_meanwhile(why_not_served: WhyNotServed) -> None:
    """Observe whether others are served now: a server may serve one client at a time (RFC 1831 section 3)."""
    reason = why_not_served(meanwhile=True)
    observe("others meanwhile", "served" if reason is None else f"not served: {reason}")


def expect_served_afterwards(why_not_served: WhyNotServed) -> None:
    """Expect that the server answers a new connection, and has not died."""
    __tracebackhide__ = True
    reason = why_not_served()
    rule, what = SERVES_OTHERS_AFTERWARDS, "NULL on a new connection afterwards"
    expect_that(reason is None, "a reply", reason or "", what, because=rule)
    restarted = why_not_served.why_restarted()
    seen = f"one that died and was started again ({restarted})"
    expect_that(
        restarted is None, "the server that was there before", seen, "server afterwards", because=rule
    )

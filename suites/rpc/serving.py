# SPDX-License-Identifier: MIT
"""Expects that a server goes on serving others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from fixtures.checks.wire import WhyNotServed, Wire
from nfsclient.errors import ConnectionLost
from nfsjudge import Requirement, expect_that
from suites.rpc.clauses import SERVES_OTHERS_AFTERWARDS, SERVES_OTHERS_MEANWHILE


def expect_others_served_after(peer: Wire, stream: bytes, why_not_served: WhyNotServed) -> None:
    with contextlib.suppress(ConnectionLost):
        peer.send_raw(stream)
    expect_others_served([peer], why_not_served)


def expect_others_served(peers: Iterable[Wire], why_not_served: WhyNotServed) -> None:
    """Expect that the server serves others after these clients have left, and if possible before."""
    __tracebackhide__ = True
    meanwhile = why_not_served(meanwhile=True)
    for peer in peers:
        peer.client.close()
    _expect_served(why_not_served(), "afterwards", because=SERVES_OTHERS_AFTERWARDS)
    _expect_served(meanwhile, "meanwhile", because=SERVES_OTHERS_MEANWHILE)


def expect_served_afterwards(why_not_served: WhyNotServed) -> None:
    """Expect that the server answers a new connection."""
    __tracebackhide__ = True
    _expect_served(why_not_served(), "afterwards")


def _expect_served(reason: str | None, when: str, *, because: Requirement | None = None) -> None:
    __tracebackhide__ = True
    what = f"NULL on a new connection {when}"
    expect_that(reason is None, "a reply", reason or "", what, because=because)

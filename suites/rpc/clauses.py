# SPDX-License-Identifier: MIT
"""Clauses that checks in more than one file prove, each declared once."""

from __future__ import annotations

from nfsjudge import Harm, stated

SERVES_OTHERS_AFTERWARDS = stated(
    "RFC 1831",
    "3",
    "a server awaits the next call after a reply, so it serves others whatever one client has sent",
    harm=Harm.CRASH,
)
EXECUTES_AT_LEAST_ONCE = stated(
    "RFC 1831",
    "4",
    "a call that was answered has been executed at least once, so its effect remains",
    harm=Harm.SUCCESS,
)

# SPDX-License-Identifier: MIT
"""Clauses that checks in more than one file prove, each declared once."""

from __future__ import annotations

from nfsjudge import Harm, Requirement

SERVES_OTHERS_AFTERWARDS = Requirement(
    rfc="RFC 1831",
    section="3",
    gist="a server awaits the next call after a reply, so it serves others whatever one client has sent",
    harm=Harm.CRASH,
)
EXECUTES_AT_LEAST_ONCE = Requirement(
    rfc="RFC 1831",
    section="4",
    gist="a call that was answered has been executed at least once, so its effect remains",
    harm=Harm.SUCCESS,
)

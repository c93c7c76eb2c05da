# SPDX-License-Identifier: MIT
"""Clauses that checks in more than one file prove, each declared once."""

from __future__ import annotations

from nfsjudge import Level, Requirement

SERVES_OTHERS_AFTERWARDS = Requirement(
    rfc="RFC 1831",
    section="3",
    gist="a server awaits the next call after a reply, so it serves others whatever one client has sent",
)
SERVES_OTHERS_MEANWHILE = Requirement(
    rfc="RFC 1831",
    section="3",
    level=Level.SHOULD,  # section 3 requires no concurrency: a server may serve one client at a time
    gist="a server should serve other clients while one client sends, or sends nothing",
)

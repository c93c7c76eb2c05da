# SPDX-License-Identifier: MIT
"""Checks of NFSv4.1 and 4.2 (RFC 5661, RFC 7862)."""

from __future__ import annotations

import typing as t

BEGINS_WITH: t.Final = (
    ("compounds", "Compounds", "nfsclient.clients.nfs4"),
    ("scratch", "Nfs4Scratch", "fixtures.checks.dialects.nfs4"),
)
"""The fixtures of a check that `nfsproof new-check` begins: name, type, module of the type."""
MARK: t.Final = ("MINORS", "suites.nfs4.minors")
"""The mark that most checks have, and its module."""

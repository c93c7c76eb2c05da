# SPDX-License-Identifier: MIT
"""Checks of what only a crash or a restart of the server shows, of any protocol."""

from __future__ import annotations

import typing as t

BEGINS_WITH: t.Final = (
    ("nfs3", "Nfs3", "nfsclient.clients"),
    ("scratch", "Nfs3Scratch", "fixtures.checks.dialects.nfs3"),
    ("losses", "Losses", "suites.losses"),
)
"""The fixtures of a check that `nfsproof new-check` begins: name, type, module of the type."""
RFC: t.Final = "RFC 1813"
"""Of a section that `nfsproof new-check` is given without one: the checks here are about several protocols."""

# SPDX-License-Identifier: MIT
"""Checks of NFSv3 (RFC 1813)."""

from __future__ import annotations

import typing as t

BEGINS_WITH: t.Final = (
    ("nfs3", "Nfs3", "nfsclient.clients"),
    ("scratch", "Nfs3Scratch", "fixtures.checks.dialects.nfs3"),
)
"""The fixtures of a check that `nfsproof new-check` begins: name, type, module of the type."""

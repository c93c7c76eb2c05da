# SPDX-License-Identifier: MIT
"""Checks of Spritely NFS."""

from __future__ import annotations

import typing as t

BEGINS_WITH: t.Final = (
    ("nfs2", "Nfs2", "nfsclient.clients"),
    ("scratch", "Nfs2Scratch", "fixtures.checks.dialects.nfs2"),
)
"""The fixtures of a check that `nfsproof new-check` begins: name, type, module of the type."""

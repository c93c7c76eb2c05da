# SPDX-License-Identifier: MIT
"""Checks of Spritely NFS."""

from __future__ import annotations

import typing as t

BEGINS_WITH: t.Final = (("table", "Table", "suites.snfs.players"),)
"""The fixtures of a check that `nfsproof new-check` begins: name, type, module of the type."""

# SPDX-License-Identifier: MIT
"""Checks of what servers do when messages are lost, doubled, late or in pieces."""

from __future__ import annotations

import typing as t

BEGINS_WITH: t.Final = (("faults", "MakeFaulty", "fixtures.checks.faults"),)
"""The fixtures of a check that `nfsproof new-check` begins: name, type, module of the type."""
RFC: t.Final = "RFC 1831"
"""Of a section that `nfsproof new-check` is given without one: the checks here are about several protocols."""

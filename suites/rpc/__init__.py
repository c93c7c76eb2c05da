# SPDX-License-Identifier: MIT
"""Checks of ONC RPC itself (RFC 1831), with the NFS program of the target."""

from __future__ import annotations

import typing as t

BEGINS_WITH: t.Final = (("wire", "MakeWire", "fixtures.checks.wire"),)
"""The fixtures of a check that `nfsproof new-check` begins: name, type, module of the type."""

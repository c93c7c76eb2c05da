# SPDX-License-Identifier: MIT
"""These tests use the server of tests/nfsserver."""

from __future__ import annotations

from tests.nfsserver.conftest import make_rig, rig

__all__ = ["make_rig", "rig"]

# SPDX-License-Identifier: MIT
"""The servers of tests/nfsserver, on which mutants can be switched on."""

from __future__ import annotations

from tests.nfsserver.conftest import make_rig, nfs3, rig, root

__all__ = ["make_rig", "nfs3", "rig", "root"]

# SPDX-License-Identifier: MIT
"""The reference server of the tests of the server serves these too."""

from __future__ import annotations

from tests.nfsserver.conftest import rig

__all__ = ["rig"]

# SPDX-License-Identifier: MIT
"""How long the checks of leases wait: a server that counts whole seconds has ended what was not renewed."""

from __future__ import annotations

import math

import pytest

from suites.nfs4.leases import parts


@pytest.mark.parametrize("lease", [3, 5, 15])
@pytest.mark.parametrize("phase", [0.0, 0.3, 0.6, 0.999])
def test_a_server_that_looks_once_a_second_has_noticed_the_end(lease: int, phase: float) -> None:
    last_look = math.floor(sum(parts(lease)) - phase) + phase
    assert last_look >= lease


@pytest.mark.parametrize("lease", [0.75, 1, 3, 15])
def test_who_renews_keeps_the_lease(lease: float) -> None:
    assert max(parts(lease)) <= lease / 3
    assert sum(parts(lease)) > lease

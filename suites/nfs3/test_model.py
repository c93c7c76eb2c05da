# SPDX-License-Identifier: MIT
"""Random programs of two clients by NFSv3: after each call the other client sees what a model of RFC 1813 allows."""

from __future__ import annotations

import time


from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.target import TargetView
from nfsjudge import proves
from suites.model.campaign import Campaign
from suites.model.claims import V3
from suites.model.grounds import Ground3


@proves(*dict.fromkeys(V3.values()), killed_by="write3-second-unstable-keeps-mtime")
def test_two_clients(v3: Nfs3Dialect, target: TargetView, seed: int) -> None:
    """After each call of random programs of two clients, both see what the model of RFC 1813 allows."""
    Campaign(Ground3(v3), time.monotonic, name="v3", seed=seed, is_root=target.has("root")).judge()

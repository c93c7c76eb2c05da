# SPDX-License-Identifier: MIT
"""Random programs of two clients by NFSv4.1, and of one by NFSv3 beside one by NFSv4.1, without opens that last.

After each call the other client sees what a model of the RFCs allows.
"""

from __future__ import annotations

import time

from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from nfsjudge import proves
from suites.model.campaign import Campaign
from suites.model.claims import V3, V4
from suites.model.grounds import Ground4, Ground34


@proves(*dict.fromkeys(V4.values()), killed_by="getattr4-change-comes-again")
def test_two_clients(v4: Nfs4Dialect, seed: int) -> None:
    """After each call of random programs of two clients, both see what the model of RFC 5661 allows."""
    Campaign(Ground4(v4), time.monotonic, name="v4", seed=seed, is_root=False).judge()


@proves(*dict.fromkeys((*V4.values(), *V3.values())), killed_by="readdirplus3-attributes-by-connection")
def test_beside_nfs3(v3: Nfs3Dialect, v4: Nfs4Dialect, seed: int) -> None:
    """After each call of random programs of a client by NFSv3 and one by NFSv4.1, both see what the models allow."""
    Campaign(Ground34(v3, v4), time.monotonic, name="v3 v4", seed=seed, is_root=False).judge()

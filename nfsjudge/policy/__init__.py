# SPDX-License-Identifier: MIT
"""What a protocol leaves open, as tables: statuses that judge nothing, optional procedures, versions.

`expect()` and the plugin look things up here by the type of a status, a procedure or a program, and know no number
themselves. A protocol registers its tables when its module is imported; this package imports them all.
"""

from __future__ import annotations

from nfsjudge.policy import mount, nfs2, nfs3, nfs4
from nfsjudge.policy.engine import (
    Ends,
    Inconclusive,
    ProtocolPolicy,
    StatusPolicy,
    capability_for,
    optional_capability,
    policy_of,
    register,
)

__all__ = [
    "Ends",
    "Inconclusive",
    "ProtocolPolicy",
    "StatusPolicy",
    "capability_for",
    "mount",
    "nfs2",
    "nfs3",
    "nfs4",
    "optional_capability",
    "policy_of",
    "register",
]

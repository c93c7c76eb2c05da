# SPDX-License-Identifier: MIT
"""What a protocol leaves open, as tables: statuses that judge nothing, optional procedures, versions.

`expect()` and the plugin look things up here by the type of a status, a procedure or a program, and know no number
themselves. A protocol registers its tables when its module is imported; this package imports the module of each.
"""

from __future__ import annotations

from nfsclient.protocol.registry import parts_of
from nfsjudge.policy.engine import (
    Ends,
    Inconclusive,
    ProtocolPolicy,
    StatusPolicy,
    capability_for,
    is_lacking,
    is_needed,
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
    "is_lacking",
    "is_needed",
    "optional_capability",
    "policy_of",
    "register",
]

parts_of("nfsjudge.policy")

# SPDX-License-Identifier: MIT
"""Client policies: what a call of a program becomes on the wire.

table     the policies: for each call of a program its steps, and where that is described
client    carries out steps on one client: names, attributes, opens, locks
data      reading and writing: windows, delayed writes, caches, commits
verbs     a step as calls of one version of NFS
"""

from __future__ import annotations

from workloads.policies.table import DIRECT, POLICIES, Policy, Row

__all__ = ["DIRECT", "POLICIES", "Policy", "Row"]

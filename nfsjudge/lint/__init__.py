# SPDX-License-Identifier: MIT
"""The lint: rules that apply to every exchange, whatever a check judges. Pure functions, no I/O."""

from __future__ import annotations

from nfsjudge.lint import mount_rules, nfs2_rules, nfs3_rules, nfs3_state, nfs4_rules, nfs4_state, rpc_rules
from nfsjudge.lint.engine import Event, Happening, Linter, lint
from nfsjudge.lint.rule import SEVERITIES, Breach, Finding, Rule, Severity, all_rules

__all__ = [
    "SEVERITIES",
    "Breach",
    "Event",
    "Finding",
    "Happening",
    "Linter",
    "Rule",
    "Severity",
    "all_rules",
    "lint",
    "mount_rules",
    "nfs2_rules",
    "nfs3_rules",
    "nfs3_state",
    "nfs4_rules",
    "nfs4_state",
    "rpc_rules",
]

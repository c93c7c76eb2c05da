# SPDX-License-Identifier: MIT
"""The lint: rules that apply to every exchange, whatever a check judges. Pure functions, no I/O."""

from __future__ import annotations

from nfsclient.protocol.registry import parts_of
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
]

parts_of("nfsjudge.lint", "{}_rules")
parts_of("nfsjudge.lint", "{}_state")
parts_of("nfsjudge.lint", "{}_callbacks")
parts_of("nfsjudge.lint", "{}_callback_messages")

# SPDX-License-Identifier: MIT
"""What a target lacks, by its capabilities: one line for a terminal, and all of it by reason."""

from __future__ import annotations

import typing as t

from nfsjudge.wording import count
from reports.causes.reasons import short_reason

_YES: t.Final = "yes"
_FAILS: t.Final = "fails: "
_MOST: t.Final = 3


def lacks_lines(capabilities: t.Mapping[str, str]) -> list[str]:
    """``lacks nfs2, nfs2_udp (NFSv2 is not served)``: a line for each reason, in the order of the capabilities."""
    missing: dict[str, list[str]] = {}
    for name, value in capabilities.items():
        if value != _YES:
            missing.setdefault(short_reason(value), []).append(name)
    return [f"lacks {', '.join(names)} ({text})" for text, names in missing.items()]


def failing_lines(capabilities: t.Mapping[str, str]) -> list[str]:
    """The same for what fails although the target does not say that it lacks it: a few lines that people must see."""
    return lacks_lines({name: value for name, value in capabilities.items() if value.startswith(_FAILS)})[
        :_MOST
    ]


def lacks_line(capabilities: t.Mapping[str, str]) -> str:
    """How much the target lacks, in one line; empty if it lacks nothing."""
    lines = lacks_lines(capabilities)
    if len(lines) <= 1:
        return lines[0] if lines else ""
    lacking = sum(value != _YES for value in capabilities.values())
    return f"lacks {lacking} of {count(len(capabilities), 'capability', 'capabilities')}, for {len(lines)} reasons"

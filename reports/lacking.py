# SPDX-License-Identifier: MIT
"""What a target lacks, by its capabilities: one line for a terminal, and all of it by reason."""

from __future__ import annotations

import typing as t

from nfsjudge.wording import count
from reports.causes.reasons import short_reason

_YES: t.Final = "yes"
_FAILS: t.Final = "fails: "
_UNKNOWN: t.Final = "not known: "
_NOT_SHOWN: t.Final = "does not show whether it has"
_MOST: t.Final = 3


def lacks_lines(capabilities: t.Mapping[str, str]) -> list[str]:
    """``lacks nfs2, nfs2_udp (NFSv2 is not served)``: a line for each reason, in the order of the capabilities.

    What is not known has lines that begin with other words.
    """
    missing: dict[tuple[str, str], list[str]] = {}
    for name, value in capabilities.items():
        if value.startswith(_UNKNOWN):
            reason = short_reason(value.removeprefix(_UNKNOWN))
            missing.setdefault((_NOT_SHOWN, reason), []).append(name)
        elif value != _YES:
            missing.setdefault(("lacks", short_reason(value)), []).append(name)
    return [f"{begins} {', '.join(names)} ({text})" for (begins, text), names in missing.items()]


def failing_lines(capabilities: t.Mapping[str, str]) -> list[str]:
    """The same for what fails, and for what is not known: a few lines that people must see."""
    unclear = {name: value for name, value in capabilities.items() if value.startswith((_FAILS, _UNKNOWN))}
    return lacks_lines(unclear)[:_MOST]


def lacks_line(capabilities: t.Mapping[str, str]) -> str:
    """How much the target lacks, in one line; empty if it lacks nothing. What is not known is not counted."""
    known = {name: value for name, value in capabilities.items() if not value.startswith(_UNKNOWN)}
    lines = lacks_lines(known)
    if len(lines) <= 1:
        return lines[0] if lines else ""
    lacking = sum(value != _YES for value in known.values())
    return f"lacks {lacking} of {count(len(capabilities), 'capability', 'capabilities')}, for {len(lines)} reasons"


def report_lines(capabilities: t.Mapping[str, str]) -> list[str]:
    """All of it for a report: ``lacks:   nfs2 (NFSv2 is not served)``, ``unknown: symlink (MKDIR answers 5)``."""
    return [
        f"lacks:   {line.removeprefix('lacks ')}"
        if line.startswith("lacks ")
        else f"unknown: {line.removeprefix(_NOT_SHOWN).lstrip()}"
        for line in lacks_lines(capabilities)
    ]

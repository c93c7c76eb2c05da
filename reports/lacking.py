# SPDX-License-Identifier: MIT
"""What a target lacks, by its capabilities: one line for a terminal, and all of it by reason."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from nfsjudge.reason import ReasonRecord, fields_of
from nfsjudge.wording import count
from reports.reason import key_of, text_of

_YES: t.Final = "yes"
_FAILS: t.Final = "fails: "
_UNKNOWN: t.Final = "not known: "
_NOT_SHOWN: t.Final = "does not show whether it has"
_MOST: t.Final = 3


def lacks_lines(capabilities: t.Mapping[str, str]) -> list[str]:
    """``lacks nfs2, nfs2_udp (NFSv2 is not served)``: a line for each reason, in the order of the capabilities.

    What is not known has lines that begin with other words. The values may have their fields (`nfsjudge.reason`).
    """
    missing: dict[tuple[object, ...], tuple[str, list[str], list[ReasonRecord]]] = {}
    for name, value in capabilities.items():
        if value == _YES:
            continue
        doubt = next((doubt for doubt in (_FAILS, _UNKNOWN) if value.startswith(doubt)), "")
        known = fields_of(value)
        reason = replace(known, doubt="", text=known.text.removeprefix(doubt))
        _, names, reasons = missing.setdefault((doubt, *key_of(reason)), (doubt, [], []))
        names.append(name)
        reasons.append(reason)
    return [_line(*of_one_reason) for of_one_reason in missing.values()]


def _line(doubt: str, names: t.Sequence[str], reasons: t.Sequence[ReasonRecord]) -> str:
    begins = _NOT_SHOWN if doubt == _UNKNOWN else "lacks"
    return f"{begins} {', '.join(names)} ({doubt if doubt == _FAILS else ''}{text_of(reasons)})"


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

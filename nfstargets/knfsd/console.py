# SPDX-License-Identifier: MIT
"""What the kernel says on its console that a sound one never says."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nfstargets.base import Alarm

_BROKEN = re.compile(
    r"\bOops\b|\bBUG: |\bkernel BUG at |Kernel panic|general protection fault|KASAN: |UBSAN: "
)
_ODD = re.compile(
    r"\bWARNING: (CPU|possible|bad|at)\b|blocked for more than \d+ seconds|rcu.*detected.*stalls?"
    r"|soft lockup|page allocation failure|Out of memory: |refcount_t: |(EXT4-fs|XFS).*\b(error|corruption)\b",
    re.IGNORECASE,
)
_KEPT = 30
"""Lines of an alarm: enough for a stack trace."""


def alarms_in(lines: Iterable[str]) -> list[Alarm]:
    """The alarms among lines of the console, each with the lines that follow it.

    What may come of a busy machine or of too little memory is no proof of a defect, so it is not grave.
    """
    found: list[tuple[str, bool, list[str]]] = []
    for line in lines:
        is_grave = _BROKEN.search(line) is not None
        # A warning and what it is about are one alarm, as is an oops with the panic that follows.
        is_part = bool(found) and len(found[-1][2]) < _KEPT and (found[-1][1] or not is_grave)
        if not is_part and (is_grave or _ODD.search(line)):
            found.append((line.strip(), is_grave, []))
        if found and len(found[-1][2]) < _KEPT:
            found[-1][2].append(line)
    return [Alarm(text, tuple(kept), is_grave=is_grave) for text, is_grave, kept in found]

# SPDX-License-Identifier: MIT
"""Places that `nfsproof new-check` leaves for the author to fill in; nothing of them may land."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

MARK = "FILL IN"
"""In texts and comments."""
NAME = "FILL_IN"
"""In code: no module defines it, so linter, type checker and run are red."""
_LEFT = re.compile(r"FILL[ _]IN|fill[-_]in[-_]")
_ROOMS = ("suites", "nfsmutants")


def unfilled(root: Path, files: Iterable[Path] | None = None) -> Iterator[str]:
    """``FILE:LINE: TEXT`` of each such place, in the rooms that have checks and mutants, or in some files."""
    if files is None:
        files = sorted(path for room in _ROOMS for path in (root / room).rglob("*.py"))
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if _LEFT.search(line):
                yield f"{path.relative_to(root)}:{number}: {line.strip()}"

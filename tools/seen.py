# SPDX-License-Identifier: MIT
"""Writes what a server has shown in a whole run to `baselines/seen/NAME.json`, where NAME is that of its baseline.

.venv/bin/python -m tools.seen REPORT NAME
"""

from __future__ import annotations

import sys
from pathlib import Path

from reports import load
from reports.causes.seen import pack, to_text

FOLDER = Path(__file__).resolve().parents[1] / "baselines" / "seen"


def main(report: str, name: str) -> None:
    """Write the file of one server."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.json").write_text(to_text(pack(load(Path(report)))), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

# SPDX-License-Identifier: MIT
"""Where reports lie if nobody says where: a numbered folder for each run, and a link to the latest.

``nfsproof-report/1``, ``nfsproof-report/2`` ... and ``nfsproof-report/latest``. A folder that the user names is used as
it is, without numbers.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

DEFAULT = Path("nfsproof-report")
LATEST = "latest"
RECORDS = "records.jsonl"


def make_numbered(base: Path) -> Path:
    """A new folder in `base`, with the number after the highest there is. Raises OSError."""
    base.mkdir(parents=True, exist_ok=True)
    number = 1 + max(_numbers(base), default=0)
    while True:
        try:
            (base / str(number)).mkdir()
        except FileExistsError:  # another run was faster
            number += 1
        else:
            return base / str(number)


def point_latest(folder: Path) -> None:
    """Let ``latest`` lead to a numbered folder; where there are no links, it is a file with the number."""
    link, new = folder.parent / LATEST, folder.parent / f".{LATEST}-{folder.name}"
    with contextlib.suppress(OSError):
        new.unlink(missing_ok=True)
        try:
            new.symlink_to(folder.name, target_is_directory=True)
        except OSError:
            new.write_text(f"{folder.name}\n", encoding="ascii")
        new.replace(link)


def chosen_run(path: Path) -> Path:
    """The folder of the latest run, for a folder of numbered ones; any other path as it is."""
    mark = path / LATEST
    if not (mark.is_symlink() or mark.is_file()):
        return path
    ended = [number for number in _numbers(path) if (path / str(number) / RECORDS).exists()]
    named = mark.resolve().name if mark.is_symlink() else mark.read_text(encoding="ascii").strip()
    if named.isdecimal() and int(named) in ended:
        return path / named
    return path / str(max(ended)) if ended else path


def discard_empty(folder: Path) -> None:
    """Remove a numbered folder of a run that did not begin, and the folder around it if nothing else is there."""
    with contextlib.suppress(OSError):
        if not (folder / RECORDS).exists():
            (folder / "evidence").rmdir()
            folder.rmdir()
            folder.parent.rmdir()


def _numbers(base: Path) -> list[int]:
    return [int(path.name) for path in base.iterdir() if path.name.isdecimal() and len(path.name) < 10]

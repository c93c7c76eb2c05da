# SPDX-License-Identifier: MIT
"""The baselines that come with nfsproof: what is known of the servers that it runs itself."""

from __future__ import annotations

import functools
from pathlib import Path

from reports.baseline.gate import Match
from reports.baseline.model import Baseline, load_baseline
from reports.idlist import known_ids


def folder() -> Path:
    """Where they are: next to `reports`, in the checkout and in the wheel."""
    return Path(__file__).resolve().parents[2] / "baselines"


def shipped_names() -> list[str]:
    """The names that stand for a file: ``ganesha-4.3-vfs``."""
    return sorted(path.stem for path in folder().glob("*.toml"))


def find_baseline(word: str) -> Path:
    """The file that a word means: a path, or the name of a baseline of nfsproof. Raises FileNotFoundError."""
    path = Path(word)
    if path.exists():
        return path
    ours = folder() / f"{word}.toml"
    if "/" not in word and ours.exists():
        return ours
    known = ", ".join(shipped_names())
    raise FileNotFoundError(f"no baseline {word}: expected a file, or one of {known}")


@functools.cache
def shipped() -> tuple[Baseline, ...]:
    return tuple(load_baseline(folder() / f"{name}.toml") for name in shipped_names())


def known_elsewhere(check_id: str, verdict: str, *, target: str = "") -> tuple[list[str], int]:
    """The servers that are known for the same verdict of the same check, and of how many something is known at all.

    The server of `target` itself is left out in all its kinds (``ganesha:vfs``), and so is the embedded one. Each
    server counts once, however many kinds of it there are.
    """
    mine = {target.partition(":")[0], "embedded"}
    others = [baseline for baseline in shipped() if baseline.target.partition(":")[0] not in mine]
    found = []
    for baseline in others:
        entry = next(iter(Match(baseline, [check_id], known_ids()).entry_of.values()), None)
        if entry is not None and entry.verdict == verdict:
            found.append(baseline.server)
    return found, len({baseline.target.partition(":")[0] for baseline in others})

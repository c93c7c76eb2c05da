# SPDX-License-Identifier: MIT
"""The baselines that come with nfsproof: what is known of the servers that it runs itself."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from nfsjudge.records import CheckRecord, FindingRecord, deviation
from reports.baseline.gate import Match, Seen, agrees
from reports.baseline.model import Baseline, load_baseline, parse_baseline, read_text
from reports.causes.seen import signatures_in
from reports.causes.symptom import signature
from reports.idlist import known_ids

_VERSION = re.compile(r"\d+(?:\.\d+)+")


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


@functools.cache
def _heads() -> tuple[Baseline, ...]:
    """The same without their entries, of which there are hundreds: each run looks for the one of its target."""
    paths = [folder() / f"{name}.toml" for name in shipped_names()]
    return tuple(parse_baseline(read_text(path).partition("\n[[")[0], str(path)) for path in paths)


def fitting_baseline(description: str) -> str:
    """The name of the baseline of a target, by what it says of itself; empty if there is none of this version.

    ``ganesha:vfs (NFS-Ganesha 4.3, FSAL VFS on ext4)`` is described by ``ganesha-4.3-vfs``. A baseline of the
    kernel 6.1 is one of 6.1.176, too: its updates only fix.
    """
    target, _, version_text = description.partition(" (")
    for baseline in _heads():
        version = _VERSION.search(baseline.server)
        if baseline.target == target and version is not None and _has_version(version_text, version[0]):
            return Path(baseline.name).stem
    return ""


def _has_version(version_text: str, version: str) -> bool:
    """Whether a description names a version, or an update of a version of Linux that has two numbers."""
    named = _VERSION.findall(version_text)
    is_series = version_text.startswith("Linux ") and version.count(".") == 1
    return version in named or (is_series and any(known.startswith(f"{version}.") for known in named))


def known_elsewhere(record: CheckRecord | FindingRecord, *, target: str = "") -> tuple[list[str], int]:
    """The servers that are known to show the same, and of how many something is known at all.

    The same is the verdict and the signature of the cause, whatever the check. Of a server of which no whole run is
    kept (`reports.causes.seen`), it is an entry of its baseline for the same check, with a symptom that fits.

    The server of `target` itself is left out in all its kinds (``ganesha:vfs``), and so is the embedded one. Each
    server counts once, however many kinds of it there are.
    """
    mine = {target.partition(":")[0], "embedded"}
    others = [baseline for baseline in shipped() if baseline.target.partition(":")[0] not in mine]
    name = signature(record)
    found = []
    for baseline in others:
        known = signatures_in(folder() / "seen" / f"{Path(baseline.name).stem}.json")
        if (record.verdict, name) in known if known else _has_entry(baseline, record):
            found.append(baseline.server)
    return found, len({baseline.target.partition(":")[0] for baseline in others})


def _has_entry(baseline: Baseline, record: CheckRecord | FindingRecord) -> bool:
    seen = Seen(record.id, record.verdict, deviation(record), signature(record))
    entry = Match(baseline, {seen.id: seen}, known_ids()).entry_of.get(seen.id)
    return entry is not None and entry.verdict == seen.verdict and agrees(seen, entry)

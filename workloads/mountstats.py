# SPDX-License-Identifier: MIT
"""What a Linux kernel's NFS client has sent for a mount: the counts in /proc/self/mountstats, by procedure."""

from __future__ import annotations

import typing as t
from collections import Counter
from pathlib import Path

_FILE: t.Final = Path("/proc/self/mountstats")
_FIELDS: t.Final = 8
"""Of the line of a procedure, at least: ops, transmissions, timeouts, bytes sent, received, three times."""


class MountCounts(t.NamedTuple):
    """Counts since the mount was made."""

    calls: Counter[str]
    transmissions: int
    sent: int
    received: int

    def since(self, before: MountCounts) -> MountCounts:
        """What has been added."""
        return MountCounts(
            self.calls - before.calls,
            self.transmissions - before.transmissions,
            self.sent - before.sent,
            self.received - before.received,
        )


def counts_calls(file: Path = _FILE) -> bool:
    """Whether the system says what it has sent."""
    return file.exists()


def read_counts(mount: Path, file: Path = _FILE) -> MountCounts | None:
    """Those of the mount that has a directory; None if it is no NFS mount, or the system does not say."""
    try:
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    found = _section(text, str(mount.resolve()))
    return None if found is None else _parsed(found)


def _section(text: str, path: str) -> str | None:
    """The part of the deepest NFS mount on the way to a path."""
    best: tuple[int, str] | None = None
    for section in text.split("\ndevice "):
        head = section.partition("\n")[0]
        _, on, rest = head.partition(" mounted on ")
        place = _unescaped(rest.partition(" with fstype ")[0])
        kind = rest.partition(" with fstype ")[2].partition(" ")[0]
        if not (on and kind in {"nfs", "nfs4"}):
            continue
        is_above = path == place or path.startswith(place.rstrip("/") + "/")
        if is_above and (best is None or len(place) > best[0]):
            best = len(place), section
    return None if best is None else best[1]


def _unescaped(place: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        place = place.replace(code, char)
    return place


def _parsed(section: str) -> MountCounts:
    calls: Counter[str] = Counter()
    transmissions = sent = received = 0
    for line in section.partition("per-op statistics")[2].splitlines():
        name, colon, rest = line.strip().partition(":")
        numbers = rest.split()
        if not (colon and len(numbers) >= _FIELDS and all(number.isdecimal() for number in numbers[:5])):
            continue
        ops, transmitted, _, out, back = map(int, numbers[:5])
        if ops:
            calls[name] += ops
        transmissions += transmitted
        sent += out
        received += back
    return MountCounts(calls, transmissions, sent, received)

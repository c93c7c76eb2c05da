# SPDX-License-Identifier: MIT
"""Calls that are refused on purpose: the objects that they name, and those next to them, stay as they are.

Each version of NFS has a table of acts by the reason for which they fail. A server may let some of them succeed, such
as RMDIR of a directory with entries in NFSv3. The objects are made again then, and the other acts follow; if none was
refused, the check is SKIP.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping

from fixtures.checks.scratch import Scratch
from nfsclient.xdr import XdrEnum
from nfsjudge import Requirement, expect, expect_data, expect_names, observe, show, skip

FILE: t.Final = b"file"
OTHER: t.Final = b"other"
FULL: t.Final = b"full"
EMPTY: t.Final = b"empty"
NEW: t.Final = b"new"
_INSIDE: t.Final = b"inside"
_DATA: t.Final = {FILE: b"precious data", OTHER: b"other", _INSIDE: b"inside"}
_NAMES: t.Final = [EMPTY, FILE, FULL, OTHER]
_NOT_READY: t.Final = 10008
"""JUKEBOX and DELAY: the server has begun."""
_PERMISSIONS: t.Final = 0o7777


class Place:
    """A directory that only its owner may change, with two files, an empty directory and one with a file."""

    def __init__(self, scratch: Scratch[t.Any, t.Any], number: int = 0) -> None:
        """`number` is part of the name of the directory."""
        self._scratch = scratch
        self.here = scratch.directory(f"here{number or ''}", mode=0o755)
        self.file = scratch.file(FILE, _DATA[FILE], directory=self.here, mode=0o644)
        self.other = scratch.file(OTHER, _DATA[OTHER], directory=self.here, mode=0o644)
        self.full = scratch.directory(FULL, directory=self.here, mode=0o755)
        self.empty = scratch.directory(EMPTY, directory=self.here, mode=0o755)
        self._inside = scratch.file(_INSIDE, _DATA[_INSIDE], directory=self.full)
        self._modes = self._seen_modes()
        self.partly_set: frozenset[str] = frozenset()
        """Attributes of the file that a SETATTR has set according to its result, although it failed."""
        self.wholly_set = False
        """Whether these are all that it names: then nothing has failed."""

    def _seen_modes(self) -> list[int]:
        objects = (self.here, self.file, self.full)
        return [(self._scratch.attributes(handle).mode or 0) & _PERMISSIONS for handle in objects]

    def expect_kept(self, after: str) -> None:
        """Everything is as it was made."""
        __tracebackhide__ = True
        expect_names(self._scratch.names(self.here), _NAMES)
        expect_names(self._scratch.names(self.full), [_INSIDE])
        for handle, name in ((self.file, FILE), (self.other, OTHER), (self._inside, _INSIDE)):
            if handle != self.file or "size" not in self.partly_set:
                expect_data(self._scratch.read(handle), _DATA[name])
        if "mode" not in self.partly_set:
            what = f"modes of the directory, the file and the full directory {after}"
            expect(self._seen_modes(), what).equals(self._modes)


Act: t.TypeAlias = Callable[[t.Any, Place], XdrEnum]
"""(client, place) -> the status of a call that should fail."""


def expect_nothing_changed(
    client: t.Any,
    scratch: Scratch[t.Any, t.Any],
    acts: Mapping[str, Act],
    fails_in_part: Requirement | None = None,
) -> None:
    """Each act fails and changes nothing. `fails_in_part`: what a SETATTR breaks that fails and has set everything."""
    __tracebackhide__ = True
    place, left, wholly = Place(scratch), list[str](), list[str]()
    for number, (what, act) in enumerate(acts.items(), 1):
        status = act(client, place)
        observe(what, show(status))
        if status and status != _NOT_READY:
            place.expect_kept(f"after {what} answered {status}")
            if not place.partly_set:
                continue
            observe(f"{what} failed and has set", ", ".join(sorted(place.partly_set)))
            if place.wholly_set:
                wholly.append(f"{what}: {show(status)}")
            if number < len(acts):
                place = Place(scratch, number)
            continue
        left.append(f"{what} {'is not refused' if not status else 'is put off'}")
        if number < len(acts):
            place = Place(scratch, number)
    if fails_in_part is not None:
        expect(wholly, "calls that failed and have set all that they name", because=fails_in_part).equals([])
    if len(left) == len(acts):
        skip(f"nothing is refused: {', '.join(left)}")

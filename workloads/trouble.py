# SPDX-License-Identifier: MIT
"""How a run of a workload may end early. Each says what was expected, what was seen, and what it means."""

from __future__ import annotations

import typing as t


class Wrong(Exception):
    """The server is wrong: the run is red."""

    procedure = ""
    """The call that showed it, if one did."""


class WrongData(Wrong):
    """A read gave bytes that nobody can have written there."""

    is_about_size = False
    """Whether the file is too short or too long, rather than its bytes wrong."""

    def __init__(self, file: str, offset: int, expected: str, seen: str, *, writer: str, reader: int) -> None:
        super().__init__(
            f"{file}, offset {offset}: expected {expected}, got {seen}; written by writer {writer}, read by {reader}"
        )
        self.file = file
        self.offset = offset
        self.expected = expected
        self.seen = seen
        self.writer = writer
        self.reader = reader

    def fields(self) -> dict[str, t.Any]:
        """What it says, as plain data."""
        return {
            "path": self.file,
            "offset": self.offset,
            "expected": self.expected,
            "seen": self.seen,
            "writer": self.writer,
            "reader": str(self.reader),
        }

    def __reduce__(self) -> t.Any:
        # Workers are processes: an error crosses to the controller.
        build = _rebuild_wrong_data
        return build, (self.file, self.offset, self.expected, self.seen, self.writer, self.reader)


def _rebuild_wrong_data(
    file: str, offset: int, expected: str, seen: str, writer: str, reader: int
) -> WrongData:
    return WrongData(file, offset, expected, seen, writer=writer, reader=reader)


class WrongAnswer(Wrong):
    """A name, a size or another attribute is not what the calls of this run have made it."""


class Stopped(Exception):
    """The run cannot go on, and that says nothing about the server: `kind` names what stands in the way."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind
        """"full disk", "stale handle", "busy", "connection", "refused", "not in this version"."""

    def __reduce__(self) -> t.Any:
        return type(self), (self.kind, str(self))


class LostWorker(Exception):
    """A worker is gone, hangs, or is broken: the run has no result. It says nothing about the server."""

    left: tuple[str, ...] = ()
    """What could not be removed."""


class Refused(Exception):
    """The run was not begun: it would do what it must not, or the wish makes no sense."""

# SPDX-License-Identifier: MIT
"""What the test program of pynfs prints with ``-v``, read line by line. No I/O: `Follower` is fed with bytes.

    EID1     st_exchange_id.testSupported                             : RUNNING
    (what the test prints, and the traceback of an exception that nobody caught)
    EID1     st_exchange_id.testSupported                             : FAILURE
               words of the failure, broken into lines that begin with eleven spaces

    state      line                                         then
    between    LABEL : RUNNING                              in a test
    in a test  its own LABEL, then a state such as PASS     its words follow
    words      eleven spaces and text                       words
    words      anything else                                between, and the line is read there
    between    fifty stars                                  in the list at the end
    list       LABEL : OMIT, and its words                  list

What must stay true: in a test, no line counts but the one with the label of this very test, because a test may print
what a server sent. Of the list at the end, only tests that never ran count: those that pynfs skipped because of a
dependency. Lines, words and output are bounded before they are kept.
"""

from __future__ import annotations

import re
import typing as t
from collections import deque
from collections.abc import Callable, Container
from dataclasses import dataclass, field

MOST_WORDS: t.Final = 2000
"""Characters of the words of one test."""
MOST_OUTPUT: t.Final = 80
"""Lines of the output of one test that are kept: the last ones."""
_MOST_LINE: t.Final = 4000
"""Characters of one line; what follows is dropped."""
_STATES: t.Final = ("PASS", "FAILURE", "WARNING", "UNSUPPORTED", "OMIT")
_LABEL: t.Final = re.compile(r"(?P<label>(?P<code>\S{1,60}) +(?P<name>\S{1,200}) *: )(?P<state>[A-Z ]{1,40})")
_INDENT: t.Final = " " * 11
_STARS: t.Final = "*" * 50
_TRACEBACK: t.Final = "Traceback (most recent call last):"


@dataclass(slots=True)
class Ended:
    """A test that has ended, or was skipped."""

    code: str
    name: str
    """``st_exchange_id.testSupported``."""
    state: str
    """As pynfs names it: ``PASS``, ``FAILURE``, ``WARNING``, ``UNSUPPORTED`` or ``OMIT``."""
    words: str = ""
    """In one line."""
    output: list[str] = field(default_factory=list)
    """What it printed before, the last lines."""
    seconds: float = 0.0

    @property
    def has_crashed(self) -> bool:
        """Whether the failure is an exception that the test did not expect, by its traceback in the output."""
        if self.state != "FAILURE" or not self.words or _TRACEBACK not in self.output:
            return False
        last = len(self.output) - 1 - self.output[::-1].index(_TRACEBACK)
        return self.words in in_one_line(" ".join(self.output[last:]))


def in_one_line(text: str) -> str:
    """The words of a text, bounded. The same whether pynfs has broken it into lines or not."""
    return " ".join(text[: 4 * MOST_WORDS].split())[:MOST_WORDS]


class Follower:
    """Follows one process. `clock` gives seconds; `codes` has the codes that pynfs listed."""

    def __init__(self, codes: Container[str], clock: Callable[[], float]) -> None:
        self._codes = codes
        self._clock = clock
        self._line = ""
        self._ended: Ended | None = None
        self._words: list[str] = []
        self._label = ""
        self._output: deque[str] = deque(maxlen=MOST_OUTPUT)
        self._is_list = False
        self._seen: set[str] = set()
        self.running = ""
        """The code of the test that runs; empty between tests."""
        self.name = ""
        """Its function."""
        self.since = clock()
        """When the test that runs began, or the last one ended."""
        self.done: list[Ended] = []
        """What has ended since the caller emptied this."""
        self.last: deque[str] = deque(maxlen=MOST_OUTPUT)
        """The last lines, whatever they are about."""

    @property
    def output(self) -> list[str]:
        """What the test that runs has printed."""
        return list(self._output)

    def feed(self, data: bytes) -> None:
        """Read what the process has printed."""
        *lines, rest = (self._line + data.decode("utf-8", "backslashreplace")).split("\n")
        for line in lines:
            self._read(line[:_MOST_LINE].rstrip("\r"))
        self._line = rest[:_MOST_LINE]

    def finish(self) -> None:
        """The process has ended: the last line has no end of line, and no words follow."""
        if self._line:
            self._read(self._line)
        self._line = ""
        self._end_words()

    def _read(self, line: str) -> None:
        if self._ended is not None:
            if line.startswith(_INDENT) and sum(map(len, self._words)) < 4 * MOST_WORDS:
                self._words.append(line)
                return
            self._end_words()
        if line.strip():
            self.last.append(line)
        if self.running:
            self._read_inside(line)
        elif line == _STARS:
            self._is_list = True
        elif (found := _LABEL.fullmatch(line)) is not None and found["code"] in self._codes:
            self._read_label(found)

    def _read_inside(self, line: str) -> None:
        """A line that a test prints, or the one with its result, which may follow what the test left without an end."""
        before, label, state = line.rpartition(self._label)
        if not label or state not in _STATES:
            self._output.append(line)
            return
        if before:
            self._output.append(before)
        now = self._clock()
        self._ended = Ended(
            self.running, self.name, state, "", list(self._output), max(0.0, now - self.since)
        )
        self._seen.add(self.running)
        self.running, self.since = "", now

    def _read_label(self, found: re.Match[str]) -> None:
        code = found["code"]
        if found["state"] == "RUNNING" and not self._is_list:
            self.running, self.name, self._label = code, found["name"], found["label"]
            self.since = self._clock()
            self._output.clear()
        elif found["state"] == "OMIT" and self._is_list and code not in self._seen:
            self._seen.add(code)
            self._ended = Ended(code, found["name"], "OMIT")

    def _end_words(self) -> None:
        if self._ended is not None:
            self._ended.words = in_one_line(" ".join(self._words))
            self.done.append(self._ended)
        self._ended = None
        self._words.clear()

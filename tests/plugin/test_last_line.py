# SPDX-License-Identifier: MIT
"""pytest's last line counts checks by verdict, as the table above it does, and fits the window of a terminal."""

from __future__ import annotations

import re
import types
from collections import Counter

import pytest

from fixtures.plugin.last_line import fit_line, rows_of
from tests.plugin.conftest import Outcome, Suite
from tests.plugin.test_plugin_verdicts import ENDINGS, check

WORDS = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}
FIXTURES = """
@pytest.fixture
def breaks_late():
    yield
    raise OSError("cannot clean up")

@pytest.fixture
def damages_late():
    yield
    from nfsjudge import Damage
    raise Damage(expected=("as before",), observed="more", requirement=RULE, what="memory")

@pytest.fixture
def breaks_early():
    raise OSError("cannot set up")
"""


def counted(outcome: Outcome) -> Counter[str]:
    """What the last line says."""
    last = [line for line in outcome.text.splitlines() if re.match("=+ .* in ", line)][-1]
    return Counter(
        {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", last.partition(" in ")[0])}
    )


def recorded(outcome: Outcome) -> Counter[str]:
    return Counter(WORDS.get(verdict, verdict.lower()) for verdict in outcome.verdicts.values())


ALL = (
    FIXTURES
    + "".join(check(f"ends_{name}", body) for name, body in ENDINGS.items())
    + "".join(
        [
            check("passes_then_void", "pass", "breaks_late"),
            check("void_twice", "raise OSError('no')", "breaks_late"),
            check("passes_then_fails", "pass", "damages_late"),
            check("fails_twice", "expect(1, 'size').equals(2)", "damages_late"),
            check("cannot_begin", "pass", "breaks_early"),
        ]
    )
)


@pytest.mark.parametrize("options", [(), ("--strict-should",), ("-p", "xdist", "-n", "2")], ids=str)
def test_each_check_is_counted_once_by_its_verdict(suite: Suite, options: tuple[str, ...]) -> None:
    suite.write(ALL)
    outcome = suite.run_apart(*options)
    assert counted(outcome) == recorded(outcome)
    assert (outcome.verdicts["passes_then_fails"], outcome.verdicts["void_twice"]) == ("FAIL", "VOID")
    assert "\x1b" not in outcome.text


PARTS = [
    (f"{number} {word}", {"red": True})
    for number, word in enumerate(("failed", "passed", "unsupported", "void"))
]


@pytest.mark.parametrize(("width", "rows"), [(200, [4]), (60, [3, 1]), (80, [4]), (20, [1, 1, 1, 1])])
def test_rows_break_after_a_comma(width: int, rows: list[int]) -> None:
    found = rows_of(PARTS, width)
    assert [len(row) for row in found] == rows
    assert [part for row in found for part in row] == PARTS


class Reporter:
    """What `fit_line` uses of pytest's reporter."""

    def __init__(self, width: int, *, is_terminal: bool, verbosity: int = 0) -> None:
        self.lines: list[str] = []
        self.verbosity = verbosity
        self._is_terminal = is_terminal
        self._tw = types.SimpleNamespace(fullwidth=width, markup=lambda text, **_: f"\x1b[31m{text}\x1b[0m")

    def isatty(self) -> bool:
        return self._is_terminal

    def write_line(self, line: str, **_: bool) -> None:
        self.lines.append(line)

    def write_sep(self, sep: str, title: str, fullwidth: int, **_: bool) -> None:
        self.lines.append(f" {title} ".center(fullwidth, sep))

    def build_summary_stats_line(self) -> tuple[list[tuple[str, dict[str, bool]]], str]:
        return PARTS, "red"

    def summary_stats(self) -> None:
        parts, _ = self.build_summary_stats_line()
        self.lines.append(", ".join(text for text, _ in parts) + " in 1.00s")


@pytest.mark.parametrize("verbosity", [0, -1])
def test_on_a_terminal_no_row_is_longer_than_the_window(verbosity: int) -> None:
    reporter = Reporter(60, is_terminal=True, verbosity=verbosity)
    fit_line(reporter)
    reporter.summary_stats()
    first, last = [re.sub(r"\x1b\[\d+m", "", line) for line in reporter.lines]
    assert first.strip("= ") == "0 failed, 1 passed, 2 unsupported,"
    assert len(first) == (60 if verbosity == 0 else 34)
    assert last == "3 void in 1.00s"


def test_without_a_terminal_the_last_line_stays_one() -> None:
    reporter = Reporter(60, is_terminal=False)
    fit_line(reporter)
    reporter.summary_stats()
    assert reporter.lines == ["0 failed, 1 passed, 2 unsupported, 3 void in 1.00s"]

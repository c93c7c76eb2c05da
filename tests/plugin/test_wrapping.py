# SPDX-License-Identifier: MIT
"""Lines fit the window: wrapped at spaces on a terminal, whole without one."""

from __future__ import annotations

import pytest

from fixtures.plugin.printed_causes import write_causes, write_examples
from fixtures.plugin.wrapping import Window, cause_line
from nfsjudge.deviation import Deviation, OutcomeRecord
from nfsjudge.records import CheckRecord, RequirementRecord
from reports.causes import Cause, causes

CLAUSE = RequirementRecord(
    "RFC 1813", "3.3.6", "DESCRIPTION", "STATED", "READ sets eof at the end of the file"
)


def window(width: int, lines: list[str], *, is_terminal: bool = True) -> Window:
    return Window(lambda line, **_: lines.append(line), width, is_terminal)


def red(number: int) -> CheckRecord:
    record = CheckRecord(
        f"nfs3/READ/eof-after-a-name-that-is-long[{number}]", "FAIL", CLAUSE, ["TRUE"], "FALSE", what="eof"
    )
    record.what = "eof of a READ of 10 bytes that begins 100 bytes beyond the end of a file that is empty"
    record.rerun = f"bin/nfsproof run nfs://server.example.net/export/directory '{record.id}'"
    record.transcript = ["#1 READ xid 0x1 -> OK", "  eof: FALSE    <-- expected TRUE"]
    return record


def some_cause(number: int = 3) -> Cause:
    (cause,) = causes(red(n) for n in range(number))
    return cause


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_a_cause_has_two_lines_at_most_and_keeps_its_count(width: int) -> None:
    lines = cause_line(some_cause(), f"{'FAIL':<10} ", window(width, []))
    assert len(lines) <= 2
    assert max(map(len, lines)) <= width
    assert "3 checks" in " ".join(lines)
    assert all(line.startswith(" " * 11) for line in lines[1:])


def test_ids_stand_where_there_is_room_for_them() -> None:
    lines = {width: " ".join(cause_line(some_cause(), "FAIL ", window(width, []))) for width in (60, 200)}
    assert "nfs3/READ/eof-after" not in lines[60]
    assert "nfs3/READ/eof-after" in lines[200]


def test_no_word_is_cut_and_lines_hang_below_their_text() -> None:
    text = (
        "  result:     eof of a READ of 10 bytes beyond the end of a file: expected eof TRUE, got eof FALSE"
    )
    lines = window(60, []).wrapped(text)
    assert len(lines) > 1
    assert " ".join(line.strip() for line in lines) == text.strip()
    assert all(line.startswith(" " * 14) for line in lines[1:])
    assert all(len(line) <= 60 for line in lines)


def test_without_a_terminal_a_line_stays_one() -> None:
    lines: list[str] = []
    write_causes([some_cause()], lambda _: True, window(200, lines, is_terminal=False), lambda _: {}, "")
    (line,) = lines
    assert line.startswith("FAIL       eof of a READ")
    assert "3 checks" in line


def test_a_command_is_never_wrapped() -> None:
    record = red(0)
    lines: list[str] = []
    write_examples(
        [some_cause(1)], [record], lambda _: True, lambda _: True, window(80, lines), lambda _: {"red": True}
    )
    assert len(record.rerun) > 80
    assert [line.strip() for line in lines if "bin/nfsproof" in line] == [f"rerun:      {record.rerun}"]
    assert max(len(line) for line in lines if "bin/nfsproof" not in line) <= 80
    for label in ("all steps", "to test your server", "  rerun"):
        text = f"{label}: bin/nfsproof doctor {'nfs://host/a-directory ' * 5}"
        assert window(80, []).wrapped(text) == [text]


@pytest.mark.parametrize("length", [40, 100, 160, 400])
def test_without_a_terminal_the_text_is_cut_and_never_the_counts(length: int) -> None:
    cause = some_cause(114)
    cause.text = "eof " * (length // 4)
    cause.findings = {f"lint/nfs3/{rule}-count": list(cause.checks) for rule in ("read", "write")}
    (line,) = cause_line(cause, "FAIL       ", window(200, [], is_terminal=False))
    assert "(RFC 1813 3.3.6): 114 checks, lint read-count in 114, lint write-count in 114" in line
    assert len(line) <= 200
    assert ("..." in line) == (length > 100)


def test_the_first_line_and_what_deviates_have_the_colour_of_the_verdict() -> None:
    found: list[tuple[str, dict[str, bool]]] = []
    place = Window(lambda line, **markup: found.append((line, markup)), 80, is_terminal=True)
    record = red(0)
    write_examples([some_cause(1)], [record], lambda _: True, lambda _: True, place, lambda _: {"red": True})
    coloured = [line for line, markup in found if markup.get("red")]
    assert coloured[0] == f"FAIL  {record.id}"
    assert [line.strip() for line in coloured[1:]] == ["eof: FALSE    <-- expected TRUE"]


def test_causes_are_printed_by_harm_not_by_number() -> None:
    lost = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "data is stored", "data")
    grave = CheckRecord("nfs3/WRITE/lost", "FAIL", lost, ["1"], "0", what="data")
    grave.outcome = OutcomeRecord(str(Deviation.DATA), "WRITE")
    lines: list[str] = []
    place = window(200, lines, is_terminal=False)
    write_causes(causes([*map(red, range(5)), grave]), lambda _: True, place, lambda _: {}, "")
    assert [line.split()[1] for line in lines] == ["WRITE:", "eof"]

# SPDX-License-Identifier: MIT
"""Progress: what it says of a run, on a terminal and without one, and what it leaves there."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from fixtures.plugin.pace import Pace, roughly
from fixtures.plugin.progress_views import _rendered, plain_line, running_text
from nfsjudge.records import CheckRecord, EndRecord, read_records
from tests.plugin.conftest import ROOT, Suite
from tests.plugin.test_plugin_verdicts import check
from tests.waiting import AT_MOST

IDS = [f"nfs3/{module}/check_{number}" for module in ("read", "write") for number in range(20)]
CHECKS = "".join(check(f"number_{number}", "pass") for number in range(30))
ENDLESS = check("hangs", "__import__('select').select([], [], [], 60)")


def seen(count: int, seconds: float) -> Pace:
    pace = Pace(100.0)
    pace.expect(IDS)
    for check_id in IDS[:count]:
        pace.begin(check_id, 100.0)
        pace.judged(check_id, "PASS", seconds)
        pace.end(check_id)
    return pace


def test_nothing_is_foretold_from_next_to_nothing() -> None:
    assert seen(5, 1.0).left(105.0) is None
    assert seen(20, 0.05).left(101.0) is None


def test_what_is_left_takes_as_long_as_what_was_seen() -> None:
    assert seen(20, 1.0).left(120.0) == pytest.approx(20.0)


def test_workers_side_by_side_take_half_the_time() -> None:
    assert seen(20, 1.0).left(110.0) == pytest.approx(10.0)


def test_a_module_that_was_slow_so_far_counts_for_more() -> None:
    pace = seen(20, 0.1)
    for check_id in IDS[20:30]:
        pace.judged(check_id, "PASS", 10.0)
        pace.end(check_id)
    left = pace.left(202.0)
    assert left is not None
    assert left > 30 * 10 / 4


def test_workers_that_say_the_same_are_counted_once() -> None:
    pace = Pace(0.0)
    pace.expect(IDS)
    pace.expect(IDS)
    assert pace.total == 40


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0.2, "about 1 s left"),
        (43.0, "about 45 s left"),
        (400.0, "about 7 min left"),
        (7000.0, "about 1.9 h left"),
    ],
)
def test_time_left_in_words(seconds: float | None, text: str) -> None:
    assert roughly(seconds) == text


def test_the_plain_line() -> None:
    pace = seen(20, 1.0)
    pace.begin("nfs3/write/check_0", 115.0)
    pace.begin("nfs3/write/check_1", 119.0)
    assert plain_line(pace, 120.0) == (
        "20 of 40 checks (50 %): PASS 20; about 20 s left; running nfs3/write/check_0  5 s  and 1 more"
    )
    assert running_text(Pace(0.0), 1.0) == ""


def judged(**counts: int) -> Pace:
    pace = seen(20, 1.0)
    pace.total = 3852
    pace.counts.clear()
    pace.counts.update(counts)
    return pace


@pytest.mark.parametrize("width", [60, 79, 100, 200])
def test_the_time_left_and_the_failures_are_never_cut(width: int) -> None:
    pace = judged(PASS=2555, UNSUPPORTED=439, SKIP=102, NONSTRICT=135, VOID=14, FAIL=83)
    line = _rendered(pace, 120.0, width, colour=False)[0]
    assert len(line) <= width
    assert "about 20 s left" in line
    assert "FAIL 83" in line
    assert "…" not in line


@pytest.mark.parametrize(("failed", "bar"), [(0, "\x1b[32m"), (3, "\x1b[31m")])
def test_the_bar_of_a_green_run_is_green(failed: int, bar: str) -> None:
    pace = judged(PASS=20, FAIL=failed)
    pace.total = 40
    line = _rendered(pace, 120.0, 100, colour=True)[0]
    assert line.startswith(bar) or line.partition("\u2501")[0].endswith(bar)
    assert "\x1b[91m" not in line


def test_no_colour_is_no_escape_code() -> None:
    assert "\x1b" not in "".join(_rendered(judged(PASS=20, FAIL=1), 120.0, 100, colour=False))


def test_bare_pytest_keeps_its_letters(suite: Suite) -> None:
    suite.write(CHECKS)
    assert "." * 30 in suite.run().text


@pytest.mark.parametrize("option", ["-v", "-q", "-s"])
def test_it_stays_out_of_the_way(suite: Suite, option: str) -> None:
    suite.write(CHECKS)
    text = suite.run(option, "--progress=plain").text
    assert text.count("PASSED") == 30 if option == "-v" else "." * 30 in text


def test_plain_has_no_letters_and_no_lines_of_short_runs(suite: Suite) -> None:
    suite.write(CHECKS)
    text = suite.run("--progress=plain").text
    assert "..." not in text
    assert "checks (" not in text
    assert "30 passed" in text


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "2")], ids=["alone", "workers"])
def test_a_pipe_gets_lines_of_json(suite: Suite, workers: tuple[str, ...]) -> None:
    suite.write(CHECKS + check("wrong", "expect(1, 'x').equals(2)"))
    reader, writer = os.pipe()
    arguments = [sys.executable, "-m", "pytest", *suite.arguments(f"--progress=fd:{writer}", *workers)]
    subprocess.run(
        arguments,
        cwd=suite.pytester.path,
        pass_fds=[writer],
        capture_output=True,
        timeout=AT_MOST,
        check=False,
    )
    os.close(writer)
    with os.fdopen(reader) as lines:
        last = json.loads(lines.read().splitlines()[-1])
    assert (last["total"], last["done"], last["counts"]) == (31, 31, {"PASS": 30, "FAIL": 1})


def test_a_run_whose_starter_has_gone_ends_in_order(suite: Suite) -> None:
    suite.write(CHECKS + ENDLESS)
    reader, writer = os.pipe()
    os.close(reader)
    arguments = [sys.executable, "-m", "pytest", *suite.arguments(f"--progress=fd:{writer}")]
    ended = subprocess.run(
        arguments,
        cwd=suite.pytester.path,
        pass_fds=[writer],
        capture_output=True,
        timeout=AT_MOST,
        check=False,
    )
    os.close(writer)
    assert ended.returncode == 2


class Terminal:
    """A run in a terminal of 100 columns; `text` is all that it wrote there."""

    def __init__(self, suite: Suite, *more: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *suite.arguments("--progress=auto", *more)],
            cwd=suite.pytester.path,
            env={**os.environ, "TERM": "xterm", "PYTHONPATH": str(ROOT)},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.text = ""

    def read_until(self, wanted: str) -> None:
        """Until a text was written; to the end if it is empty."""
        deadline = time.monotonic() + AT_MOST
        while not wanted or wanted not in self.text:
            ready, _, _ = select.select([self._ours], [], [], deadline - time.monotonic())
            assert ready, self.text
            try:
                data = os.read(self._ours, 65_536)
            except OSError:  # EIO: the other side was closed
                return
            self.text += data.decode(errors="replace")

    def close(self) -> int:
        """Read the rest; the exit status."""
        self.read_until("")
        os.close(self._ours)
        return self.process.wait(timeout=AT_MOST)


def screen(text: str) -> list[str]:
    """What a terminal shows in the end of what was written: erasing and going up are all that is used."""
    lines, row = [""], 0
    for token in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", text):
        if token == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif token == "\x1b[2K":
            lines[row] = ""
        elif token == "\x1b[1A":
            row -= 1
        elif not token.startswith(("\x1b", "\r")):
            lines[row] += token
    return lines


def records(report: Path) -> list[object]:
    with (report / "records.jsonl").open() as file:
        return list(read_records(file))


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "2")], ids=["alone", "workers"])
def test_ctrl_c_leaves_a_clean_terminal_and_a_whole_report(suite: Suite, workers: tuple[str, ...]) -> None:
    suite.write(CHECKS + ENDLESS)
    terminal = Terminal(suite, *workers)
    terminal.read_until("nfs3/fake/hangs")
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.close() == 2
    assert "\x1b[?25l" not in terminal.text  # the cursor is never hidden
    shown = screen(terminal.text)
    assert not [line for line in shown if "━" in line or " % " in line or line.startswith("nfs3/fake/hangs")]
    assert any("verdicts" in line for line in shown)
    left = records(suite.report)
    assert isinstance(left[-1], EndRecord)
    assert left[-1].exit_code == 2
    assert sum(isinstance(line, CheckRecord) for line in left) >= 28
    for name in ("report.html", "report.txt", "junit.xml"):
        assert (suite.report / name).stat().st_size


def test_the_terminal_is_painted_a_few_times_a_second_at_most(suite: Suite) -> None:
    suite.write("".join(check(f"number_{number}", "pass") for number in range(300)))
    began = time.monotonic()
    terminal = Terminal(suite)
    assert terminal.close() == 0
    assert terminal.text.count("/300  ") <= 4 * (time.monotonic() - began) + 1


@pytest.mark.parametrize("option", ["--color=no", "--color=yes"])
def test_causes_appear_above_the_bar_and_have_colours_if_they_are_wanted(suite: Suite, option: str) -> None:
    suite.write(CHECKS + check("wrong", "expect(1, 'x').equals(2)"))
    terminal = Terminal(suite, option)
    assert terminal.close() == 1
    shown = [line.rstrip() for line in screen(re.sub(r"\x1b\[[0-9;]*m", "", terminal.text))]
    live = shown.index("FAIL       x: expected 2, got 1 (RFC 1813 3.3.1)  nfs3/fake/wrong")
    assert live < next(number for number, line in enumerate(shown) if "first of each cause" in line)
    assert all(len(line) <= 100 for line in shown if line.startswith(("FAIL", "  ")))
    assert bool(re.search(r"\x1b\[[0-9;]*m", terminal.text)) == (option == "--color=yes")
    assert bool(re.search(r"\x1b\[31m(?:\x1b\[1m)?FAIL", terminal.text)) == (option == "--color=yes")

# SPDX-License-Identifier: MIT
"""The steps of `.ci/run`: one after another, or at the same time; a red one ends everything and is named."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.waiting import AT_MOST

ROOT = Path(__file__).parents[2]


def steps(text: str, shell: str = "sh") -> tuple[int, str]:
    """The exit status and the output of a script of steps, without the seconds."""
    script = f"set -u\n. {ROOT}/.ci/steps\n{text}\nsummary green"
    done = subprocess.run([shell, "-c", script], capture_output=True, text=True, timeout=AT_MOST, check=False)
    return done.returncode, re.sub(r" *\d+ s\b", " N s", done.stdout)


def test_steps_run_in_their_order() -> None:
    status, output = steps("step first echo 1\nstep second echo 2")
    assert status == 0
    assert output == (
        "\n==== first: echo 1\n1\n\n==== second: echo 2\n2\n\n==== green after N s\n N s  first\n N s  second\n"
    )


def test_a_red_step_is_the_last_one() -> None:
    status, output = steps("step first true\nstep bad sh -c 'exit 3'\nstep never echo never")
    assert status == 1
    assert "never" not in output
    assert "==== RED: bad (exit status 3) after N s\n N s  first\n N s  bad\n" in output


def test_lanes_run_at_the_same_time_and_each_step_prints_in_one_piece(tmp_path: Path) -> None:
    """Each lane waits for the other one: one after another they would not end."""
    begun, ended = (f"{tmp_path}/{name}" for name in ("begun", "ended"))
    lanes = (
        f"wait_for() {{ while [ ! -e $1 ]; do sleep 0.01; done; }}\n"
        f"a() {{ step a1 sh -c 'echo begins; touch {begun}'; step a2 wait_for {ended}; step a3 echo ends; }}\n"
        f"b() {{ step b1 wait_for {begun}; step b2 touch {ended}; }}\n"
        "together a b\nstep after echo after\n"
    )
    status, output = steps(lanes)
    assert status == 0
    assert f"==== a1: sh -c echo begins; touch {begun}\nbegins\n" in output
    assert sorted(re.findall(r"N s  (\w+)(?: \((\w)\))?$", output, re.MULTILINE)) == [
        *(("a1", "a"), ("a2", "a"), ("a3", "a")),
        ("after", ""),
        *(("b1", "b"), ("b2", "b")),
    ]


def test_no_lane_begins_a_step_after_a_red_one(tmp_path: Path) -> None:
    red = f"{tmp_path}/red"
    lanes = (
        f"until_red() {{ while [ ! -e $work/red ]; do sleep 0.01; done; touch {red}; }}\n"
        "a() { step good true; step bad false; step never-a true; }\n"
        "b() { step waits until_red; step never-b true; }\n"
        "together a b\nstep never true\n"
    )
    status, output = steps(lanes)
    assert status == 1
    assert Path(red).exists()
    assert "never" not in output
    assert "==== RED: bad (exit status 1) after N s\n" in output


@pytest.mark.parametrize("ending", ["exit 5", 'echo "$not_set"'])
def test_a_lane_that_ends_before_its_last_step_is_red(ending: str) -> None:
    status, output = steps(f"a() {{ step first true; {ending}; step never true; }}\ntogether a\n")
    assert status == 1
    assert "==== RED: a lane ended early after N s\n" in output


def test_an_interrupted_run_ends_what_its_lanes_have_started(tmp_path: Path) -> None:
    """A suite that goes on would be next to the suites of the run after it."""
    begun = tmp_path / "begun"
    script = (
        f"set -u\n. {ROOT}/.ci/steps\n"
        f"a() {{ step a1 sh -c 'echo $$ >{begun}.new; mv {begun}.new {begun}; exec sleep {AT_MOST:.0f}'; }}\n"
        "together a\n"
    )
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.DEVNULL) as process:
        _wait_for(begun.exists)
        process.terminate()
        assert process.wait(AT_MOST) == 130
    number = int(begun.read_text())
    _wait_for(lambda: not _is_alive(number))


def _wait_for(happens: Callable[[], bool]) -> None:
    deadline = time.monotonic() + AT_MOST
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True

# SPDX-License-Identifier: MIT
"""What CI holds against the records of a run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def ids() -> list[str]:
    """The stable ids that a run has to have judged."""
    lines = (line.strip() for line in (ROOT / "suites" / "ids.txt").read_text().splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def hold(folder: Path, verdicts: dict[str, str], known: str | None = None, *, ended: bool = True) -> str:
    """What the program says of a run with these verdicts; empty if nothing differs."""
    records = [{"kind": "check", "id": name, "verdict": verdict} for name, verdict in verdicts.items()]
    lines = [
        json.dumps(record) for record in [{"kind": "run"}, *records, *([{"kind": "end"}] if ended else [])]
    ]
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n")
    words = [str(folder)]
    if known is not None:
        if known != "not there":
            (folder / "known.txt").write_text(known)
        words.append(str(folder / "known.txt"))
    program = [sys.executable, str(ROOT / ".ci" / "expect-verdicts"), *words]
    result = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == (0 if "as expected: " in result.stdout else 1), result.stderr
    return "" if result.returncode == 0 else result.stdout


def test_all_green(tmp_path: Path, ids: list[str]) -> None:
    assert hold(tmp_path, dict.fromkeys(ids, "PASS")) == ""


@pytest.mark.parametrize("verdict", ["FAIL", "NONSTRICT", "UNSUPPORTED", "SKIP", "VOID"])
def test_without_a_file_all_have_to_pass(verdict: str, tmp_path: Path, ids: list[str]) -> None:
    assert hold(tmp_path, dict.fromkeys(ids, "PASS") | {ids[0]: verdict}) == f"{verdict}: {ids[0]}\n"


def test_a_check_that_was_not_judged(tmp_path: Path, ids: list[str]) -> None:
    assert hold(tmp_path, dict.fromkeys(ids[1:], "PASS")) == f"not judged: {ids[0]}\n"


def test_a_run_that_was_cut_off(tmp_path: Path, ids: list[str]) -> None:
    assert "did not end" in hold(tmp_path, dict.fromkeys(ids, "PASS"), ended=False)


def test_known_failures_have_to_be_as_known(tmp_path: Path, ids: list[str]) -> None:
    known = f"# found\n{ids[0]}  # why\n"
    assert hold(tmp_path, dict.fromkeys(ids, "SKIP") | {ids[0]: "FAIL"}, known) == ""
    assert hold(tmp_path, dict.fromkeys(ids, "PASS"), known) == f"known as FAIL, but PASS: {ids[0]}\n"
    assert hold(tmp_path, dict.fromkeys(ids, "FAIL"), known).count("new FAIL") == len(ids) - 1


def test_a_check_that_the_target_is_known_not_to_survive(tmp_path: Path, ids: list[str]) -> None:
    known = f"VOID: {ids[0]}  # the server ends by itself\n"
    passed = dict.fromkeys(ids, "PASS")
    assert hold(tmp_path, passed | {ids[0]: "VOID"}, known) == ""
    assert hold(tmp_path, passed, known) == f"known as FAIL, but PASS: VOID: {ids[0]}\n"
    assert hold(tmp_path, passed | {ids[0]: "VOID", ids[1]: "VOID"}, known) == f"VOID: {ids[1]}\n"


def test_of_an_unknown_version_only_void_counts(tmp_path: Path, ids: list[str]) -> None:
    assert hold(tmp_path, dict.fromkeys(ids, "FAIL"), "not there") == ""
    assert "VOID: " in hold(tmp_path, dict.fromkeys(ids, "VOID"), "not there")


@pytest.mark.parametrize("verdict", ["PASS", "FAIL", "VOID"])
def test_what_chance_decides(verdict: str, tmp_path: Path, ids: list[str]) -> None:
    known = f"MAYBE: {ids[0]}  # by the load of the machine\n"
    passed = dict.fromkeys(ids, "PASS")
    assert hold(tmp_path, passed | {ids[0]: verdict}, known) == ""
    assert hold(tmp_path, passed | {ids[0]: verdict, ids[1]: "FAIL"}, known) == f"new FAIL: {ids[1]}\n"

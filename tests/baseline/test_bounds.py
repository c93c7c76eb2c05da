# SPDX-License-Identifier: MIT
"""Files of baselines that would take for ever, or end with a traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reports.baseline import (
    BadBaseline,
    Kind,
    compare_with_baseline,
    load_baseline,
    model,
    parse_baseline,
    symptoms,
)
from reports.globs import glob
from tests.baseline.test_baseline import TODAY, check, run_of


def test_many_slow_patterns_take_no_longer_than_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symptoms, "SECONDS", 0.05)
    monkeypatch.setattr(symptoms, "SECONDS_OF_FILE", 0.2)
    text = "".join(f'[[entry]]\nid = "a{number}"\nsymptom = "(x+)+y"\n' for number in range(500))
    run = run_of(*(check(f"a{number}", "FAIL", "x" * 60) for number in range(500)))
    found = compare_with_baseline(run, parse_baseline(text, "b.toml"), today=TODAY)
    assert {difference.kind for difference in found} == {Kind.SYMPTOM}
    assert len(found) == 500
    assert "the symptoms of the file take longer than 0.2 s in all" in found[-1].text
    assert sum("takes longer than" in difference.text for difference in found) < 10


@pytest.mark.parametrize(
    ("symptom", "why"),
    [
        ("(" * 1500 + ")" * 1500, "expected a regular expression: maximum recursion depth"),
        ("|".join(map(str, range(10_000))), "expected at most 4000 characters, seen"),
        ("a{99999999999}", "expected a regular expression: the repetition number is too large"),
    ],
)
def test_a_pattern_that_cannot_be_compiled_is_named(symptom: str, why: str) -> None:
    with pytest.raises(BadBaseline, match=f"^b.toml:3: symptom: {re.escape(why)}"):
        parse_baseline(f'[[entry]]\nid = "a"\nsymptom = "{symptom}"\n', "b.toml")


def test_a_file_that_is_too_long_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "MOST_BYTES", 10)
    (tmp_path / "b.toml").write_text("[baseline]\n")
    with pytest.raises(BadBaseline, match="expected at most 10 bytes"):
        load_baseline(tmp_path / "b.toml")


def test_a_glob_does_not_try_every_way_to_fit() -> None:
    name = "nfs3/" + "*" * 16 + "Z"
    assert not glob(name).fullmatch("nfs3/" + "a" * 5000)
    assert not glob("*a" * 30 + "Z").fullmatch("a" * 5000)
    assert glob("a*b*c").fullmatch("a-b-b-c-c")
    assert not glob("a*b*c").fullmatch("a-c-b")

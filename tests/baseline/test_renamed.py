# SPDX-License-Identifier: MIT
"""Baselines and records that name checks as earlier versions did."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from nfsjudge.records import CheckRecord, EndRecord, FindingRecord, RunRecord, to_line
from reports import load
from reports.baseline import BadBaseline, baseline_lines, compare_with_baseline, parse_baseline
from reports.baseline.symptoms import Patience
from reports.baseline.update import updated
from reports.compare import compare
from reports.idlist import IdList
from reports.run import Run

TODAY = dt.date(2026, 11, 21)
IDS = IdList.parse(
    """
n/READ/short[a]
n/READ/short[b]
n/READ/all
n/WRITE/whole
n/WRITE/part
n/names/long
# gone: n/read/a_short_read -> n/READ/short
# gone: n/read/everything -> n/READ/all
# gone: n/write/all_of_it -> n/WRITE/whole
# gone: n/write/some -> n/WRITE/part
# gone: n/names/old -> n/READ/all
"""
)
RED = ("n/READ/short[a]", "n/READ/short[b]", "n/WRITE/whole")


def run_of(*red: str) -> Run:
    checks = [CheckRecord(name, "FAIL" if name in red else "PASS") for name in sorted(IDS.present)]
    return Run(RunRecord("mine"), checks, end=EndRecord(1))


def compared(text: str, *red: str) -> list[str]:
    found = compare_with_baseline(
        run_of(*red), parse_baseline(text, "b.toml"), today=TODAY, promised=IDS.present, listed=IDS
    )
    return [f"{difference.kind}: {difference.subject}" for difference in found]


OLD = """\
# what is known

[[entry]]  # reads
ids = [
    # the first
    "n/read/a_short_read[a]",
    "n/read/a_short_read[b]",  # the second
]
reason = "section 3.3.6"

[[entry]]
id = "n/write/all_of_it"
reason = "section 3.3.7"
"""


def test_old_ids_speak_of_the_checks_that_replaced_them() -> None:
    assert compared(OLD, *RED) == []
    assert compared(OLD, "n/READ/short[a]", "n/READ/short[b]") == ["other verdict: n/WRITE/whole"]
    baseline = parse_baseline(OLD, "b.toml")
    assert baseline_lines([], baseline, run_of(*RED), IDS) == [
        "the run agrees with the baseline (b.toml): 3 known deviations"
    ]


@pytest.mark.parametrize("pattern", ["n/read/a_short*", "n/read/*[*]", "n/READ/short[*", "n/*_short_read[*]"])
def test_patterns_fit_old_names_as_well(pattern: str) -> None:
    assert compared(f'[[entry]]\nid = "{pattern}"\n', *RED[:2]) == []


def test_a_pattern_of_this_version_does_not_fit_old_names() -> None:
    text = '[[entry]]\nid = "n/names/*"\n'
    assert compared(text, "n/names/long") == []
    assert compared(text, "n/names/long", "n/READ/all") == ["new: n/READ/all"]


def test_in_a_file_of_an_earlier_version_every_pattern_may_mean_old_names() -> None:
    text = '[[entry]]\nid = "n/write/some"\n[[entry]]\nid = "n/names/*"\n'
    assert compared(text, "n/WRITE/part", "n/names/long", "n/READ/all") == []


def test_an_update_has_the_time_of_one_file_for_symptoms() -> None:
    text = OLD + '[[entry]]\nid = "n/names/*"\nsymptom = "a"\n'
    with pytest.raises(BadBaseline, match="the symptoms of the file take longer"):
        updated(text, run_of(*RED), "b.toml", IDS, Patience(0.0))


def test_an_update_writes_the_new_ids_and_nothing_else() -> None:
    after = updated(OLD, run_of(*RED), "b.toml", IDS)
    assert after == OLD.replace("n/read/a_short_read", "n/READ/short").replace(
        "n/write/all_of_it", "n/WRITE/whole"
    )
    assert updated(after, run_of(*RED), "b.toml", IDS) == after


@pytest.mark.parametrize(
    ("pattern", "red", "written"),
    [
        ("n/read/a_short*", RED[:2], 'id = "n/READ/short[*]"'),
        ("n/read/every*", ["n/READ/all"], 'id = "n/READ/all"'),
        ("n/read/*", [*RED[:2], "n/READ/all"], 'id = "n/READ/*"'),
        ("n/*/*", [*IDS.present], 'id = "n/*/*"'),
    ],
)
def test_an_update_writes_patterns_of_new_ids(pattern: str, red: list[str], written: str) -> None:
    text = f'[[entry]]\nid = "{pattern}"\nreason = "why"\n'
    after = updated(text, run_of(*red), "b.toml", IDS)
    assert after == text.replace(f'id = "{pattern}"', written)


def test_two_names_of_one_check_become_one() -> None:
    text = '[[entry]]\nid = "n/READ/all"\nreason = "1"\n\n[[entry]]\nid = "n/read/everything"\nreason = "2"\n'
    after = updated(text, run_of("n/READ/all"), "b.toml", IDS)
    assert after == '[[entry]]\nid = "n/READ/all"\nreason = "1"\n'


@pytest.fixture
def ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of this version, as the records see it."""
    monkeypatch.setattr("reports.reading.known_ids", lambda: IDS)


def left(folder: Path, *records: CheckRecord | FindingRecord) -> Path:
    folder.mkdir()
    lines = [to_line(record) for record in (RunRecord("mine"), *records, EndRecord(1))]
    (folder / "records.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return folder


def test_records_have_the_names_of_this_version(ids: None, tmp_path: Path) -> None:
    finding = FindingRecord("lint/n/x", "n/write/some", "FAIL")
    run = load(left(tmp_path / "a", CheckRecord("n/read/a_short_read[a]", "PASS"), finding))
    assert [check.id for check in run.checks] == ["n/READ/short[a]"]
    assert [finding.check for finding in run.findings] == ["n/WRITE/part"]


def test_a_renamed_check_is_no_difference_between_runs(ids: None, tmp_path: Path) -> None:
    before = load(left(tmp_path / "a", CheckRecord("n/read/everything", "PASS")))
    after = load(left(tmp_path / "b", CheckRecord("n/READ/all", "FAIL")))
    assert [(change.how, change.id) for change in compare(before, after)] == [("broken", "n/READ/all")]

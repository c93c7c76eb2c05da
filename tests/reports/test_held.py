# SPDX-License-Identifier: MIT
"""Reports of a run with a baseline: differences stand out from known failures."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from nfsjudge.records import CheckRecord, EndRecord, RunRecord
from reports.annotations import annotation_lines
from reports.junit import render_junit
from reports.markdown import render_markdown
from reports.run import Run, from_records
from reports.text import render_text

NEW = "new: nfs3/a/new: FAIL @all <b>"


def run_of(*differences: str) -> Run:
    known = CheckRecord("nfs3/a/known", "FAIL", observed="eof is FALSE")
    fresh = CheckRecord("nfs3/a/new", "FAIL", observed="@all <b>")
    end = EndRecord(11 if differences else 0, baseline="b.toml", differences=list(differences))
    return from_records([RunRecord("mine"), known, *([fresh] if differences else []), end])[-1]


def test_annotations_are_of_differences_only() -> None:
    assert annotation_lines([run_of()]) == []
    assert annotation_lines([run_of(NEW)]) == ["::error title=baseline%3A new::nfs3/a/new: FAIL @all <b>"]


def test_markdown_names_the_differences_first() -> None:
    assert "Agrees with the baseline `b.toml`" in render_markdown([run_of()])
    text = render_markdown([run_of(*[NEW] * 30)])
    assert "Differs from the baseline `b.toml`" in text
    assert "- `new: nfs3/a/new: FAIL @all <b>`" in text
    assert text.count("FAIL @all <b>`\n") == 20
    assert "- and 10 more" in text


def test_text_and_junit_say_it() -> None:
    assert "compared: with the baseline b.toml: no difference\n" in render_text(run_of())
    assert f"compared: with the baseline b.toml: these differences\n         {NEW}\n" in render_text(
        run_of(NEW)
    )
    for run, failures in ((run_of(), 0), (run_of(NEW), 1)):
        root = ET.fromstring(render_junit([run]).encode())
        (case,) = root.iterfind(".//testcase[@name='is_as_the_baseline_says']")
        assert [element.get("message") for element in case.iter("failure")] == [NEW] * failures

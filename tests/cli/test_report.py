# SPDX-License-Identifier: MIT
"""`nfsproof report` on what runs have left."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import typing as t
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from nfsjudge.records import CheckRecord, EndRecord, RequirementRecord, RunRecord, to_line
from nfsproof import allure_page
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit

CLAUSE = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "count is what was written")
Captured: t.TypeAlias = pytest.CaptureFixture[str]


def leave(folder: Path, target: str = "embedded") -> Path:
    """The folder of a run with one check of each of two verdicts."""
    records = (
        RunRecord(target),
        CheckRecord("nfs3/null/is_answered", "PASS"),
        CheckRecord("nfs3/write/keeps_data", "FAIL", CLAUSE, ["4"], "resok.count is 101"),
        EndRecord(1),
    )
    folder.mkdir(exist_ok=True)
    (folder / "records.jsonl").write_text("".join(to_line(record) + "\n" for record in records))
    return folder


@pytest.fixture
def left(tmp_path: Path) -> Path:
    return leave(tmp_path)


def report(*words: str | Path) -> int:
    return run_command_line(["report", *map(str, words)])


def test_a_run_is_reported_again(left: Path, capsys: Captured) -> None:
    assert report(left) == Exit.OK
    out = capsys.readouterr().out
    assert "nfs3/write/keeps_data" in out
    assert "resok.count is 101" in out


def test_every_form_at_once(left: Path, tmp_path: Path, capsys: Captured) -> None:
    page, xml, text = (tmp_path / name for name in ("page.html", "junit.xml", "summary.md"))
    assert report(left, "--html", page, "--junit", xml, "--markdown", text, "--annotate") == Exit.OK
    assert "nfs3/write/keeps_data" in page.read_text()
    assert ET.parse(xml).getroot().get("failures") == "1"
    assert "RFC 1813" in text.read_text()
    out, err = capsys.readouterr()
    assert out.startswith("::error ")
    assert len(out.splitlines()) == 1
    assert [line.partition("written: ")[2] for line in err.splitlines()] == [str(page), str(xml), str(text)]


def test_a_form_on_the_output_stands_there_alone(left: Path, capsys: Captured) -> None:
    assert report(left, "--junit", "-") == Exit.OK
    out, err = capsys.readouterr()
    assert ET.fromstring(out).get("tests") == "2"
    assert not err


def test_several_runs_and_folders_of_runs(tmp_path: Path, capsys: Captured) -> None:
    for name in ("one", "two"):
        leave(tmp_path / name, name)
    page = tmp_path / "page.html"
    runs = (tmp_path, tmp_path / "one" / "records.jsonl")
    assert report(*runs, "--markdown", "-", "--html", page) == Exit.OK
    assert page.read_text().count("nfs3/write/keeps_data") >= 1
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line.startswith("### ")] == [
        f"### nfsproof: `{name}`: 1 FAIL, 1 PASS" for name in ("one", "two", "one (2)")
    ]


def test_a_folder_without_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.chdir(tmp_path)
    assert report() == Exit.USAGE
    assert "nfsproof-report is not there" in capsys.readouterr().err


def test_a_file_that_holds_something_else(left: Path, capsys: Captured) -> None:
    (left / "records.jsonl").write_text("hello\n")
    assert report(left) == Exit.USAGE
    err = capsys.readouterr().err
    assert "it has no record of a run; line 1 is no record" in err
    assert len(err.splitlines()) == 1


def test_a_foreign_line_is_a_warning(left: Path, capsys: Captured) -> None:
    path = left / "records.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], "\x1b[31mhello", *lines[2:]]) + "\n")
    assert report(left) == Exit.OK
    out, err = capsys.readouterr()
    assert "nfs3/write/keeps_data" in out
    assert err.startswith(f"nfsproof: warning: {path}: line 3 is no record")
    assert "\x1b" not in err


@pytest.mark.parametrize("option", ["--html", "--junit", "--markdown"])
@pytest.mark.parametrize(
    ("name", "why"), [("no/such/file", "there is no folder"), ("", "it is a folder; name a file")]
)
def test_an_output_that_cannot_be_written_fails_before_anything_is_read(
    tmp_path: Path, capsys: Captured, option: str, name: str, why: str
) -> None:
    assert report(tmp_path / "no records here", option, tmp_path / name) == Exit.USAGE
    err = capsys.readouterr().err
    assert why in err
    assert len(err.splitlines()) == 1


def test_two_outputs_in_one_file(left: Path, capsys: Captured) -> None:
    assert report(left, "--html", left / "x", "--junit", left / "x") == Exit.USAGE
    assert "same name" in capsys.readouterr().err


def test_a_folder_for_allure_that_is_a_file(left: Path, capsys: Captured) -> None:
    assert report(left, "--allure", left / "records.jsonl") == Exit.USAGE
    assert "cannot create the folder" in capsys.readouterr().err


def test_allure_has_its_configuration_and_a_line_says_how(
    left: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(left)
    assert report(left, "--allure", "out") == Exit.OK
    config, output, results = left / "out" / "allurerc.json", left / "out" / "page", left / "out" / "results"
    assert len(list(results.glob("*-result.json"))) == 2
    assert json.loads(config.read_text())["plugins"]["awesome"]["options"]["singleFile"] is True
    assert json.loads(config.read_text())["categories"] == json.loads(
        (results / "categories.json").read_text()
    )
    assert capsys.readouterr().err.splitlines()[-1] == (
        "nfsproof: to make a page of them with Node.js 20 or later: "
        f"npx --yes {allure_page.PACKAGE} generate --config {config} --output {output} {results}"
    )


@pytest.mark.parametrize(
    ("name", "said"), [("c.html", "<h1>Coverage of embedded</h1>"), ("c.md", "1 FAIL"), ("c.json", '"FAIL"')]
)
def test_coverage_is_written_in_the_form_that_its_name_says(left: Path, name: str, said: str) -> None:
    assert run_command_line(["report", str(left), "--coverage", str(left / name)]) == Exit.OK
    assert said in (left / name).read_text()


def test_coverage_of_several_runs_has_a_column_each(tmp_path: Path) -> None:
    runs = [str(leave(tmp_path / name, name)) for name in ("one", "two")]
    assert run_command_line(["report", *runs, "--coverage", str(tmp_path / "c.md")]) == Exit.OK
    assert "| one | two |" in (tmp_path / "c.md").read_text()


def test_coverage_of_no_known_form_is_refused_before_anything_is_read(
    tmp_path: Path, capsys: Captured
) -> None:
    assert (
        run_command_line(["report", str(tmp_path / "none"), "--coverage", str(tmp_path / "c.pdf")])
        == Exit.USAGE
    )
    assert ".html, .md, .json" in capsys.readouterr().err


def test_a_full_disk_leaves_what_was_there(
    left: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    page = tmp_path / "page.md"
    page.write_text("old")

    def full(path: Path, text: str, encoding: str) -> int:
        with path.open("w", encoding=encoding) as file:
            file.write(text[:10])
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_text", full)
    assert report(left, "--markdown", page) == Exit.USAGE
    assert capsys.readouterr().err == f"nfsproof: cannot write {page}: No space left on device\n"
    assert page.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.md", "records.jsonl"]


def test_a_new_report_has_the_mode_of_the_old_one(left: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("old")
    page.chmod(0o600)
    assert report(left, "--markdown", page) == Exit.OK
    assert page.stat().st_mode & 0o777 == 0o600
    assert page.read_text() != "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_an_output_that_is_full_ends_in_a_line(left: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "nfsproof", "report", str(left)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == Exit.USAGE
    assert done.stderr == "nfsproof: cannot write to standard output: no space left\n"

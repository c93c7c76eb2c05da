# SPDX-License-Identifier: MIT
"""Reports from records: nothing of a run is lost, and nothing from a target is trusted."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import reports
from nfsjudge.records import (
    AnyRecord,
    BadRecord,
    CheckRecord,
    EndRecord,
    RequirementRecord,
    RunRecord,
    to_line,
)
from nfsjudge.verdict import VERDICTS
from reports.run import Run, from_records

CLAUSE = RequirementRecord("RFC 1813", "3.3.7", "IMPLEMENTATION", "SHOULD", "a gist with <angles> & more")
HOSTILE = '<script>alert("x")</script>'


def check(name: str, verdict: str = "PASS", **fields: object) -> CheckRecord:
    record = CheckRecord(name, verdict, CLAUSE)
    for key, value in fields.items():
        setattr(record, key, value)
    return record


def one_of_each() -> Run:
    records: list[AnyRecord] = [
        RunRecord("nfs://host/export", capabilities={"udp": "yes", "symlink": f"refused {HOSTILE}"}),
        check("nfs3/read/passes", observations={"eof": HOSTILE}),
        check("nfs3/write/fails", "FAIL", expected=["at most 10"], observed=HOSTILE, exchanges=2),
        check("nfs3/write/is_lax", "NONSTRICT", expected=["11"], observed="12", rerun="nfsproof run x y"),
        check("mount/mnt/lacks", "UNSUPPORTED", reason="NOTSUPP"),
        check("mount/mnt/left_out", "SKIP", reason="no root"),
        check("rpc/null/unknown", "VOID", reason="two\nlines", capture="evidence/a b.pcapng"),
        EndRecord(1, 2.5, note="at the end the target is gone", logs=["logs/ganesha-vfs.log"]),
    ]
    records[2].transcript = ["#1 WRITE", f"  count: 11 {HOSTILE}    <-- expected at most 10"]  # type: ignore[union-attr]
    return from_records(records)[-1]


def test_counts_by_verdict_and_protocol() -> None:
    run = one_of_each()
    assert run.counts() == dict.fromkeys(VERDICTS, 1)
    assert run.counts("nfs3") == {"PASS": 1, "FAIL": 1, "NONSTRICT": 1}
    assert run.protocols == ["mount", "nfs3", "rpc"]


def test_text_has_everything_that_is_not_green() -> None:
    text = reports.render_text(one_of_each())
    for part in (
        "nfs3/write/fails",
        "at most 10",
        "RFC 1813 section 3.3.7 (SHOULD, IMPLEMENTATION)",
        "mount/mnt/left_out: no root",
        "the target is gone",
        "log:     logs/ganesha-vfs.log",
        "rerun:      nfsproof run x y",
        "<-- expected at most 10",
    ):
        assert part in text
    assert "nfs3/read/passes" not in text


def test_text_says_which_suite_judged() -> None:
    run = from_records([RunRecord("embedded", version="0.1.0+664abba12")])[-1]
    assert "suite:   nfsproof 0.1.0+664abba12" in reports.render_text(run).splitlines()


def test_a_run_that_was_killed_says_so(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    lines = [to_line(RunRecord("embedded")), to_line(check("nfs3/a/b")), '{"kind":"check","id":"nf']
    path.write_text("\n".join(lines))
    run = reports.load(tmp_path)
    assert [check.id for check in run.checks] == ["nfs3/a/b"]
    assert "is incomplete" in reports.render_text(run)
    assert "is incomplete" in reports.render_html(run)


def test_an_empty_run_can_be_reported() -> None:
    assert "unknown target" in reports.render_text(Run())


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text('{"some": "json"}\n')
    with pytest.raises(BadRecord):
        reports.load(path)


def test_reports_read_records_and_none_of_our_other_packages() -> None:
    rooms = {"nfsclient", "nfsserver", "nfsmutants", "nfsfaults", "fixtures", "suites", "nfsproof"}
    for module in Path(reports.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not rooms & {name.partition(".")[0] for name in names}, module
            of_the_judge = {name for name in names if name.startswith("nfsjudge")}
            assert of_the_judge <= {
                "nfsjudge.clients",
                "nfsjudge.deviation",
                "nfsjudge.duplicates",
                "nfsjudge.harm",
                "nfsjudge.reason",
                "nfsjudge.records",
                "nfsjudge.verdict",
                "nfsjudge.wording",
            }, module

# SPDX-License-Identifier: MIT
"""Reports from records: nothing of a run is lost, and nothing from a target is trusted."""

from __future__ import annotations

import ast
from html.parser import HTMLParser
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
from reports.run import VERDICTS, Run, from_records

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


class Page(HTMLParser):
    """Text, tags and attributes of a page; checks that elements are closed in order."""

    VOID_ELEMENTS = frozenset({"meta", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text: list[str] = []
        self.marked: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in self.VOID_ELEMENTS:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        # The end tag of li is never left out here, so that nesting can be held strictly.
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if self.open and self.open[-1] == "mark":
            self.marked.append(data)


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


def test_page_is_well_formed_self_contained_and_without_scripts() -> None:
    page = Page(reports.render_html(one_of_each()))
    assert "script" not in page.tags
    assert all(link.startswith(("#", "evidence/", "logs/")) for link in page.links)
    assert "evidence/a%20b.pcapng" in page.links


def test_page_escapes_what_came_from_the_target() -> None:
    html = reports.render_html(one_of_each())
    assert HOSTILE not in html
    assert "".join(Page(html).text).count(HOSTILE) == 4  # seen, transcript, capability, observation


def test_page_has_each_check_and_marks_the_field() -> None:
    page = Page(reports.render_html(one_of_each()))
    text = "".join(page.text)
    assert "RFC 1813 section 3.3.7 (SHOULD, IMPLEMENTATION): a gist with <angles> & more" in text
    assert page.marked == [f"  count: 11 {HOSTILE}    <-- expected at most 10"]
    assert {"nfs3/write/fails", "nfs3/write/is_lax", "rpc/null/unknown"} <= set(page.ids)
    assert "the target is gone" in text


def test_a_run_that_was_killed_says_so(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    lines = [to_line(RunRecord("embedded")), to_line(check("nfs3/a/b")), '{"kind":"check","id":"nf']
    path.write_text("\n".join(lines))
    run = reports.load(tmp_path)
    assert [one.id for one in run.checks] == ["nfs3/a/b"]
    assert "did not come to its end" in reports.render_text(run)
    assert "did not come to its end" in reports.render_html(run)


def test_an_empty_run_can_be_told() -> None:
    assert "unknown target" in reports.render_text(Run())
    Page(reports.render_html(Run()))


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text('{"some": "json"}\n')
    with pytest.raises(BadRecord):
        reports.load(path)


def test_reports_read_records_and_nothing_else_of_ours() -> None:
    rooms = {"nfsclient", "nfsserver", "nfsfaults", "fixtures", "suites", "nfsproof"}
    for module in Path(reports.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not rooms & {name.partition(".")[0] for name in names}, module
            assert all(n == "nfsjudge.records" for n in names if n.startswith("nfsjudge")), module

# SPDX-License-Identifier: MIT
"""The summary for a pull request: nothing from a target is markup in it, and it is never too long."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nfsjudge.records import AnyRecord, CheckRecord, EndRecord, FindingRecord, RequirementRecord, RunRecord
from nfsjudge.verdict import VERDICTS
from reports.markdown import LIMIT, as_code, render_markdown
from reports.plain import printable
from reports.run import Run, from_records

CLAUSE = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "a gist")
NASTY = st.text(
    st.sampled_from("|`*_[]()<>&\\~#@:!$\n\r\t -=+.1aw/\"'\x1b\u202e\u061c\U000e0041")
    | st.characters(codec="utf-8")
)
KNOWN = {
    "h3",
    "h4",
    "p",
    "ul",
    "li",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "code",
    "a",
    "details",
    "summary",
    "pre",
    "strong",
    "em",
}
PARSER = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")

HOSTILE = [
    "@everyone look", "a|b|c", "`code` ``` ~~~", "<script>alert(1)</script>", "</pre></code></details><img src=x>",
    "[x](javascript:alert(1))", "# heading\n\n- list\n\n```\n", "https://evil.example www.evil.example",
    "&lt;b&gt; &#64; &copy;", "\x1b[31m\u202e", "$`x`$ $$y$$ :smile: #12 ~~gone~~ \\", "line\n::error::x",
]  # fmt: skip


class Page(HTMLParser):
    """Tags, and the texts of elements that hold what is not ours."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.links: set[str] = set()
        self.outside: list[str] = []
        self.code: list[str] = []
        self.pre: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links |= {value or "" for name, value in attrs if name == "href"}
        assert {name for name, _ in attrs} <= {"href", "style"}
        self.open.append(tag)
        if tag in {"code", "pre"}:
            (self.code if tag == "code" else self.pre).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "pre" in self.open:
            self.pre[-1] += data
        elif "code" in self.open:
            self.code[-1] += data
        else:
            self.outside.append(data)


def run_of(*records: AnyRecord) -> Run:
    return from_records([RunRecord("embedded"), *records, EndRecord(1)])[-1]


def page_of(text: str) -> Page:
    page = Page(PARSER.render(text))
    assert page.tags <= KNOWN
    return page


def hostile_run(text: str, verdict: str = "FAIL") -> Run:
    clause = RequirementRecord(text, text, text, text, text)
    check = CheckRecord(f"nfs3/{text}", verdict, clause, [text], text, text)
    check.transcript, check.rerun = [text, "", text], text
    found = FindingRecord(f"lint/{text}", text, "NONSTRICT", clause, [text], text, transcript=[text])
    run = run_of(check, found)
    assert run.about is not None
    assert run.end is not None
    run.about.label = run.end.note = text or "x"
    return run


@settings(deadline=None)
@given(NASTY)
def test_code_is_what_it_was_on_one_line(text: str) -> None:
    expected = printable(" ".join(text.split()))
    for source in (
        as_code(text, 10_000),
        f"| {as_code(text, 10_000)} | b |\n| --- | --- |",
        f"- {as_code(text, 10_000)}",
    ):
        page = page_of(source)
        assert page.code == [expected]
        assert not page.links


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("verdict", ["FAIL", "VOID", "NONSTRICT"])
def test_what_a_target_said_is_text(text: str, verdict: str) -> None:
    source = render_markdown([hostile_run(text, verdict)])
    page = page_of(source)
    shown = printable(" ".join(text.split()))
    assert page.code.count(shown) >= 3
    assert all(shown not in piece for piece in page.outside)
    assert printable(text) in "".join(page.pre)
    assert all(link.startswith("https://www.rfc-editor.org/rfc/rfc") for link in page.links)


@settings(deadline=None)
@given(NASTY, st.sampled_from(VERDICTS), st.integers(1, 3))
def test_any_text_in_any_field(text: str, verdict: str, number: int) -> None:
    page = page_of(render_markdown([hostile_run(text, verdict)] * number))
    assert not re.search(r"@\w", "".join(page.outside))


@pytest.mark.parametrize("limit", [5_000, 20_000, LIMIT])
@pytest.mark.parametrize("size", [1, 500])
def test_never_longer_than_the_limit(limit: int, size: int) -> None:
    checks = [CheckRecord(f"nfs3/a/b[{n}]", "FAIL", CLAUSE, ["x"], "|" * size * 10) for n in range(size)]
    for check in checks:
        check.transcript = ["<" * 100] * size
    text = render_markdown([run_of(*checks)], limit)
    assert len(text) <= limit
    page_of(text)
    if size == 500:
        assert "more are left out, because" in text
        assert ("<details>" in text) == (limit > 5_000)
        assert "\n- `nfs3/a/b[" in text


def test_many_runs_are_not_too_long() -> None:
    assert len(render_markdown([run_of(CheckRecord("nfs3/a/b", "PASS"))] * 2000, 5_000)) <= 5_000


def test_numbers_clause_and_what_was_seen() -> None:
    run = run_of(
        CheckRecord("nfs3/write/keeps", "FAIL", CLAUSE, ["4"], "count is 5"),
        CheckRecord("mount/mnt/it", "PASS"),
    )
    text = render_markdown([run])
    assert "1 FAIL, 1 PASS" in text
    assert "| `nfs3`   |    1 |    0 |" in text
    assert "](https://www.rfc-editor.org/rfc/rfc1813#section-3.3.7)" in text
    assert page_of(text).links == {"https://www.rfc-editor.org/rfc/rfc1813#section-3.3.7"}
    assert "count is 5" in html.unescape(text)


def test_it_reads_well_as_plain_text() -> None:
    check = CheckRecord(
        "nfs3/WRITE/keeps", "FAIL", CLAUSE, ["4 bytes"], "count is 5", title="WRITE keeps & <all>."
    )
    check.transcript = ["#1 WRITE", "  count: 5    <-- expected 4"]
    text = render_markdown([run_of(check)])
    link = "[RFC 1813 section 3.3.7 (STATED)](https://www.rfc-editor.org/rfc/rfc1813#section-3.3.7)"
    assert f"- `nfs3/WRITE/keeps` · {link}\n  `WRITE keeps & <all>.`\n  seen: `count is 5`\n" in text
    assert "\n    count: 5    <-- expected 4\n" in text
    assert "&" not in text.replace("keeps & <all>", "")


def test_it_says_which_suite_judged() -> None:
    run = from_records([RunRecord("embedded", version="0.1.0+664abba12"), EndRecord(0)])[-1]
    lines = html.unescape(render_markdown([run])).splitlines()
    assert "Judged by nfsproof `0.1.0+664abba12`." in lines


def test_a_run_that_was_killed_says_so() -> None:
    text = render_markdown([from_records([RunRecord("embedded")])[-1]])
    assert "The run as a whole" in text
    assert "is incomplete" in html.unescape(text)
    assert "no check was executed" in text


def test_rules_that_the_lint_saw_broken_are_in_the_first_line_with_their_verdicts() -> None:
    found = [
        FindingRecord(f"lint/{verdict}", "nfs3/a/b", verdict, CLAUSE) for verdict in ("NONSTRICT", "FAIL")
    ]
    text = render_markdown([run_of(CheckRecord("nfs3/a/b", "PASS"), *found)])
    first = text.splitlines()[0]
    assert first.endswith("1 PASS; rules broken in the exchanges: 1 FAIL, 1 NONSTRICT")
    assert "Ended: red." in text
    assert "FAIL `lint/FAIL`" in text
    run = run_of(*found)
    assert run.about is not None
    run.about.lint = "report"
    assert "1 FAIL, 1 NONSTRICT, printed only" in render_markdown([run])


def test_the_details_show_what_deviates() -> None:
    check = CheckRecord("nfs3/a/b", "FAIL", CLAUSE, ["4"], "5", elsewhere=["knfsd 6.1"])
    fields = [f"  field {n}" for n in range(200)]
    check.transcript = ["#1 MKDIR", *fields, "#2 GETATTR", *fields, "  size: 5    <-- expected 4"]
    text = html.unescape(render_markdown([run_of(check)]))
    assert "  size: 5    <-- expected 4" in text
    assert "#1 MKDIR" in text
    assert "also on: knfsd 6.1" in text


def test_checks_that_were_not_asked_are_one_line() -> None:
    gone = "not asked: the target is gone since nfs3/WRITE/a"
    checks = [CheckRecord(f"nfs3/WRITE/{letter}", "VOID", reason=gone) for letter in "bcd"]
    ours = CheckRecord("nfs3/WRITE/e", "VOID", reason="the suite is wrong")
    text = render_markdown([run_of(*checks, ours)])
    assert text.count(gone) == 1
    assert "`3 checks` · `nfs3/WRITE/b, nfs3/WRITE/c, nfs3/WRITE/d`" in text
    assert "#### VOID: the check could not be judged (1)" in text

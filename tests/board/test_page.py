# SPDX-License-Identifier: MIT
"""The board as text: whole, self-contained, and safe whatever the records hold. No browser is needed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
import typing as t
from html.parser import HTMLParser
from pathlib import Path

import pytest

from nfsjudge.records import AnyRecord, CheckRecord, EndRecord, RunRecord, to_line
from reports import load
from reports.board import BadDrawing, render_board
from reports.board.charts import drawing
from reports.board.safe import clause_url, inside, json_block, visible, visible_line
from reports.run import Run, from_records
from tests.board.records import HURTS, SCRIPT, check, ganesha, gone_nfs, hostile
from tests.waiting import AT_MOST


class Page(HTMLParser):
    """Elements with their attributes and text; holds that they are closed in order."""

    VOID_ELEMENTS = frozenset({"meta", "br", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self._open: list[int] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))
        if tag not in self.VOID_ELEMENTS:
            self._open.append(len(self.elements) - 1)

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self._open.pop()][0] == tag

    def handle_data(self, data: str) -> None:
        if self._open:
            self.elements[self._open[-1]][2].append(data)

    def texts(self, tag: str, **wanted: str) -> list[str]:
        return [
            "".join(text)
            for name, attrs, text in self.elements
            if name == tag and wanted.items() <= attrs.items()
        ]

    def data(self, name: str) -> t.Any:
        (text,) = self.texts("script", id=name)
        return json.loads(text)


RUNS = {
    "none": [],
    "empty": [Run()],
    "one": [ganesha()],
    "two": [ganesha(), gone_nfs()],
    "hostile": [hostile(), hostile()],
    "only_checks": from_records([check("one_part"), check("two/parts", "FAIL")]),
}


@pytest.mark.parametrize("name", RUNS)
def test_is_one_well_formed_file_that_loads_nothing(name: str) -> None:
    page = Page(render_board(RUNS[name]))
    assert not [tag for tag, attrs, _ in page.elements if {"src", "srcset", "action", "style"} & set(attrs)]
    assert not [attrs for _, attrs, _ in page.elements if any(key.startswith("on") for key in attrs)]
    assert {tag for tag, _, _ in page.elements}.isdisjoint({"link", "img", "iframe", "base", "object"})
    assert [attrs["href"] for _, attrs, _ in page.elements if "href" in attrs] == ["#checks"]


@pytest.mark.parametrize("name", RUNS)
def test_the_policy_allows_our_script_and_style_alone(name: str) -> None:
    page = Page(render_board(RUNS[name]))
    (policy,) = [
        str(attrs["content"])
        for _, attrs, _ in page.elements
        if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    programs = [
        "".join(text) for tag, attrs, text in page.elements if tag == "script" and "type" not in attrs
    ]
    styles = page.texts("style")
    assert (len(programs), len(styles)) == (1, 1)
    assert policy.startswith("default-src 'none'; ")
    assert re.findall("'sha256-([^']+)'", policy) == [digest(programs[0]), digest(styles[0])]
    assert "unsafe" not in policy


def digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_nothing_hostile_stands_in_the_page_as_markup() -> None:
    text = render_board([hostile()])
    page = Page(text)
    for hurt in HURTS[:4]:
        assert hurt not in text
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert {tag for tag, _, _ in page.elements} <= {
        tag for tag, _, _ in Page(render_board([ganesha()])).elements
    }


def test_hostile_text_is_shown_all_the_same() -> None:
    page = Page(render_board([hostile()]))
    index = page.data("index")
    assert SCRIPT in index["runs"][0]["label"]
    assert any("\\u202egnp.exe" in text for text in index["strings"])
    assert SCRIPT in "".join(
        "".join(text) for tag, _, text in page.elements if tag in {"li", "h2", "p", "code"}
    )


def test_files_that_are_not_next_to_the_page_are_named_but_not_linked() -> None:
    page = Page(render_board([hostile()]))
    portions = [
        page.data(str(attrs["id"]))
        for tag, attrs, _ in page.elements
        if str(attrs.get("id")).startswith("portion-")
    ]
    details = [detail for portion in portions for detail in portion["checks"].values()]
    assert {url for detail in details for _, url in [detail["capture"]]} == {
        "",
        "javascript%3Aalert%281%29",
    }  # quoted: a name
    scripts = [detail["script"][1] for detail in details if detail["script"][1]]
    assert "evidence/javascript%3Aalert%281%29" in scripts
    assert all(url.startswith("evidence/") for url in scripts)
    assert [url for _, url in page.data("index")["runs"][0]["logs"]][1:] == ["javascript%3Aalert%281%29", ""]


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("evidence/a b.pcapng", "../run/evidence/a%20b.pcapng"),
        ("evidence/[1]#?.py", "../run/evidence/%5B1%5D%23%3F.py"),
        ("a:b", "../run/a%3Ab"),
        *(
            (bad, "")
            for bad in (
                "",
                "/etc/passwd",
                "../x",
                "a/../../x",
                "a//b",
                "./a",
                "a\\b",
                "a\x00b",
                "a\u202eb",
                "//host/x",
            )
        ),
    ],
)
def test_links_stay_inside_the_folder(path: str, url: str) -> None:
    assert inside(path, "../run/") == url
    assert inside(path, None) == ""


@pytest.mark.parametrize(
    ("rfc", "section", "url"),
    [
        ("RFC 1813", "3.3.7", "https://www.rfc-editor.org/rfc/rfc1813#section-3.3.7"),
        ("RFC 1094", "A.5.1", "https://www.rfc-editor.org/rfc/rfc1094#appendix-A.5.1"),
        ("RFC 1813", "the whole", "https://www.rfc-editor.org/rfc/rfc1813"),
        ("XNFS", "3.3", ""),
        ("RFC 1813/../x", "1", ""),
        ("javascript:alert(1)", "1", ""),
    ],
)
def test_clauses_are_linked_where_they_can_be_read(rfc: str, section: str, url: str) -> None:
    assert clause_url(rfc, section) == url


def test_what_hides_itself_is_written_out() -> None:
    assert visible("a\u202eb\x1bc\nd\te\ud800\u2028") == "a\\u202eb\\x1bc\nd\te\\ud800\\u2028"
    assert visible_line("a\nb") == "a\\nb"
    assert visible("Grüße, 文件, 🙂") == "Grüße, 文件, 🙂"


def test_json_cannot_leave_its_element() -> None:
    for hurt in HURTS:
        text = json_block({"a": [hurt]})
        assert json.loads(text) == {"a": [hurt]}
        assert not set("<>\u2028\u2029") & set(text)


def test_evidence_is_linked_from_where_the_page_will_be(tmp_path: Path) -> None:
    for name in ("a", "b c"):
        (tmp_path / name).mkdir()
        records: list[AnyRecord] = [
            RunRecord(name),
            check("nfs3/x/y", "FAIL", capture="evidence/1.pcapng"),
            EndRecord(1),
        ]
        (tmp_path / name / "records.jsonl").write_text("".join(to_line(record) + "\n" for record in records))
    runs = [load(tmp_path / "a"), load(tmp_path / "b c")]
    page = Page(render_board(runs, at=tmp_path / "out" / "board.html"))
    assert page.data("portion-0-0")["checks"]["0"]["capture"][1] == "../a/evidence/1.pcapng"
    assert page.data("portion-1-0")["checks"]["0"]["capture"][1] == "../b%20c/evidence/1.pcapng"
    assert Page(render_board(runs)).data("portion-0-0")["checks"]["0"]["capture"][1] == ""
    placed = Page(render_board(runs[:1], at=tmp_path / "a" / "report.html"))
    assert placed.data("portion-0-0")["checks"]["0"]["capture"][1] == "evidence/1.pcapng"


def test_a_target_with_a_label_is_not_named() -> None:
    run = from_records(
        [
            RunRecord("nfs://acme-host/x", "acme-host", label="server A"),
            check("a/b/c", rerun="run nfs://acme-host/x a/b/c"),
        ]
    )
    text = render_board(run)
    assert "acme-host" not in text
    assert "run TARGET a/b/c" in text


def test_a_check_that_came_twice_keeps_its_worse_verdict() -> None:
    runs = from_records([check("a/b/c", "FAIL"), check("a/b/c", "PASS")])
    assert Page(render_board(runs)).data("index")["results"][0]["letters"] == "F"


def test_what_is_not_as_the_baseline_says_is_reported() -> None:
    end = EndRecord(11, baseline="b.toml", differences=[f"new: a/{number}: <b>" for number in range(23)])
    page = render_board([Run(RunRecord("x"), [CheckRecord("nfs3/a/b", "PASS")], end=end)])
    (run,) = Page(page).data("index")["runs"]
    assert run["differences"] == [f"new: a/{number}: <b>" for number in range(20)]
    assert run["more"] == 3


def test_what_is_known_of_other_servers_is_reported() -> None:
    check = CheckRecord("nfs3/a/b", "FAIL", others=7)
    assert "only here: not known of 7 other servers" in render_board([Run(RunRecord("x"), [check])])


def test_runs_of_the_same_target_are_distinguished() -> None:
    index = Page(render_board([ganesha(), ganesha()])).data("index")
    assert len({run["label"] for run in index["runs"]}) == 2


def test_a_broken_run_says_so() -> None:
    runs = [Run(about=RunRecord("x"), problems=["records.jsonl: line 3 is no record"])]
    (shown,) = Page(render_board(runs)).data("index")["runs"]
    assert "is incomplete" in shown["trouble"]
    assert shown["problems"] == ["records.jsonl: line 3 is no record"]


def test_without_scripts_the_page_tells_what_is_red() -> None:
    text = render_board([ganesha()])
    static = text[text.index("<noscript>") : text.index("</noscript>")]
    for part in ("nfs3/WRITE/never-more", "count is 11", "RFC 1813 section 3.3.7", "a bug of ours"):
        assert part in static
    assert "nfs3/WRITE/keeps-data" not in static


def test_a_page_without_workloads_needs_no_language_of_templates() -> None:
    program = "import sys, reports.board, reports.charts; sys.exit('jinja2' in sys.modules)"
    subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[2], check=True, timeout=AT_MOST
    )


SVG = '<svg xmlns="http://www.w3.org/2000/svg"><title>t &amp; u</title><rect width="9" fill="#123"/></svg>'


def test_without_scripts_the_page_tells_the_rules_that_are_broken() -> None:
    text = render_board([ganesha()])
    static = text[text.index("<noscript>") : text.index("</noscript>")]
    assert "found by the lint: 1 FAIL" in static
    assert "lint/nfs3/write-count" in static
    assert "WRITE: count is 11" in static


def test_the_title_counts_targets_or_runs_of_the_same() -> None:
    assert "<title>nfsproof: 2 targets</title>" in render_board([ganesha(), gone_nfs()])
    assert "<title>nfsproof: 2 runs</title>" in render_board([ganesha(), ganesha()])


def test_where_the_same_is_known_is_reported() -> None:
    record = check("nfs3/a/b", "FAIL", elsewhere=["knfsd 6.1"])
    assert "knfsd 6.1" in render_board([from_records([RunRecord("it"), record])[-1]])


def test_drawings_are_shown() -> None:
    page = Page(render_board([ganesha()], charts=[("Latency <1 s", SVG)]))
    assert page.texts("figcaption") == ["Latency <1 s"]
    assert page.texts("title")[1:] == ["t & u"]


@pytest.mark.parametrize(
    "inner",
    [
        "<script>1</script>",
        '<a href="https://example.org/">x</a>',
        '<image href="x"/>',
        "<style>*{}</style>",
        "<foreignObject><p>x</p></foreignObject>",
        '<rect onclick="1"/>',
        '<rect style="fill:url(https://example.org)"/>',
        '<rect fill="url(https://example.org/#a)"/>',
        '<use href="#x"/>',
    ],
)
def test_only_what_draws_is_let_through(inner: str) -> None:
    clean = drawing(SVG.replace("</svg>", inner + "</svg>"))
    assert not re.search("script|href|style|foreign|onclick|url|image|use", clean)


@pytest.mark.parametrize(
    "text", ["", "no svg", "<p>x</p>", "<svg>", '<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>']
)
def test_what_is_no_drawing_is_refused(text: str) -> None:
    with pytest.raises(BadDrawing):
        drawing(text)


def test_messages_stand_in_place_of_the_lines_of_the_transcript() -> None:
    both: CheckRecord = check("a/b/c", "FAIL", messages=ganesha().checks[0].messages, transcript=["#1 twice"])
    text = render_board(from_records([both]))
    assert "#1 twice" not in text

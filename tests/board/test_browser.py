# SPDX-License-Identifier: MIT
"""The board in a real browser: what a reader does with it, by mouse and by keyboard."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from nfsjudge.records import EndRecord, FindingRecord, RunRecord
from reports.compare import compare
from reports.run import Run, from_records
from tests.board.browser import Visit, needs_browser
from tests.board.records import ADVICE, MNT, TITLE, WRITE, check, ganesha, gone_nfs, hostile, many, message

if t.TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = needs_browser

ROWS = "#rows [role=row]"
PANEL = "#panel:not([hidden])"


def rows(page: Page, kind: str = "check") -> list[str]:
    """Names of the rows that are shown, in order from top to bottom."""
    found = page.locator(f"#rows .row.{kind}").evaluate_all(
        "all => all.map(row => [row.offsetTop, row.querySelector('.label').textContent]).sort((a, b) => a[0] - b[0])"
    )
    return [name for _, name in found]


def fragment(page: Page) -> str:
    return str(page.evaluate("decodeURIComponent(location.hash)"))


def test_all_checks_and_targets_are_shown_with_counts(page: Page) -> None:
    assert rows(page, "protocol") == ["mount", "nfs3"]
    assert len(rows(page)) == 8
    assert page.locator("#heads [role=columnheader]").count() == 3
    assert page.locator("#status").inner_text() == "8 checks"
    first = page.locator("#summary tbody tr").first.inner_text().split()
    # A count a verdict, all, and the rules that the lint saw broken.
    assert first == ["1", "ganesha", "1", "1", "1", "1", "1", "2", "7", "✗", "1"]


def test_text_filters_by_id_clause_and_what_was_seen(page: Page) -> None:
    for text, left in (
        ("keeps", ["keeps-data"]),
        ("short read", ["all", "short"]),
        ("4000000000", ["never-more"]),
    ):
        page.fill("#q", text)
        assert rows(page) == left
    page.fill("#q", "nothing has this")
    assert "No check matches" in page.locator("#rows").inner_text()
    assert page.locator("#status").inner_text() == "0 of 8 checks"


def test_selects_and_chips_filter(page: Page) -> None:
    page.click("#more")
    page.select_option("#protocol", "nfs3")
    page.select_option("#procedure", "WRITE")
    assert rows(page) == ["keeps-data", "never-more"]
    page.click("#verdicts [data-value=PASS]")
    assert rows(page) == ["keeps-data"]
    assert page.get_attribute("#verdicts [data-value=PASS]", "aria-pressed") == "true"
    page.select_option("#target", "1")
    assert rows(page) == []
    page.click("#reset")
    page.select_option("#section", "RFC 1094 A.5.1")
    assert rows(page) == ["brand-new", "null", "odd", "rooted"]
    page.click("#reset")
    page.click("#levels [data-value=SHOULD]")
    assert rows(page) == ["all", "short"]
    page.click("#reset")
    page.check("#differ")
    assert rows(page) == ["brand-new", "rooted", "all", "short", "keeps-data"]


def test_a_count_is_a_filter(page: Page) -> None:
    page.get_by_role("button", name="2 FAIL, go-nfs: show them").click()
    assert rows(page) == ["keeps-data", "never-more"]
    page.get_by_role("button", name="level", exact=True).click()
    assert "MUST" in page.locator("#summary tbody").inner_text()


@pytest.mark.parametrize("by", ["target", "level", "protocol"])
def test_every_count_shows_as_many_checks(page: Page, by: str) -> None:
    page.get_by_role("button", name=by, exact=True).click()
    buttons = page.locator("#summary tbody tr:not(.lint) td.number .count")
    assert buttons.count() > 5
    for number in range(buttons.count()):
        amount = buttons.nth(number).inner_text()
        buttons.nth(number).click()
        assert page.locator("#status").inner_text() == f"{amount} of 8 checks"
        assert page.locator("#verdicts [aria-pressed=true] .amount").inner_text() == amount
        page.click("#reset")


def test_level_and_verdict_are_those_of_one_run(visit: Callable[..., Visit]) -> None:
    judged = [("PASS", ADVICE), ("FAIL", MNT)]
    runs = [
        from_records([RunRecord(verdict), check("nfs3/a/b", verdict, clause)])[-1]
        for verdict, clause in judged
    ]
    page = visit(runs).open()
    for level, found in (("MUST", 1), ("SHOULD", 0)):
        page.goto(f"{page.url.partition('#')[0]}#verdicts=FAIL&levels={level}")
        assert len(rows(page)) == found


def test_a_run_that_is_red_by_the_lint_alone_does_not_look_green(visit: Callable[..., Visit]) -> None:
    found = FindingRecord("lint/nfs3/write-count", "nfs3/a/b", "FAIL", WRITE, ["10"], "count is 11")
    run = from_records([RunRecord("it"), check("nfs3/a/b"), found, EndRecord(1)])[-1]
    page = visit([run]).open()
    row = page.locator("#summary tr.lint")
    assert row.inner_text().split() == ["rules", "broken", "(lint)", "1", "0", "0", "0", "0", "0", "1"]
    row.get_by_role("button", name="1 FAIL, rules broken, all: show them").click()
    assert "count is 11" in page.locator("#view-findings").inner_text()


def test_the_url_tells_what_is_shown(page: Page, visit: Callable[..., Visit]) -> None:
    page.fill("#q", "write")
    page.click("#verdicts [data-value=FAIL]")
    page.locator(ROWS, has_text="never-more").click()
    location = page.evaluate("location.hash")
    again = visit([ganesha(), gone_nfs()]).open(location)
    assert rows(again) == ["keeps-data", "never-more"]
    assert again.input_value("#q") == "write"
    assert again.locator("#panel header .id").inner_text() == "nfs3/WRITE/never-more"
    page.go_back()
    page.wait_for_selector("#panel", state="hidden")


def test_a_bare_id_in_the_url_opens_the_check(visit: Callable[..., Visit]) -> None:
    page = visit([ganesha()]).open("#nfs3/WRITE/never-more")
    assert page.locator("#panel header .id").inner_text() == "nfs3/WRITE/never-more"


def test_the_title_is_in_the_list_and_heads_the_check(visit: Callable[..., Visit]) -> None:
    # The second run is of a version without titles.
    page = visit([ganesha(), gone_nfs()]).open()
    page.fill("#q", "no more than it was given")
    assert rows(page) == ["never-more"]
    assert page.locator("#rows .row.check .title").inner_text() == TITLE
    page.locator(ROWS, has_text="never-more").click()
    assert page.locator("#panel-title").inner_text() == TITLE
    assert page.locator("#panel header .id").inner_text() == "nfs3/WRITE/never-more"
    page.fill("#q", "keeps-data")
    assert page.locator("#rows .row.check .title").inner_text() == "keeps data"


def test_groups_open_and_close(page: Page) -> None:
    page.click("#collapse")
    assert rows(page) == []
    assert rows(page, "group") == ["MNT", "READ", "WRITE"]
    page.locator("#rows .row.group", has_text="WRITE").click()
    assert rows(page) == ["keeps-data", "never-more"]
    page.click("#expand")
    assert len(rows(page)) == 8
    page.locator("#rows .row.protocol", has_text="mount").click()
    assert len(rows(page)) == 4


def test_a_check_tells_everything_that_was_recorded(visit: Callable[..., Visit]) -> None:
    page = visit([ganesha()]).open()
    page.locator(ROWS, has_text="never-more").click()
    text = page.locator(PANEL).inner_text()
    for part in (
        "count is what was written",
        "STATED",
        "at most 10",
        "count is 11",
        "1 exchange",
        "lint/nfs3/write-count",
    ):
        assert part in text
    links = page.locator(f"{PANEL} a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert links[0] == "https://www.rfc-editor.org/rfc/rfc1813#section-3.3.7"
    assert {"evidence/nfs3/WRITE/never%20more.pcapng", "evidence/nfs3/WRITE/never-more.py"} <= set(links)
    assert page.locator(f"{PANEL} .command code").inner_text() == "nfsproof run x 'nfs3/WRITE/never-more'"


def test_the_transcript_opens_where_it_deviates(visit: Callable[..., Visit]) -> None:
    page = visit([ganesha()]).open("#check=nfs3/WRITE/never-more")
    messages = page.locator("#panel .transcript li")
    assert messages.count() == 2
    page.wait_for_selector("#panel .transcript mark")
    assert page.locator("#panel .transcript mark").inner_text().strip() == "count: 11"
    assert "deviates" in messages.nth(1).inner_text()
    assert messages.nth(0).locator("pre").count() == 0  # made when it is requested
    messages.nth(0).locator("summary").click()
    assert "data: 10 bytes" in messages.nth(0).locator("pre").inner_text()


def test_a_transcript_of_lines_does_as_well(visit: Callable[..., Visit]) -> None:
    page = visit([ganesha()]).open("#check=mount/MNT/odd")
    page.wait_for_selector("#panel .transcript mark")
    assert "a: 1" in page.locator("#panel .transcript mark").inner_text()


def test_the_command_is_copied(visit: Callable[..., Visit]) -> None:
    visited = visit([ganesha()])
    page = visited.open("#check=nfs3/WRITE/never-more")
    page.click("#panel .command button")
    page.wait_for_function("() => document.querySelector('#panel .command button').textContent === 'Copied'")


def test_all_targets_stand_side_by_side(page: Page) -> None:
    page.locator(ROWS, has_text="keeps-data").click()
    table = page.locator("#panel .targets tbody tr")
    assert [" ".join(text.split()) for text in table.all_inner_texts()] == [
        "ganesha ✓ PASS",
        "go-nfs ✗ FAIL expected equal data, got other data",
    ]
    assert "equal data" in page.locator("#panel .run").inner_text()  # the red one first
    page.get_by_role("button", name="ganesha", exact=True).click()
    assert "verifier: the same" in page.locator("#panel .run").inner_text()
    assert page.evaluate("document.activeElement.textContent") == "ganesha"


def text_of(part: Locator) -> str:
    """All of its text, drawn or not: lines beyond the window are drawn when they come into it."""
    return part.text_content() or ""


def test_comparison(page: Page) -> None:
    page.click("#views [data-view=compare]")
    page.locator(".change").last.wait_for()
    chips = {
        name: int(count)
        for count, name in (text.split("\n") for text in page.locator(".change").all_inner_texts())
    }
    assert chips == {
        "worse on B": 1,
        "better on B": 2,
        "other symptom": 1,
        "red on B, not judged on A": 0,
        "not judged on B": 1,
        "other verdict": 0,
        "only in the run of B": 1,
        "only in the run of A": 1,
    }
    assert "nfs3/WRITE/keeps-data" in text_of(page.locator(".c-broken.changed"))
    assert "nfs3/READ/short" in text_of(page.locator(".c-fixed.changed"))
    assert "mount/MNT/brand-new" in text_of(page.locator(".c-new.changed"))
    assert "lint/nfs3/write-count" in text_of(page.locator(".c-fixed.changed"))
    assert page.locator("#status").inner_text() == "7 differences between ganesha and go-nfs"
    page.get_by_role("button", name="Exchange A and B").click()
    assert "nfs3/WRITE/keeps-data" in text_of(page.locator(".c-fixed.changed"))
    assert "lint/nfs3/write-count" in text_of(page.locator(".c-broken.changed"))
    page.locator(".change", has_text="better on B").click()
    assert page.locator(".changed").count() == 1
    page.get_by_role("button", name="nfs3/WRITE/keeps-data").click()
    assert page.locator("#panel header .id").inner_text() == "nfs3/WRITE/keeps-data"


@pytest.mark.parametrize(
    ("lint", "checks", "change"),
    [("fail", ["a", "b"], "fixed"), ("off", ["a", "b"], "gone"), ("fail", ["b"], "gone")],
)
def test_a_rule_is_not_fixed_where_nobody_looked(
    visit: Callable[..., Visit], lint: str, checks: list[str], change: str
) -> None:
    found = FindingRecord("lint/x", "nfs3/a/a", "FAIL", WRITE, observed="5")
    before = from_records([RunRecord("A"), check("nfs3/a/a"), check("nfs3/a/b"), found])[-1]
    after = from_records([RunRecord("B", lint=lint), *(check(f"nfs3/a/{name}") for name in checks)])[-1]
    page = visit([before, after]).open("#view=compare")
    assert "lint/x" in text_of(page.locator(f".c-{change}.changed"))
    assert change in {change.how for change in compare(before, after) if change.id == "lint/x"}


def of_one_target(hour: int, verdict: str) -> Run:
    about = RunRecord("nfs://h/e", started=f"2026-11-20T{hour}:00:00Z", environment={"commit": f"c{hour}"})
    return from_records(
        [about, check("nfs3/A/x", verdict, observed="" if verdict == "PASS" else "9"), EndRecord(0)]
    )[-1]


def test_two_runs_of_one_target_have_a_before_and_an_after(visit: Callable[..., Visit]) -> None:
    page = visit([of_one_target(10, "FAIL"), of_one_target(11, "PASS")]).open("#view=compare")
    assert "fixed" in page.locator(".change").all_inner_texts()[2]
    assert page.locator("label[for=compare-a]").inner_text() == "A, before"
    assert page.locator(".compared h3").all_inner_texts() == ["Causes that went, or were not judged (1)"]
    assert page.locator("#compare-b option").all_inner_texts() == [
        "1: nfs://h/e, 2026-11-20 10:00, c10",
        "2: nfs://h/e, 2026-11-20 11:00, c11",
    ]
    page.click("#views [data-view=checks]")
    heads = page.locator("#heads [role=columnheader]").all_inner_texts()
    assert [" ".join(head.split()) for head in heads[1:]] == [
        "1 2026-11-20 10:00, c10",
        "2 2026-11-20 11:00, c11",
    ]


def test_two_servers_are_compared_by_their_causes(page: Page) -> None:
    page.click("#views [data-view=compare]")
    titles = page.locator(".compared h3").all_inner_texts()
    assert titles[0] == "Causes only on A: ganesha (1)"
    assert titles[1].startswith("Causes on both (")
    assert page.locator(".compared.both .cause").count() == int(titles[1].rpartition("(")[2].rstrip(")"))


def test_the_fields_that_deviate_are_above_the_fold(visit: Callable[..., Visit]) -> None:
    calls = [
        message(number, way, f"LOOKUP xid {number}") for number in range(1, 40) for way in ("call", "reply")
    ]
    fields = [f"field {number}: 0" for number in range(50)]
    last = [
        message(40, "call", "READ xid 40"),
        message(40, "reply", "READ xid 40: OK", *fields, deviating=(30,)),
    ]
    failed = check("nfs3/A/late", "FAIL", expected=["1"], observed="0", messages=[*calls, *last])
    page = visit([from_records([RunRecord("x"), failed, EndRecord(1)])[-1]]).open("#check=nfs3/A/late")
    box = page.locator("#panel .deviation").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 900
    text = page.locator("#panel .deviation").inner_text()
    assert "READ xid 40: OK" in text
    assert "call #40: READ xid 40" in text
    assert [
        line.strip() for line in page.locator("#panel .deviation pre").inner_text().split("\n") if line
    ] == [
        "…",
        *(f"field {number}: 0" for number in range(28, 33)),
        "…",
    ]
    assert page.locator("#panel .deviation mark").inner_text().strip() == "field 30: 0"


def test_choices_are_grouped_and_filtered(visit: Callable[..., Visit]) -> None:
    def run(target: str, order: str) -> Run:
        checks = [
            check(f"nfs3/{subject}/x{number}", observations={"order": order if number else "same"})
            for subject in ("READ", "WRITE")
            for number in range(100)
        ]
        return from_records([RunRecord(target), *checks, EndRecord(0)])[-1]

    page = visit([run("one", "a"), run("two", "b")]).open("#view=choices")
    groups = page.locator("#view-choices summary")
    assert groups.all_inner_texts() == [
        f"nfs3/{subject}: 100 choices, 99 not the same on all targets" for subject in ("READ", "WRITE")
    ]
    assert page.locator("#view-choices table").count() == 0
    groups.first.click()
    page.locator("#view-choices table").wait_for()
    page.fill("#q", "write/x7")
    assert page.locator("#status").inner_text() == "11 choices"
    assert page.locator("#view-choices tbody tr").count() == 11


def test_a_comparison_of_two_suites_says_so(visit: Callable[..., Visit]) -> None:
    first, other = (from_records([RunRecord("it", version=number), check("nfs3/a/b")])[-1] for number in "12")
    text = visit([first, other]).open("#view=compare").locator("#view-compare").inner_text()
    assert "Judged by two versions of nfsproof, 1 and 2" in text
    assert (
        "Judged by" not in visit([first, first]).open("#view=compare").locator("#view-compare").inner_text()
    )


def test_a_check_can_be_read_without_a_mouse(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("write")
    page.keyboard.press("ArrowDown")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    assert "never-more" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "gridcell"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "panel-title"
    assert "4000000000" in page.locator("#panel .run").inner_text()  # of the target in focus
    page.keyboard.press("Escape")
    assert page.locator("#panel").is_hidden()
    assert "never-more" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")  # to the heading of the group
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    page.keyboard.press("ArrowLeft")
    assert rows(page) == []
    page.keyboard.press("End")
    page.keyboard.press("Home")
    assert "nfs3" in page.evaluate("document.activeElement.textContent")


def test_with_a_check_open_it_follows_the_row(page: Page) -> None:
    page.locator(ROWS, has_text="keeps-data").click()
    page.locator(ROWS, has_text="keeps-data").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#panel header .id").inner_text() == "nfs3/WRITE/never-more"
    page.keyboard.press("p")
    assert page.locator("#panel header .id").inner_text() == "nfs3/WRITE/keeps-data"
    page.get_by_role("button", name="Next check").click()
    assert page.locator("#panel header .id").inner_text() == "nfs3/WRITE/never-more"


def test_roles_and_names_for_a_screen_reader(page: Page) -> None:
    grid = page.get_by_role("treegrid", name="Checks by target")
    assert grid.get_attribute("aria-rowcount") == "14"  # 2 protocols, 3 groups, 8 checks, the heads
    row = page.locator("#rows .row.check").first
    assert row.get_attribute("aria-level") == "3"
    assert (
        page.get_by_role("gridcell", name="FAIL", exact=True).count() == 3
    )  # words, not only colours and symbols
    assert page.locator("#status").get_attribute("aria-live") == "polite"
    unnamed = page.locator("button, select, input").evaluate_all(
        "all => all.filter(one => !one.labels?.length && !one.ariaLabel && !one.textContent.trim())"
        ".map(one => one.outerHTML)"
    )
    assert unnamed == []


def test_rows_stand_in_their_order_for_a_screen_reader(visit: Callable[..., Visit]) -> None:
    page = visit(many(500, 1)).open("#open=*")
    for place in (9000, 5000, 8000, 0):
        page.evaluate("place => scrollTo(0, place)", place)
        page.wait_for_function(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
        )
        numbers = page.locator(ROWS).evaluate_all("all => all.map(one => Number(one.dataset.number))")
        assert numbers == sorted(numbers)


@pytest.mark.parametrize("view", ["compare", "requirements", "findings", "targets"])
def test_the_first_link_skips_to_the_view(page: Page, view: str) -> None:
    page.click(f"#views [data-view={view}]")
    page.locator("#skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == f"{view}-heading"


def test_a_link_to_a_check_that_is_not_there_says_so(visit: Callable[..., Visit]) -> None:
    page = visit([ganesha()]).open("#check=nfs3/none/such")
    assert page.locator("#status").inner_text() == "This page has no check nfs3/none/such"
    assert page.locator("#panel").is_hidden()


def test_an_open_check_is_printed_whole_and_in_light_colours(visit: Callable[..., Visit]) -> None:
    page = visit([ganesha()], dark=True).open("#check=nfs3/WRITE/never-more")
    for _ in range(2):
        page.click("#theme")
    page.emulate_media(media="print")
    assert page.locator("main").is_hidden()
    assert page.locator("#panel").evaluate("one => getComputedStyle(one).position") == "static"
    assert not is_dark(page)


CONTRAST = """() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => channels(colour).slice(0, 3).map((one) => one / 255)
    .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (one) => {
    for (; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if ((channels(colour)[3] ?? 1) === 1) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const weak = [];
  for (const one of document.querySelectorAll("body *")) {
    const hasText = [...one.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!hasText || !one.checkVisibility() || one.disabled || one.closest(".unseen")) continue;
    const [x, y] = [light(getComputedStyle(one).color), light(behind(one))].sort((a, b) => a - b);
    const opacity = Number(getComputedStyle(one).opacity);
    if ((y + 0.05) / (x + 0.05) < 4.5 || opacity < 1) weak.push(`${one.className}: ${one.textContent.slice(0, 30)}`);
  }
  return weak;
}"""


@pytest.mark.parametrize("dark", [False, True])
def test_all_text_stands_out(visit: Callable[..., Visit], *, dark: bool) -> None:
    visited = visit([ganesha(), gone_nfs()], dark=dark)
    for place in (
        "",
        "#check=nfs3/WRITE/never-more",
        *(
            f"#view={view}"
            for view in ("causes", "compare", "requirements", "findings", "choices", "statistics", "targets")
        ),
    ):
        page = visited.open(place)
        page.reload()
        assert page.evaluate(CONTRAST) == []


def test_other_views_tell_what_was_recorded(page: Page) -> None:
    for view, part in (
        ("requirements", "a short read is no error"),
        ("findings", "WRITE: count is 11"),
        ("choices", "verifier"),
        ("statistics", "1,200"),
        ("charts", "Latency by procedure"),
        ("targets", "logs/ganesha.log"),
    ):
        page.click(f"#views [data-view={view}]")
        page.locator(f"#view-{view}").filter(has_text=part).wait_for()
        assert part in page.locator(f"#view-{view}").inner_text()
        assert page.locator("main > section:visible").count() == 1


def test_views_without_data_are_not_offered(visit: Callable[..., Visit]) -> None:
    run = gone_nfs()
    page = visit([run]).open()
    assert page.locator("#views a").all_inner_texts() == [
        "Causes",
        "Checks",
        "Requirements",
        "Charts",
        "Target",
    ]
    assert visit([Run()]).open().locator("#status").inner_text() == "0 checks"


@pytest.mark.parametrize("dark", [False, True])
def test_colours_follow_the_system_and_the_button(visit: Callable[..., Visit], *, dark: bool) -> None:
    page = visit([ganesha()], dark=dark).open()
    assert is_dark(page) is dark
    page.click("#theme")
    assert is_dark(page) is False
    page.click("#theme")
    assert is_dark(page) is True
    page.reload()
    assert is_dark(page) is True  # remembered


def is_dark(page: Page) -> bool:
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    return bool(sum(colour) < 3 * 128)


def test_nothing_hostile_is_executed_or_breaks_the_page(visit: Callable[..., Visit]) -> None:
    visited = visit([hostile(), hostile()])
    page = visited.open()
    page.click("#expand")
    for view in page.locator("#views a").evaluate_all("all => all.map(one => one.dataset.view)"):
        page.click(f"#views [data-view={view}]")
    ids = page.evaluate("JSON.parse(document.getElementById('index').textContent).checks.map(one => one[0])")
    for check_id in ids:
        page.evaluate("id => { location.hash = '#check=' + encodeURIComponent(id); }", check_id)
        page.wait_for_function(
            "id => document.querySelector('#panel header .id')?.textContent === id", arg=check_id
        )
        links = page.locator("a[href]").evaluate_all("all => all.map(one => one.href)")
        assert all(link.startswith(("file:", "https://www.rfc-editor.org/")) for link in links)
        assert not any("alert(" in link for link in links)
    assert page.evaluate("window.hurt") is None
    assert page.locator("main img, main script, main svg").count() == 0


@pytest.mark.parametrize("width", [400, 800])
def test_narrow_windows_show_targets_without_scrolling_sideways(
    visit: Callable[..., Visit], width: int
) -> None:
    page = visit([ganesha(), gone_nfs()] * 3, width=width).open()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#rows .row.check").first.locator(".symbol").count() == 6
    page.locator(ROWS, has_text="never-more").click()
    assert page.locator(PANEL).bounding_box()["width"] <= width  # type: ignore[index]


def test_only_rows_near_the_window_exist(visit: Callable[..., Visit]) -> None:
    page = visit(many(2000, 2)).open("#open=*")
    assert page.get_attribute("#checks", "aria-rowcount") == str(2000 + 4 + 120 + 1)
    assert page.locator(ROWS).count() < 120
    page.locator(ROWS).first.focus()
    page.keyboard.press("End")
    page.wait_for_function("() => document.activeElement.getAttribute('aria-rowindex') === '2125'")
    assert page.locator(ROWS).count() < 120
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_selector("#rows [aria-rowindex='2']")
    assert (
        page.evaluate("document.activeElement.getAttribute('aria-rowindex')") == "2125"
    )  # focus is not lost

# SPDX-License-Identifier: MIT
"""Baselines: what is red when a run is held against one, what an update keeps, how mistakes are told."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsjudge.records import CheckRecord, EndRecord, FindingRecord, RunRecord
from reports import changes
from reports.baseline import BadBaseline, Kind, hold_against, parse_baseline, shipped
from reports.baseline.model import VERDICTS, glob
from reports.baseline.update import UNEXPLAINED, updated
from reports.compare import compare
from reports.run import Run

TODAY = dt.date(2026, 11, 21)


def run_of(*checks: CheckRecord, findings: tuple[FindingRecord, ...] = (), status: int = 1) -> Run:
    return Run(RunRecord("mine", "Mine 1.0"), list(checks), list(findings), end=EndRecord(status))


def check(name: str, verdict: str = "PASS", observed: str = "") -> CheckRecord:
    return CheckRecord(name, verdict, observed=observed)


def held(
    text: str, run: Run, *, promised: tuple[str, ...] = (), is_partial: bool = False
) -> list[tuple[Kind, str]]:
    baseline = parse_baseline(text, "b.toml")
    found = hold_against(run, baseline, today=TODAY, promised=promised, is_partial=is_partial)
    return [(one.kind, one.subject) for one in found]


ONE = """
[[entry]]
id = "nfs3/read/a"
reason = "section 3.3.6"
symptom = "eof .*FALSE"
"""


def test_what_is_known_is_green() -> None:
    assert held(ONE, run_of(check("nfs3/read/a", "FAIL", "eof is FALSE"), check("nfs3/read/b"))) == []


@pytest.mark.parametrize(
    ("text", "run", "found"),
    [
        ("", run_of(check("a/b/c", "FAIL")), (Kind.NEW, "a/b/c")),
        ("", run_of(check("a/b/c", "VOID")), (Kind.NEW, "a/b/c")),
        (ONE, run_of(check("nfs3/read/a")), (Kind.UNEXPECTED, "nfs3/read/a")),
        (ONE, run_of(check("nfs3/read/a", "VOID")), (Kind.UNEXPECTED, "nfs3/read/a")),
        (ONE, run_of(check("nfs3/read/a", "FAIL", "no data")), (Kind.SYMPTOM, "nfs3/read/a")),
        (ONE, run_of(check("nfs3/read/b")), (Kind.STALE, "nfs3/read/a")),
        (
            '[[entry]]\nid = "a/*"\nexpires = 2026-11-21\n',
            run_of(check("a/b/c", "FAIL")),
            (Kind.EXPIRED, "a/*"),
        ),
        ("[baseline]\nfloor = 2\n", run_of(check("a/b/c"), check("a/b/d", "SKIP")), (Kind.FLOOR, "the run")),
        ("", run_of(check("a/b/c"), status=2), (Kind.UNFINISHED, "the run")),
        ('[baseline]\nunlisted = ["PASS"]\n', run_of(check("a/b/c", "SKIP")), (Kind.NEW, "a/b/c")),
        (
            "",
            run_of(findings=(FindingRecord("lint/nfs3/x", "a/b/c", "FAIL"),), status=1),
            (Kind.NEW, "lint/nfs3/x"),
        ),
        ('[[entry]]\nid = "lint/nfs3/x"\n', run_of(check("a/b/c")), (Kind.UNEXPECTED, "lint/nfs3/x")),
    ],
)
def test_what_is_otherwise_is_named(text: str, run: Run, found: tuple[Kind, str]) -> None:
    assert held(text, run) == [found]


def test_a_check_that_there_is_must_have_been_judged() -> None:
    run = run_of(check("a/b/c[1]"))
    assert held("", run, promised=("a/b/c", "a/b/d")) == [(Kind.VANISHED, "a/b/d")]


def test_a_part_of_the_suite_is_held_against_what_it_ran() -> None:
    run = run_of(check("a/b/c", "FAIL"))
    assert held(f"[baseline]\nfloor = 9\n{ONE}", run, is_partial=True) == [(Kind.NEW, "a/b/c")]


def test_a_run_that_was_killed_is_not_green() -> None:
    run = run_of(check("a/b/c"))
    run.end = None
    assert held("", run) == [(Kind.UNFINISHED, "the run")]


def test_sometimes_may_pass_but_not_become_another_thing() -> None:
    text = '[[entry]]\nid = "a/b/*"\nsometimes = true\n'
    assert held(text, run_of(check("a/b/c"), check("a/b/d", "FAIL"))) == []
    assert held(text, run_of(check("a/b/c", "VOID"))) == [(Kind.UNEXPECTED, "a/b/c")]
    assert held(text, run_of(check("x/y/z"))) == []
    text += 'verdict = "VOID"\n'
    assert held(text, run_of(check("a/b/c", "FAIL"), check("a/b/d", "VOID"), check("a/b/e"))) == []


def test_the_first_entry_that_fits_speaks_for_a_check() -> None:
    text = '[[entry]]\nid = "a/b[1]"\nverdict = "VOID"\n\n[[entry]]\nid = "a/*"\n'
    assert held(text, run_of(check("a/b[1]", "VOID"), check("a/b[2]", "FAIL"))) == []


@given(st.text(max_size=20), st.text(max_size=20))
def test_all_but_a_star_is_itself_in_a_pattern(before: str, after: str) -> None:
    literal = f"{before}[{after}]".replace("*", "")
    assert glob(literal).fullmatch(literal)
    assert not glob(literal).fullmatch(f"{literal}x")
    assert glob(f"{literal}*").fullmatch(f"{literal}{after}")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[entry]\n", "b.toml: not TOML: "),
        ("[[entries]]\n", "b.toml: entries: no field of the file; there are baseline, entry"),
        ("\n[[entry]]\nid = 'a'\nverdit = 'FAIL'\n", "b.toml:4: verdit: no field of [[entry]]"),
        (
            "[[entry]]\nid = 'a'\n\n[[entry]]\nid = 'b'\nverdict = 'fail'\n",
            "b.toml:6: verdict: expected one of",
        ),
        ("[[entry]]\nid = 'a'\ncategory = 'x'\n", "b.toml:3: category: expected one of proto, feature"),
        ("[[entry]]\nreason = 'x'\n", "b.toml:1: id: expected one of id (a text) and ids"),
        ("[[entry]]\nid = 'a'\nids = ['b']\n", "b.toml:2: id: expected one of"),
        ("[[entry]]\nids = []\n", "b.toml:2: ids: expected stable ids"),
        ("[[entry]]\nid = 7\n", "b.toml:2: id: expected stable ids"),
        ("[[entry]]\nid = 'a'\nsymptom = '('\n", "b.toml:3: symptom: expected a regular expression"),
        ("[[entry]]\nid = 'a'\nexpires = '2027'\n", "b.toml:3: expires: expected a date such as"),
        ("[[entry]]\nid = 'a'\nexpires = 2027-01-01T00:00:00\n", "b.toml:3: expires: expected a date"),
        ("[[entry]]\nid = 'a'\nsometimes = 'yes'\n", "b.toml:3: sometimes: expected true or false"),
        ("[[entry]]\nid = 'a'\nreason = 3\n", "b.toml:3: reason: expected a text"),
        ("[[entry]]\nid = 'a'\n[[entry]]\nid = 'a'\n", "b.toml:4: id: a stands already at line 1"),
        ("[baseline]\nfloor = -1\n", "b.toml:2: floor: expected a number of checks"),
        ("[baseline]\nfloor = true\n", "b.toml:2: floor: expected a number of checks"),
        ("[baseline]\nunlisted = ['GREEN']\n", "b.toml:2: unlisted: expected a list of verdicts"),
        ("[baseline]\nserver = 1\n", "b.toml:2: server: expected a text"),
        ("baseline = 1\n", "b.toml:1: baseline: expected a table"),
        ("entry = 1\n", "b.toml:1: entry: expected tables"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_field(text: str, told: str) -> None:
    with pytest.raises(BadBaseline) as caught:
        parse_baseline(text, "b.toml")
    assert str(caught.value).startswith(told)


# ---------------------------------------------------------------- update

WRITTEN = """\
# By hand.
[baseline]
target = "mine"
floor = 1

# reading
[[entry]]
ids = [
    "nfs3/read/a[*]",
    "nfs3/read/gone",
]
reason = "compared with section 3.3.6"  # twice
link = "https://example.org/1"

# writing
[[entry]]
id = "nfs3/write/x"
reason = "mended by now"
"""


def test_an_update_keeps_reasons_comments_and_order() -> None:
    run = run_of(check("nfs3/read/a[1]", "FAIL"), check("nfs3/write/x"), check("nfs3/link/new", "FAIL", "IO"))
    text = updated(WRITTEN, run, "b.toml")
    assert held(text, run) == []
    for kept in (
        "# By hand.",
        "# reading",
        'reason = "compared with section 3.3.6"  # twice',
        "example.org/1",
    ):
        assert kept in text
    assert "nfs3/read/gone" not in text
    assert "nfs3/write/x" not in text
    assert f"{UNEXPLAINED}. Seen: IO" in text
    assert updated(text, run, "b.toml") == text


def test_an_update_narrows_a_pattern_to_what_is_still_red() -> None:
    run = run_of(
        check("nfs3/read/a[1]", "FAIL"), check("nfs3/read/a[2]"), check("nfs3/write/x", "VOID", "died")
    )
    text = updated(WRITTEN, run, "b.toml")
    assert held(text, run) == []
    assert "nfs3/read/a[1]" in text
    assert "nfs3/read/a[*]" not in text
    assert 'verdict = "VOID"' in text


def test_an_update_leaves_patterns_alone_that_still_fit() -> None:
    text = '[[entry]]\nids = [\n    "a/whole/*",\n    "a/part/*",\n]\nreason = "r"\n'
    names = ("a/whole/1", "a/whole/2", "a/part/1", "a/part/2")
    run = run_of(*(check(name, "PASS" if name == "a/part/2" else "FAIL") for name in names))
    baseline = parse_baseline(updated(text, run, "b.toml"), "b.toml")
    assert [entry.ids for entry in baseline.entries] == [("a/whole/*", "a/part/1")]


def test_a_new_baseline_groups_what_shows_alike() -> None:
    run = run_of(check("a/b/c", "FAIL", "IO"), check("a/b/d", "FAIL", "IO"), check("a/b/e", "VOID", "died"))
    text = updated("", run, "b.toml")
    baseline = parse_baseline(text, "b.toml")
    assert [(entry.ids, entry.verdict) for entry in baseline.entries] == [
        (("a/b/c", "a/b/d"), "FAIL"),
        (("a/b/e",), "VOID"),
    ]
    assert (baseline.target, baseline.server, baseline.floor) == ("mine", "Mine 1.0", 3)
    assert held(text, run) == []


IDS = st.sampled_from([f"nfs3/{a}/{b}" for a in ("read", "write") for b in ("x", "y[1]", "y[2]", "z")])
RUNS = st.dictionaries(
    IDS, st.tuples(st.sampled_from(VERDICTS), st.sampled_from(["", "IO", "a\nb", '"', "]]"])), max_size=8
)


@given(RUNS, RUNS)
def test_after_an_update_the_run_is_as_the_baseline_says(
    before: dict[str, tuple[str, str]], after: dict[str, tuple[str, str]]
) -> None:
    first, second = (
        run_of(*(check(name, *seen) for name, seen in plain.items())) for plain in (before, after)
    )
    text = updated("", first, "b.toml")
    assert held(text, first) == []
    text = updated(text.replace("floor", "# floor"), second, "b.toml")
    assert held(text, second) == []


# ---------------------------------------------------------------- two runs, and what is shipped


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (check("a", "FAIL"), check("a"), changes.FIXED),
        (check("a"), check("a", "FAIL"), changes.BROKEN),
        (check("a"), check("a", "NONSTRICT"), changes.BROKEN),
        (check("a", "FAIL"), check("a", "VOID"), changes.UNJUDGED),
        (check("a", "VOID"), check("a", "SKIP"), changes.OTHER),
        (check("a", "FAIL", "x"), check("a", "FAIL", "y"), changes.SYMPTOM),
        (check("a", "FAIL"), check("b", "FAIL"), changes.NEW),
    ],
)
def test_a_change_between_two_runs(before: CheckRecord, after: CheckRecord, change: str) -> None:
    assert compare(run_of(before), run_of(after))[0].how == change


def test_a_rule_of_the_lint_that_is_not_broken_any_more_is_fixed() -> None:
    broken = run_of(check("a"), findings=(FindingRecord("lint/nfs3/x", "a", "FAIL"),))
    assert [one.how for one in compare(broken, run_of(check("a")))] == [changes.FIXED]
    assert [one.how for one in compare(run_of(check("a")), broken)] == [changes.BROKEN]


def test_the_same_run_has_no_difference() -> None:
    run = run_of(check("a", "FAIL", "x"), check("b"))
    assert compare(run, run) == []


def test_shipped_baselines_can_be_read_and_have_reasons() -> None:
    for baseline in shipped():
        assert baseline.server
        assert baseline.target
        for entry in baseline.entries:
            assert entry.reason, (baseline.name, entry.line)
            assert not entry.reason.startswith("TODO"), (baseline.name, entry.line)

# SPDX-License-Identifier: MIT
"""Baselines: what is red when a run is compared with one, what an update keeps, how mistakes are reported."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfsjudge.records import CheckRecord, EndRecord, FindingRecord, RunRecord
from nfsjudge.verdict import VERDICTS
from reports import changes
from reports.baseline import (
    BadBaseline,
    Kind,
    baseline_lines,
    compare_with_baseline,
    load_baseline,
    parse_baseline,
    shipped,
    symptoms,
)
from reports.baseline.model import UNEXPLAINED
from reports.baseline.update import updated
from reports.compare import compare
from reports.globs import glob
from reports.run import Run

TODAY = dt.date(2026, 11, 21)


def run_of(*checks: CheckRecord, findings: tuple[FindingRecord, ...] = (), status: int = 1) -> Run:
    return Run(RunRecord("mine", "Mine 1.0"), list(checks), list(findings), end=EndRecord(status))


def check(name: str, verdict: str = "PASS", observed: str = "") -> CheckRecord:
    return CheckRecord(name, verdict, observed=observed)


def compared(
    text: str, run: Run, *, promised: tuple[str, ...] = (), is_partial: bool = False
) -> list[tuple[Kind, str]]:
    baseline = parse_baseline(text, "b.toml")
    found = compare_with_baseline(run, baseline, today=TODAY, promised=promised, is_partial=is_partial)
    return [(difference.kind, difference.subject) for difference in found]


ENTRY = """
[[entry]]
id = "nfs3/read/a"
reason = "section 3.3.6"
symptom = "eof .*FALSE"
"""


def test_what_is_known_is_green() -> None:
    assert compared(ENTRY, run_of(check("nfs3/read/a", "FAIL", "eof is FALSE"), check("nfs3/read/b"))) == []


@pytest.mark.parametrize(
    ("text", "run", "found"),
    [
        ("", run_of(check("a/b/c", "FAIL")), (Kind.NEW, "a/b/c")),
        ("", run_of(check("a/b/c", "VOID")), (Kind.NEW, "a/b/c")),
        (ENTRY, run_of(check("nfs3/read/a")), (Kind.UNEXPECTED, "nfs3/read/a")),
        (ENTRY, run_of(check("nfs3/read/a", "VOID")), (Kind.UNEXPECTED, "nfs3/read/a")),
        (ENTRY, run_of(check("nfs3/read/a", "FAIL", "no data")), (Kind.SYMPTOM, "nfs3/read/a")),
        (ENTRY, run_of(check("nfs3/read/b")), (Kind.STALE, "nfs3/read/a")),
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
def test_what_differs_is_named(text: str, run: Run, found: tuple[Kind, str]) -> None:
    assert compared(text, run) == [found]


def test_a_check_that_there_is_must_have_been_judged() -> None:
    run = run_of(check("a/b/c[1]"))
    assert compared("", run, promised=("a/b/c[1]", "a/b/d")) == [(Kind.VANISHED, "a/b/d")]


def test_a_part_of_the_suite_is_compared_with_what_it_ran() -> None:
    run = run_of(check("a/b/c", "FAIL"))
    assert compared(f"[baseline]\nfloor = 9\n{ENTRY}", run, is_partial=True) == [(Kind.NEW, "a/b/c")]


def test_a_run_that_was_killed_is_not_green() -> None:
    run = run_of(check("a/b/c"))
    run.end = None
    assert compared("", run) == [(Kind.UNFINISHED, "the run")]


def test_sometimes_may_pass_but_not_become_another_thing() -> None:
    text = '[[entry]]\nid = "a/b/*"\nsometimes = true\n'
    assert compared(text, run_of(check("a/b/c"), check("a/b/d", "FAIL"))) == []
    assert compared(text, run_of(check("a/b/c", "VOID"))) == [(Kind.UNEXPECTED, "a/b/c")]
    assert compared(text, run_of(check("x/y/z"))) == []
    text += 'verdict = "VOID"\n'
    assert compared(text, run_of(check("a/b/c", "FAIL"), check("a/b/d", "VOID"), check("a/b/e"))) == []


def test_the_first_entry_that_fits_speaks_for_a_check() -> None:
    text = '[[entry]]\nid = "a/b[1]"\nverdict = "VOID"\n\n[[entry]]\nid = "a/*"\n'
    assert compared(text, run_of(check("a/b[1]", "VOID"), check("a/b[2]", "FAIL"))) == []


def test_a_run_that_was_cut_short_tells_how_much_is_missing_in_one_line() -> None:
    run = run_of(check("a/b/c"), status=2)
    missing = tuple(f"a/b/{number}" for number in range(100))
    assert compared(ENTRY, run, promised=missing) == [
        (Kind.UNFINISHED, "the run"),
        (Kind.VANISHED, "the run"),
    ]


def test_a_line_that_could_not_be_read_may_have_been_red() -> None:
    run = run_of(check("a/b/c"))
    run.problems = ["records.jsonl: line 7 is no record"]
    assert compared("", run) == [(Kind.UNFINISHED, "its records")]


def test_an_entry_in_the_shadow_of_another_is_reported() -> None:
    text = '[[entry]]\nid = "a/*"\n\n[[entry]]\nids = ["a/b", "c"]\n'
    run = run_of(check("a/b", "FAIL"), check("c", "FAIL"))
    assert compared(text, run) == [(Kind.HIDDEN, "a/b")]


def test_strict_runs_have_no_unlisted_nonstrict() -> None:
    run = run_of(check("a/b/c", "NONSTRICT"))
    assert compared("", run) == []
    assert run.about is not None
    run.about.strict = True
    assert compared("", run) == [(Kind.NEW, "a/b/c")]


@pytest.mark.parametrize("lint", ["off", "report"])
def test_rules_that_are_only_printed_or_not_looked_for_are_not_compared(lint: str) -> None:
    text = '[[entry]]\nid = "lint/nfs3/x"\n'
    found = (FindingRecord("lint/nfs3/y", "a", "FAIL"),) if lint == "report" else ()
    run = run_of(check("a"), findings=found)
    assert run.about is not None
    run.about.lint = lint
    assert compared(text, run) == []
    assert updated(text, run, "b.toml") == text


def test_a_part_of_the_suite_hears_only_of_its_expired_entries() -> None:
    text = '[[entry]]\nid = "a/*"\nexpires = 2020-01-01\n\n[[entry]]\nid = "z/*"\nexpires = 2020-01-01\n'
    assert compared(text, run_of(check("a/b/c", "FAIL")), is_partial=True) == [(Kind.EXPIRED, "a/*")]


def test_a_pattern_that_never_ends_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symptoms, "SECONDS", 0.1)
    text = '[[entry]]\nid = "a"\nsymptom = "(x+)+y"\n'
    (found,) = compare_with_baseline(
        run_of(check("a", "FAIL", "x" * 60)), parse_baseline(text, "b.toml"), today=TODAY
    )
    assert found.kind is Kind.SYMPTOM
    assert "takes longer than 0.1 s" in found.text


def test_what_a_server_sent_is_one_harmless_line() -> None:
    run = run_of(check("a", "FAIL", "x\n::error::mine\x1b[2J" + "y" * 9000))
    (found,) = compare_with_baseline(run, parse_baseline("", "b.toml"), today=TODAY)
    assert str(found).startswith("new: a: FAIL x ::error::mine\\x1b[2Jyyy")
    assert len(str(found)) <= 500


def test_the_outcome_says_how_many_entries_wait_for_a_reason() -> None:
    baseline = parse_baseline(f'[[entry]]\nid = "a"\nreason = "{UNEXPLAINED}. Seen: x"\n', "b.toml")
    (line,) = baseline_lines([], baseline, run_of(check("a", "FAIL")))
    assert (
        line
        == "the run agrees with the baseline (b.toml): 1 known deviation, 1 of its entries without a reason"
    )


def test_a_byte_order_mark_and_line_ends_of_windows_do_not_matter(tmp_path: Path) -> None:
    file = tmp_path / "b.toml"
    file.write_bytes(b'\xef\xbb\xbf[[entry]]\r\nid = "a"\r\n')
    assert load_baseline(file).entries[0].ids == ("a",)
    file.write_bytes(b'[[entry]]\nid = "a"\nreason = "\xe4"\n')
    with pytest.raises(BadBaseline, match=r"b.toml:3: expected text in UTF-8"):
        load_baseline(file)


@given(st.text(max_size=20), st.text(max_size=20))
def test_all_but_a_star_is_itself_in_a_pattern(before: str, after: str) -> None:
    literal = f"{before}[{after}]".replace("*", "")
    assert glob(literal).fullmatch(literal)
    assert not glob(literal).fullmatch(f"{literal}x")
    assert glob(f"{literal}*").fullmatch(f"{literal}{after}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[entry]\n", "b.toml: not TOML: "),
        ("[[entries]]\n", "b.toml: entries: unknown field of the file; there are baseline, entry"),
        ("\n[[entry]]\nid = 'a'\nverdit = 'FAIL'\n", "b.toml:4: verdit: unknown field of [[entry]]"),
        (
            "[[entry]]\nid = 'a'\n\n[[entry]]\nid = 'b'\nverdict = 'fail'\n",
            "b.toml:6: verdict: expected one of",
        ),
        ("[[entry]]\nid = 'a'\ncategory = 'x'\n", "b.toml:3: category: expected one of proto, feature"),
        ("[[entry]]\nreason = 'x'\n", "b.toml:1: id: expected either id (a text) or ids"),
        ("[[entry]]\nid = 'a'\nids = ['b']\n", "b.toml:2: id: expected either"),
        ("[[entry]]\nids = []\n", "b.toml:2: ids: expected ids of checks"),
        ("[[entry]]\nid = 7\n", "b.toml:2: id: expected ids of checks"),
        ("[[entry]]\nid = 'a'\nsymptom = '('\n", "b.toml:3: symptom: expected a regular expression"),
        ("[[entry]]\nid = 'a'\nexpires = '2027'\n", "b.toml:3: expires: expected a date such as"),
        ("[[entry]]\nid = 'a'\nexpires = 2027-01-01T00:00:00\n", "b.toml:3: expires: expected a date"),
        ("[[entry]]\nid = 'a'\nsometimes = 'yes'\n", "b.toml:3: sometimes: expected true or false"),
        ("[[entry]]\nid = 'a'\nreason = 3\n", "b.toml:3: reason: expected a text"),
        ("[[entry]]\nid = 'a'\n[[entry]]\nid = 'a'\n", "b.toml:4: id: a is already at line 1"),
        (
            (
                '[[entry]]\nid = \'a\'\nreason = """\n[[entry]]\nverdict = \'x\'"""\n'
                "[[entry]]\nid = 'b'\nverdict = 'y'\n"
            ),
            "b.toml:8: verdict: expected one of",
        ),
        (
            "# it's \u2028 one line\n[[entry]]\nid = 'a'\nverdict = 'y'\n",
            "b.toml:4: verdict: expected one of",
        ),
        ("[baseline]\nfloor = -1\n", "b.toml:2: floor: expected a number of checks"),
        ("[baseline]\nfloor = true\n", "b.toml:2: floor: expected a number of checks"),
        ("[baseline]\nunlisted = ['GREEN']\n", "b.toml:2: unlisted: expected a list of verdicts"),
        ("[baseline]\nserver = 1\n", "b.toml:2: server: expected a text"),
        ("baseline = 1\n", "b.toml:1: baseline: expected a table"),
        ("entry = 1\n", "b.toml:1: entry: expected tables"),
    ],
)
def test_a_mistake_is_reported_with_its_line_and_field(text: str, message: str) -> None:
    with pytest.raises(BadBaseline) as caught:
        parse_baseline(text, "b.toml")
    assert str(caught.value).startswith(message)


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
    assert compared(text, run) == []
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
    assert compared(text, run) == []
    assert "nfs3/read/a[1]" in text
    assert "nfs3/read/a[*]" not in text
    assert 'verdict = "VOID"' in text


def test_an_update_leaves_patterns_alone_that_still_fit() -> None:
    text = '[[entry]]\nids = [\n    "a/whole/*",\n    "a/part/*",\n]\nreason = "r"\n'
    names = ("a/whole/1", "a/whole/2", "a/part/1", "a/part/2")
    run = run_of(*(check(name, "PASS" if name == "a/part/2" else "FAIL") for name in names))
    baseline = parse_baseline(updated(text, run, "b.toml"), "b.toml")
    assert [entry.ids for entry in baseline.entries] == [("a/whole/*", "a/part/1")]


def test_an_update_keeps_the_comments_around_what_goes() -> None:
    text = (
        "[baseline]\nfloor = 1\n\n# first\n[[entry]]\nid = 'a'\n\n# second\n[[entry]]\nids = [\n"
        "    'b',  # about b\n    'c',\n]\n\n# third\n[[entry]]\nid = 'd'\n"
    )
    run = run_of(check("a"), check("b", "FAIL"), check("c"), check("d", "FAIL"))
    after = updated(text, run, "b.toml")
    assert [entry.ids for entry in parse_baseline(after, "b.toml").entries] == [("b",), ("d",)]
    for comment in ("# first", "# second", "# about b", "# third"):
        assert comment in after
    assert after.index("# second") < after.index("'b'") < after.index("# third") < after.index("'d'")


@pytest.mark.parametrize("verdict", ["VOID", "SKIP", "FAIL"])
def test_a_reason_is_not_lent_to_what_it_does_not_explain(verdict: str) -> None:
    text = (
        f'[[entry]]\nid = "a"\nverdict = "{verdict}"\nreason = "it crashes"\n'
        'symptom = "gone"\nlink = "http://x"\n'
    )
    run = run_of(check("a", "FAIL", "eof is FALSE"))
    after = updated(text, run, "b.toml")
    (entry,) = parse_baseline(after, "b.toml").entries
    assert (entry.verdict, entry.category, entry.symptom, entry.link) == (
        "FAIL",
        "proto",
        "eof is FALSE",
        "http://x",
    )
    assert entry.reason == f"{UNEXPLAINED}. Seen: eof is FALSE. Before, of {verdict}: it crashes"
    assert compared(after, run) == []
    assert updated(after, run, "b.toml") == after


def test_another_symptom_of_some_of_its_checks_is_a_separate_entry() -> None:
    text = '[[entry]]\nid = "a/*"\nreason = "r"\nsymptom = "eof"\n'
    run = run_of(check("a/1", "FAIL", "eof"), check("a/2", "FAIL", "no answer"))
    old, new = parse_baseline(updated(text, run, "b.toml"), "b.toml").entries
    assert (old.ids, old.reason, old.symptom) == (("a/1",), "r", "eof")
    assert (new.ids, new.is_explained) == (("a/2",), False)


def test_an_update_refuses_entries_in_brackets_rather_than_lose_them() -> None:
    with pytest.raises(BadBaseline, match=r"b.toml: entry: an update needs tables \[\[entry\]\]"):
        updated('entry = [{id = "a", reason = "r"}]\n', run_of(check("a", "FAIL")), "b.toml")


def test_what_need_not_change_is_left_as_it_is() -> None:
    text = '# x\n\n\n\n[[entry]]\nid = "a"\nreason = """one\n\n\n\ntwo"""'
    assert updated(text, run_of(check("a", "FAIL")), "b.toml") == text


def test_a_baseline_whose_last_entry_goes_is_one_still() -> None:
    after = updated('[baseline]\nfloor = 1\n\n[[entry]]\nid = "a"\n', run_of(check("a")), "b.toml")
    assert "entry" not in after
    assert "[[entry]]" in updated(after, run_of(check("a", "FAIL")), "b.toml")


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n# the end\n"])
def test_an_entry_that_is_added_stands_apart(end: str) -> None:
    before = '[[entry]]\nid = "a/b/c"\nreason = "known"' + end
    after = updated(before, run_of(check("a/b/c", "FAIL"), check("a/b/d", "FAIL", "5")), "x.toml")
    assert after.count('\n\n[[entry]]\nid = "a/b/d"') == 1
    assert "\n\n\n" not in after


def test_a_new_baseline_groups_what_shows_alike() -> None:
    run = run_of(check("a/b/c", "FAIL", "IO"), check("a/b/d", "FAIL", "IO"), check("a/b/e", "VOID", "died"))
    text = updated("", run, "b.toml")
    baseline = parse_baseline(text, "b.toml")
    assert [(entry.ids, entry.verdict) for entry in baseline.entries] == [
        (("a/b/c", "a/b/d"), "FAIL"),
        (("a/b/e",), "VOID"),
    ]
    assert (baseline.target, baseline.server, baseline.floor) == ("mine", "Mine 1.0", 3)
    assert compared(text, run) == []


IDS = st.sampled_from([f"nfs3/{a}/{b}" for a in ("read", "write") for b in ("x", "y[1]", "y[2]", "z")])
RUNS = st.dictionaries(
    IDS, st.tuples(st.sampled_from(VERDICTS), st.sampled_from(["", "IO", "a\nb", '"', "]]"])), max_size=8
)


@settings(deadline=None)
@given(RUNS, RUNS)
def test_after_an_update_the_run_is_as_the_baseline_says(
    before: dict[str, tuple[str, str]], after: dict[str, tuple[str, str]]
) -> None:
    first, second = (
        run_of(*(check(name, *seen) for name, seen in plain.items())) for plain in (before, after)
    )
    text = updated("", first, "b.toml")
    assert compared(text, first) == []
    text = updated(text.replace("floor", "# floor"), second, "b.toml")
    assert compared(text, second) == []


GLOBS = st.sampled_from(
    ["*", "nfs3/read/*", "nfs3/*/x", "nfs3/read/x", "nfs3/*[1]", "nfs3/write/y[2]", "no/*"]
)
ENTRIES = st.dictionaries(
    GLOBS,
    st.tuples(st.sampled_from(VERDICTS), st.booleans(), st.sampled_from(["", "IO", "b$", "never"])),
    max_size=5,
)


@settings(deadline=None)
@given(ENTRIES, RUNS)
def test_after_an_update_of_any_file_the_run_is_as_it_says(
    entries: dict[str, tuple[str, bool, str]], plain: dict[str, tuple[str, str]]
) -> None:
    text = "".join(
        f'# {number}\n[[entry]]\nid = "{pattern}"\nverdict = "{verdict}"\nreason = "r{number}"\n'
        f'sometimes = {str(sometimes).lower()}\nsymptom = "{symptom}"\n\n'
        for number, (pattern, (verdict, sometimes, symptom)) in enumerate(entries.items())
    )
    run = run_of(*(check(name, *seen) for name, seen in plain.items()))
    after = updated(text, run, "b.toml")
    assert compared(after, run) == []
    assert updated(after, run, "b.toml") == after
    for number in range(len(entries)):
        assert f"# {number}\n" in after


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
    assert [change.how for change in compare(broken, run_of(check("a")))] == [changes.FIXED]
    assert [change.how for change in compare(run_of(check("a")), broken)] == [changes.BROKEN]


def test_a_rule_is_not_fixed_where_nobody_looked() -> None:
    broken = run_of(check("a"), check("b"), findings=(FindingRecord("lint/nfs3/x", "a", "FAIL"),))
    off = run_of(check("a"), check("b"))
    assert off.about is not None
    off.about.lint = "off"
    assert [change.how for change in compare(broken, off)] == [changes.GONE]
    assert [change.how for change in compare(broken, run_of(check("b")))] == [changes.GONE, changes.GONE]


def test_a_rule_shows_the_same_in_whatever_order_the_workers_found_it() -> None:
    finding = FindingRecord("lint/nfs3/x", "a", "FAIL", observed="READ, exchange #3: 10, 9 sent")
    other = FindingRecord(
        "lint/nfs3/x", "b", "FAIL", observed="READ, exchange #3: 1001, 1000 sent; 2 times in all"
    )
    later = FindingRecord(
        "lint/nfs3/x", "a", "FAIL", observed="READ, exchange #4: 10, 9 sent; 2 times in all"
    )
    checks = check("a"), check("b")
    serial, parallel = run_of(*checks, findings=(finding, other)), run_of(*checks, findings=(other, later))
    assert compare(serial, parallel) == []
    assert compared(updated("", serial, "b.toml"), parallel) == []


def test_the_same_run_has_no_difference() -> None:
    run = run_of(check("a", "FAIL", "x"), check("b"))
    assert compare(run, run) == []


def test_of_a_check_that_comes_twice_the_worse_counts() -> None:
    assert compared("", run_of(check("a", "FAIL"), check("a"))) == [(Kind.NEW, "a")]


def test_shipped_baselines_can_be_read_and_have_reasons() -> None:
    for baseline in shipped():
        assert baseline.server
        assert baseline.target
        for entry in baseline.entries:
            assert entry.reason, (baseline.name, entry.line)
            assert not entry.reason.startswith("TODO"), (baseline.name, entry.line)

# SPDX-License-Identifier: MIT
"""A check gives the same whether pytest, a plan, or nobody but the plugin runs its fixtures and phases."""

from __future__ import annotations

import typing as t
from itertools import pairwise

import pytest

from fixtures.plugin.phases import _report_of
from nfsproof.starter import _UNUSED
from tests.plugin.conftest import Outcome, Suite

ALONE = [word for name in _UNUSED for word in ("-p", f"no:{name}")]
"""As `nfsproof run`, whose phases have no hooks but those of the plugin."""
WATCHED = "def pytest_fixture_post_finalizer():\n    pass\n"
"""A conftest.py that looks at fixtures: pytest makes them."""

BODY = """
import sys
from pathlib import Path

TRACE = Path("trace")

def note(what):
    with TRACE.open("a") as file:
        file.write(what + "\\n")

def frames():
    frame, found = sys._getframe(1), set()
    while frame.f_code.co_name != "pytest_runtestloop":  # of this run
        found.add(frame.f_code.co_name)
        frame = frame.f_back
    return found

@pytest.fixture
def first():
    note("first: by " + ("pytest" if "_fillfixtures" in frames() else "plan"))
    yield 1
    note("first ends")

@pytest.fixture
def late(first):
    note("late")
    yield 40
    note("late ends")

@pytest.fixture
def second(request, scratch):
    request.addfinalizer(lambda: note("second's own"))
    note(f"second of {request.node.name}")
    yield request.getfixturevalue("late") + request.getfixturevalue("first")
    note("second ends")

@pytest.fixture
def scratch(scratch):
    note("scratch of the file")
    return scratch

@pytest.fixture
def broken():
    raise RuntimeError("no set-up")

@pytest.fixture
def without():
    skip("not here")

@pytest.fixture
def ends_badly():
    yield
    raise RuntimeError("no clean-up")

@pytest.fixture
def ends_badly_too(ends_badly):
    yield
    raise ValueError("no clean-up either")

@pytest.fixture(scope="module")
def long():
    note("long")
    yield 5
    note("long ends")

@pytest.fixture
def indirect(request):
    return request.param * 2

@proves(RULE, killed_by=MUTANT)
def test_who(first):
    note("phases: by " + ("pytest" if "call_and_report" in frames() else "plugin"))

@proves(RULE, killed_by=MUTANT)
@pytest.mark.parametrize("more", [1, 2])
def test_values(second, more, nfs3, stage):
    print("said in the check")
    observe("sum", second + more)
    assert nfs3 is not None and stage.target is not None
    expect(second, "the sum").equals(41)

@proves(RULE, killed_by=MUTANT)
def test_fails(first):
    print("said before it failed")
    expect(first, "the value").equals(2)

@proves(RULE, killed_by=MUTANT)
def test_breaks(first):
    raise KeyError("in the check")

@proves(RULE, killed_by=MUTANT)
def test_no_set_up(first, broken):
    note("never")

@proves(RULE, killed_by=MUTANT)
def test_skipped(first, without):
    note("never")

@proves(RULE, killed_by=MUTANT)
def test_clean_up(ends_badly, first):
    note("clean-up")

@proves(RULE, killed_by=MUTANT)
def test_clean_up_twice(first, ends_badly_too):
    note("clean-up twice")

@proves(RULE, killed_by=MUTANT)
def test_with_request(request, first):
    request.addfinalizer(lambda: note("the check's own"))
    observe("late", request.getfixturevalue("late"))

@proves(RULE, killed_by=MUTANT)
def test_long(long, first):
    note("long is used")

@proves(RULE, killed_by=MUTANT)
@pytest.mark.parametrize("indirect", [4], indirect=True)
def test_indirect(indirect):
    observe("indirect", indirect)

@proves(RULE, killed_by=MUTANT)
@pytest.mark.usefixtures("first")
def test_mark():
    note("mark")
"""


def _run(suite: Suite, *options: str, conftest: str = "") -> tuple[Outcome, list[str]]:
    trace = suite.pytester.path / "trace"
    trace.unlink(missing_ok=True)
    (suite.pytester.path / "suites" / "conftest.py").write_text(conftest)
    outcome = suite.run(*options)
    return outcome, trace.read_text().splitlines()


def _facts(outcome: Outcome) -> dict[str, object]:
    """What a record says of a check, but for times."""
    return {
        name: (record.verdict, record.reason, record.observations, record.exchanges, len(record.transcript))
        for name, record in outcome.checks.items()
    }


def test_all_ways_give_the_same(suite: Suite) -> None:
    suite.write(BODY)
    runs = [
        _run(suite, "-v", conftest=WATCHED),
        _run(suite, "-v"),
        _run(suite, "-v", *ALONE),
    ]
    makers = [(lines[0], lines[1]) for _, lines in runs]
    assert makers == [
        ("first: by pytest", "phases: by pytest"),
        ("first: by plan", "phases: by pytest"),
        ("first: by plan", "phases: by plugin"),
    ]
    for (before, lines_before), (after, lines_after) in pairwise(runs):
        assert _facts(after) == _facts(before)
        assert after.exit_code == before.exit_code
        plain = [[line.partition(": by")[0] for line in lines] for lines in (lines_before, lines_after)]
        assert plain[1] == plain[0]
    verdicts = runs[0][0].verdicts
    assert verdicts["values[1]"] == verdicts["mark"] == verdicts["indirect[4]"] == "PASS"
    assert verdicts["fails"] == "FAIL"
    assert verdicts["skipped"] == "SKIP"
    assert verdicts["clean_up"] == verdicts["clean_up_twice"] == verdicts["no_set_up"] == "VOID"


def test_words_and_numbers_of_pytest_stay(suite: Suite) -> None:
    suite.write(BODY)
    texts = []
    for options in ([], ALONE):
        outcome, _ = _run(suite, "-v", "--durations=3", "-o", "console_output_style=classic", *options)
        texts.append(
            [line.split(" in ")[0] for line in outcome.text.splitlines() if "test_fake.py::" in line]
        )
        assert "slowest 3 durations" in outcome.text
    words = [[line for line in lines if not line[0].isdigit()] for lines in texts]
    assert words[0] == words[1]
    assert any("PASSED" in line for line in words[0])


@pytest.mark.parametrize(
    "mine",
    [
        "def pytest_runtest_setup(item):\n    print('hooked')\n",
        "def pytest_runtest_makereport():\n    pass\n",
    ],
)
def test_hooks_of_others_are_called(suite: Suite, mine: str) -> None:
    suite.write(BODY)
    _, lines = _run(suite, *ALONE, conftest=mine)
    assert lines[:2] == ["first: by plan", "phases: by pytest"]


def test_fixtures_of_others_are_made_by_pytest(suite: Suite) -> None:
    suite.write(
        """
        @pytest.fixture
        def here(tmp_path, everywhere):
            return tmp_path

        @proves(RULE, killed_by=MUTANT)
        def test_here(here, everywhere):
            assert here.is_dir()
            observe("everywhere", everywhere)
        """
    )
    mine = "import pytest\n\n@pytest.fixture(autouse=True)\ndef everywhere():\n    yield 7\n"
    (suite.pytester.path / "suites" / "conftest.py").write_text(mine)
    outcome = suite.run(*ALONE)
    assert outcome.verdicts == {"here": "PASS"}
    assert outcome.checks["here"].observations == {"everywhere": "7"}


def test_a_check_that_was_interrupted_cleans_up(suite: Suite) -> None:
    suite.write(
        """
        from pathlib import Path

        @pytest.fixture
        def first():
            yield
            Path("trace").write_text("cleaned up")

        @proves(RULE, killed_by=MUTANT)
        def test_interrupted(first):
            raise KeyboardInterrupt
        """
    )
    outcome = suite.run_apart(*ALONE)
    assert outcome.exit_code == pytest.ExitCode.INTERRUPTED
    assert (suite.pytester.path / "trace").read_text() == "cleaned up"


def test_request_has_all_that_a_fixture_of_pytest_may_ask_for(suite: Suite) -> None:
    suite.write(
        """
        @pytest.fixture
        def told(request):
            request.applymarker(pytest.mark.told)
            return request.function.__name__, request.module.__name__, "told" in request.fixturenames

        @proves(RULE, killed_by=MUTANT)
        def test_told(request, told):
            assert request.path.name == "test_fake.py"
            assert told[0] == "test_told" and told[2]
            assert "told" in request.keywords and request.scope == "function" and request.instance is None
        """
    )
    for conftest in (WATCHED, ""):
        (suite.pytester.path / "suites" / "conftest.py").write_text(conftest)
        assert suite.run(*ALONE, "-o", "markers=told").verdicts == {"told": "PASS"}


def test_a_fixture_is_made_once_whoever_asks_for_it(suite: Suite) -> None:
    """A fixture of the project that is requested by its name gets the fixtures that are there already."""
    suite.write(
        """
        from pathlib import Path

        def note(what):
            with Path("trace").open("a") as file:
                file.write(what + "\\n")

        @pytest.fixture
        def below():
            note("below")
            yield 1
            note("below ends")

        @pytest.fixture
        def place(below):
            note("place")
            yield [below]
            note("place ends")

        @pytest.fixture
        def place_again(place):
            return place

        @pytest.fixture
        def asks(request, place):
            return request.getfixturevalue("theirs")

        @proves(RULE, killed_by=MUTANT)
        @pytest.mark.parametrize("number", [1, 2])
        def test_of_a_check(request, place, place_again, number):
            assert request.getfixturevalue("theirs") is place

        @proves(RULE, killed_by=MUTANT)
        def test_of_a_fixture(asks, place):
            assert asks is place
        """
    )
    # Of the project, and not of the suite: it stands outside of the folder of the suites.
    (suite.pytester.path / "theirs.py").write_text(
        "import pytest\n\n@pytest.fixture\ndef theirs(place_again, below):\n    yield place_again\n"
        "    with open('trace', 'a') as file:\n        file.write('theirs ends\\n')\n"
    )
    mine = "import sys\n\nsys.path.insert(0, '.')\nfrom theirs import theirs\n"
    (suite.pytester.path / "suites" / "nfs3" / "conftest.py").write_text(mine)
    for conftest in (WATCHED, ""):
        outcome, lines = _run(suite, *ALONE, conftest=conftest)
        assert outcome.verdicts == {"of_a_check[1]": "PASS", "of_a_check[2]": "PASS", "of_a_fixture": "PASS"}
        assert lines == ["below", "place", "theirs ends", "place ends", "below ends"] * 3


def test_reports_of_an_older_pytest() -> None:
    """Before 9.2 an item has no `id`."""

    class Old:
        nodeid = "suites/nfs3/test_x.py::test_x"
        location = ("suites/nfs3/test_x.py", 0, "test_x")
        keywords: t.Final = {"test_x": True}
        _report_sections: t.Final = [("call", "stdout", "said")]
        user_properties: t.Final = [("a", 1)]

        def __init__(self) -> None:
            self.stash = pytest.Stash()

    call = pytest.CallInfo[None](None, None, 1.0, 3.0, 2.0, "call", _ispytest=True)
    report = _report_of(t.cast("pytest.Item", Old()), call)
    assert (report.nodeid, report.outcome, report.duration) == (Old.nodeid, "passed", 2.0)
    assert report.sections == [("Captured stdout call", "said")]

# SPDX-License-Identifier: MIT
"""The order of a run: a check of each operation and mechanism first."""

from __future__ import annotations

import pytest

from nfsjudge.records import CheckRecord
from tests.plugin.conftest import Outcome, Suite

PARAMETERS = "\n@pytest.mark.parametrize('number', range(3))\n@proves(RULE, killed_by=MUTANT)\n"


def body(*names: str) -> str:
    return "".join(f"{PARAMETERS}def test_{name}(number):\n    pass\n" for name in names)


def order(outcome: Outcome) -> list[str]:
    return [line.id.removeprefix("nfs3/") for line in outcome.lines if isinstance(line, CheckRecord)]


@pytest.fixture
def two_subjects(suite: Suite) -> Suite:
    suite.write(body("a", "b"), "suites/nfs3/test_first.py")
    suite.write(body("c"), "suites/nfs3/test_second.py")
    return suite


def test_each_subject_comes_first_then_each_function_then_the_rest(two_subjects: Suite) -> None:
    assert order(two_subjects.run()) == [
        "first/a[0]",
        "second/c[0]",
        "first/b[0]",
        *("first/a[1]", "first/a[2]", "first/b[1]", "first/b[2]"),
        *("second/c[1]", "second/c[2]"),
    ]


def test_what_a_server_may_begin_late_is_the_last_of_its_round(two_subjects: Suite) -> None:
    two_subjects.write(f"pytestmark = pytest.mark.late\n{body('a', 'b')}", "suites/nfs3/test_first.py")
    assert order(two_subjects.run()) == [
        "second/c[0]",
        "first/a[0]",
        "first/b[0]",
        *("second/c[1]", "second/c[2]"),
        *("first/a[1]", "first/a[2]", "first/b[1]", "first/b[2]"),
    ]


def test_what_the_user_names_keeps_its_order(two_subjects: Suite) -> None:
    named = two_subjects.run("suites/nfs3/test_second.py", "suites/nfs3/test_first.py")
    assert order(named) == [f"{name}[{n}]" for name in ("second/c", "first/a", "first/b") for n in range(3)]


def test_a_list_keeps_the_order_of_the_files(two_subjects: Suite) -> None:
    listed = [line for line in two_subjects.run("--collect-only", "-q").text.splitlines() if "::" in line]
    assert [name.rpartition("_")[2] for name in listed] == [
        f"{letter}[{n}]" for letter in "abc" for n in range(3)
    ]


def test_a_check_about_harm_stands_for_its_subject(suite: Suite) -> None:
    suite.write(
        "from nfsjudge import Harm\n"
        'LOSS = Requirement(rfc="RFC 1813", section="3.3.6", gist="data stays", harm=Harm.DATA)\n'
        "\n@pytest.mark.exclusive\n@proves(LOSS, killed_by=MUTANT)\ndef test_alone():\n    pass\n"
        "\n@proves(ADVICE, killed_by=MUTANT)\ndef test_weak():\n    pass\n"
        "\n@proves(RULE, killed_by=MUTANT)\ndef test_plain():\n    pass\n"
        "\n@proves(LOSS, killed_by=MUTANT)\ndef test_grave():\n    pass\n"
    )
    assert order(suite.run()) == ["fake/grave", "fake/weak", "fake/plain", "fake/alone"]

# SPDX-License-Identifier: MIT
"""The list of ids: which old name leads to which check, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.idlist import IdList, known_ids

TEXT = """
# the ids
# released: 1.2.0
n/READ/short[a]
n/READ/short[b]
n/READ/all
n/WRITE/whole
n/WRITE/part[x-y]
# gone: n/read/a_short_read -> n/READ/brief
# gone: n/READ/brief -> n/READ/short
# gone: n/read/a_short_read[b] -> n/WRITE/part[x-y]
# gone: n/read/everything -> n/READ/all
# gone: n/read/split[1] -> n/READ/short[a]
# gone: n/read/split[2] -> n/WRITE/whole
# gone: n/read/dropped
# gone: n/read/later -> n/read/dropped
# gone: n/read/a_short_read[gone]
# gone: n/loop/a -> n/loop/b
# gone: n/loop/b -> n/loop/a
"""


@pytest.fixture
def listed() -> IdList:
    return IdList.parse(TEXT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("n/READ/all", "n/READ/all"),
        ("n/read/everything", "n/READ/all"),
        ("n/read/a_short_read[a]", "n/READ/short[a]"),
        ("n/READ/brief[b]", "n/READ/short[b]"),
        ("n/read/a_short_read[b]", "n/WRITE/part[x-y]"),
        ("n/read/a_short_read[gone]", "n/read/a_short_read[gone]"),
        ("n/read/a_short_read", "n/READ/short"),
        ("n/read/split[2]", "n/WRITE/whole"),
        ("n/read/split[3]", "n/read/split[3]"),
        ("n/read/later", "n/read/dropped"),
        ("never/heard/of", "never/heard/of"),
    ],
)
def test_an_old_name_leads_to_the_check(listed: IdList, old: str, new: str) -> None:
    assert listed.current(old) == new


def test_a_circle_ends(listed: IdList) -> None:
    assert listed.current("n/loop/a") in {"n/loop/a", "n/loop/b"}


def test_the_names_that_a_check_had(listed: IdList) -> None:
    assert set(listed.former("n/READ/short[a]")) == {
        "n/READ/brief[a]",
        "n/read/a_short_read[a]",
        "n/read/split[1]",
    }
    assert listed.former("n/READ/short[b]") == ("n/READ/brief[b]",)
    assert listed.former("n/READ/all") == ("n/read/everything",)
    assert all(listed.current(old) == current for old, current in listed.old_names.items())


def test_a_name_that_is_taken_again_is_no_old_one() -> None:
    listed = IdList.parse("a/B/c\na/B/d\n# gone: a/B/c -> a/B/d\n")
    assert listed.current("a/B/c") == "a/B/c"
    assert listed.former("a/B/d") == ()
    assert listed.updated({"a/B/c", "a/B/d"}).renamed == {}


def test_a_list_survives_its_file(tmp_path: Path, listed: IdList) -> None:
    path = tmp_path / "ids.txt"
    listed.write(path)
    assert IdList.read(path) == listed
    assert IdList.read(tmp_path / "none") == IdList()


def test_what_vanished_is_kept_as_gone_and_may_come_back() -> None:
    listed = IdList({"a", "b"}, {"old"}, released="1.2.0")
    assert listed.differences({"b", "c"}) == ["new, but not listed: c", "listed, but vanished: a"]
    assert listed.updated({"b", "c", "old"}) == IdList({"b", "c", "old"}, {"a"}, released="1.2.0")


def test_before_the_first_release_nothing_is_kept() -> None:
    listed = IdList({"a", "b"}, set(), {"x": "b"})
    assert listed.updated({"b", "c"}) == IdList({"b", "c"}, set(), {"x": "b"})


def test_a_function_that_vanished_is_one_line() -> None:
    listed = IdList({"a[1]", "a[2]", "b[1]", "b[2]"}, {"a[3]"}, released="1.2.0")
    assert listed.updated({"b[1]"}) == IdList({"b[1]"}, {"a", "b[2]"}, released="1.2.0")


def test_a_renamed_check_is_not_gone() -> None:
    listed = IdList({"a[1]", "a[2]", "b"}, set(), {"a": "c", "b": "d"}, "1.2.0")
    assert listed.updated({"c[1]", "c[2]", "d"}) == IdList(
        {"c[1]", "c[2]", "d"}, set(), {"a": "c", "b": "d"}, "1.2.0"
    )


def test_a_line_that_leads_nowhere_is_a_difference() -> None:
    listed = IdList({"a[1]"}, {"gone"}, {"b": "a", "c": "gone", "d": "no_such", "e": "b"})
    assert listed.differences({"a[1]"}) == ["gone: d -> no_such: no_such is not in the list"]


def test_every_renamed_check_of_this_version_is_found() -> None:
    listed = known_ids()
    assert listed.present
    assert all(listed.current(old) == current for old, current in listed.old_names.items())
    assert {renamed for renamed in listed.renamed if "[" in renamed} <= listed.old_names.keys() | listed.gone

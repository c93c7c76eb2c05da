# SPDX-License-Identifier: MIT
"""Reading a directory in a fixture comes to an end, whatever the server answers."""

from __future__ import annotations

import itertools

import pytest

from fixtures.checks.dialects.nfs3 import DIRECTORIES
from fixtures.checks.scratch import MOST_NAMES, collect_names, require_inside
from nfsjudge import Damage


def test_all_pages_without_the_dots() -> None:
    pages = {b"0": ([b".", b"..", b"a"], b"1"), b"1": ([b"b"], None)}
    assert collect_names(b"0", pages.__getitem__, DIRECTORIES) == [b"a", b"b"]


def test_a_cookie_that_stays_the_same() -> None:
    with pytest.raises(Damage, match="a cookie is returned again"):
        collect_names(b"0", lambda _: ([b"a"], b"1"), DIRECTORIES)


def test_names_without_end() -> None:
    numbers = itertools.count(1)
    page = [b"name"] * 10_000
    with pytest.raises(Damage, match=f"not come to an end after {MOST_NAMES + 10_000} entries"):
        collect_names(b"0", lambda _: (page, b"%d" % next(numbers)), DIRECTORIES)


def test_names_that_stay_in_their_directory() -> None:
    """A server may have made the empty name, and then lists it."""
    for name in (b"a", b"", b"a/b", b"..a"):
        require_inside(name, DIRECTORIES)


@pytest.mark.parametrize("name", [b"/etc", b"..", b"../a", b"a/../../b"])
def test_names_that_lead_elsewhere(name: bytes) -> None:
    with pytest.raises(Damage, match="name in READDIR"):
        require_inside(name, DIRECTORIES)

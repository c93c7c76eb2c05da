# SPDX-License-Identifier: MIT
"""Reading a directory in a fixture comes to an end, whatever the server answers."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import DIRECTORIES
from fixtures.checks.scratch import MOST_NAMES, CannotClean, CannotList, names_by, require_inside
from nfsclient.errors import NfsStatusError
from nfsclient.files import Entry, Files, Page, Position, Steps, v3, v4
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Damage

T = t.TypeVar("T")
FILES = v3.Files()


class Pages:
    """Performs READDIR by giving these pages."""

    def __init__(self, page: Callable[[Position], Page]) -> None:
        self._page = page
        self._at = Position()

    def __call__(self, steps: Steps[T], /) -> T:
        steps.close()
        page = self._page(self._at)
        self._at = page.next
        return t.cast("T", page)


def page(names: list[bytes], following: Position, *, eof: bool = False) -> Page:
    return Page([Entry(name, None, None) for name in names], eof, following)


def names(give: Callable[[Position], Page], files: Files = FILES) -> list[bytes]:
    return names_by(Pages(give), files, b"directory", DIRECTORIES)


def test_all_pages_without_the_dots() -> None:
    pages = {
        0: page([b".", b"..", b"a"], Position(1)),
        1: page([b"b"], Position(2), eof=True),
    }
    assert names(lambda at: pages[at.cookie]) == [b"a", b"b"]


def test_a_cookie_that_stays_the_same() -> None:
    with pytest.raises(Damage, match="a cookie is returned again"):
        names(lambda _: page([b"a"], Position(1)))


def test_names_without_end() -> None:
    many = [b"name"] * 10_000
    with pytest.raises(Damage, match=f"not come to an end after {MOST_NAMES + 10_000} entries"):
        names(lambda at: page(many, Position(at.cookie + 1)))


def test_a_page_without_entries() -> None:
    """It ends a listing, except in NFSv4, where it says that there is more."""
    assert names(lambda at: page([], at)) == []
    with pytest.raises(CannotClean, match="neither entries nor eof"):
        names(lambda at: page([], at), v4.Files())


def test_a_refusal_is_known_by_its_status() -> None:
    def refuse(_: Position) -> t.NoReturn:
        raise NfsStatusError(Nfsstat3.NFS3ERR_STALE, "READDIR")

    with pytest.raises(CannotList, match="NFS3ERR_STALE") as caught:
        names(refuse)
    assert caught.value.is_of_no_directory


def test_names_that_stay_in_their_directory() -> None:
    """A server may have made the empty name, and then lists it."""
    for name in (b"a", b"", b"a/b", b"..a"):
        require_inside(name, DIRECTORIES)


@pytest.mark.parametrize("name", [b"/etc", b"..", b"../a", b"a/../../b"])
def test_names_that_lead_elsewhere(name: bytes) -> None:
    with pytest.raises(Damage, match="name in READDIR"):
        require_inside(name, DIRECTORIES)

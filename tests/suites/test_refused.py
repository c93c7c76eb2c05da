# SPDX-License-Identifier: MIT
"""Calls that are refused on purpose, on a server that lets some of them succeed."""

from __future__ import annotations

import typing as t
from types import SimpleNamespace

import pytest

from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Nonconformance, Skipped, should
from suites import refused

OK, EXIST, JUKEBOX = Nfsstat3.NFS3_OK, Nfsstat3.NFS3ERR_EXIST, Nfsstat3.NFS3ERR_JUKEBOX


class _Place:
    """In place of the objects; notes after which acts they were looked at."""

    looked: t.ClassVar[list[str]]
    made: t.ClassVar[int]
    partly_set: frozenset[str] = frozenset()
    wholly_set = False

    def __init__(self, *_: object) -> None:
        type(self).made += 1

    def expect_kept(self, after: str) -> None:
        """Note the look."""
        self.looked.append(after.split()[1])


@pytest.fixture(autouse=True)
def _places(monkeypatch: pytest.MonkeyPatch) -> None:
    _Place.looked, _Place.made = [], 0
    monkeypatch.setattr(refused, "Place", _Place)


def _run(**statuses: Nfsstat3) -> None:
    acts = {name: lambda _client, _place, status=status: status for name, status in statuses.items()}
    scratch: t.Any = SimpleNamespace()
    refused.expect_nothing_changed(None, scratch, acts)


def test_an_act_that_succeeds_does_not_end_the_check() -> None:
    _run(first=OK, second=EXIST, third=JUKEBOX, fourth=EXIST)
    assert _Place.looked == ["second", "fourth"]


def test_nothing_is_judged_where_nothing_is_refused() -> None:
    with pytest.raises(Skipped, match="first is not refused, second is put off"):
        _run(first=OK, second=JUKEBOX)


def test_what_a_setattr_has_set_is_made_again() -> None:
    """A SETATTR that fails may have done a part, and says so (RFC 5661 section 18.30.4)."""

    def partly(_client: object, place: t.Any) -> Nfsstat3:
        place.partly_set = frozenset({"mode"})
        return EXIST

    scratch: t.Any = SimpleNamespace()
    refused.expect_nothing_changed(None, scratch, {"first": partly, "second": lambda _client, _place: EXIST})
    assert (_Place.looked, _Place.made) == (["first", "second"], 2)


@pytest.mark.parametrize("judged", [False, True])
def test_what_fails_and_does_all_is_reported_at_the_end(judged: bool) -> None:
    """The other acts are judged first: what they break is worse."""
    clause = should("RFC 5661", "18.30.4", "fails in part")

    def wholly(_client: object, place: t.Any) -> Nfsstat3:
        place.partly_set, place.wholly_set = frozenset({"mode"}), True
        return EXIST

    scratch: t.Any = SimpleNamespace()
    acts: dict[str, refused.Act] = {"first": wholly, "second": lambda _client, _place: EXIST}
    if not judged:
        refused.expect_nothing_changed(None, scratch, acts)
    else:
        with pytest.raises(Nonconformance, match="first: NFS3ERR_EXIST") as seen:
            refused.expect_nothing_changed(None, scratch, acts, clause)
        assert seen.value.requirement is clause
    assert _Place.looked == ["first", "second"]

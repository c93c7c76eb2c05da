# SPDX-License-Identifier: MIT
"""Calls that are refused on purpose, on a server that lets some of them succeed."""

from __future__ import annotations

import typing as t
from types import SimpleNamespace

import pytest

from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Skipped
from suites import refused

OK, EXIST, JUKEBOX = Nfsstat3.NFS3_OK, Nfsstat3.NFS3ERR_EXIST, Nfsstat3.NFS3ERR_JUKEBOX


class _Place:
    """In place of the objects; notes after which acts they were looked at."""

    looked: t.ClassVar[list[str]]

    def __init__(self, *_: object) -> None:
        pass

    def expect_kept(self, after: str) -> None:
        """Note the look."""
        self.looked.append(after.split()[1])


@pytest.fixture(autouse=True)
def _places(monkeypatch: pytest.MonkeyPatch) -> None:
    _Place.looked = []
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

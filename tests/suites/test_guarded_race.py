# SPDX-License-Identifier: MIT
"""The race of two OPENs that create, on a server that puts some of them off."""

from __future__ import annotations

import typing as t
from types import SimpleNamespace

import pytest

from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Nonconformance, Skipped
from suites.nfs4 import races, test_two_clients

OK, EXIST, DELAY = Nfsstat4.NFS4_OK, Nfsstat4.NFS4ERR_EXIST, Nfsstat4.NFS4ERR_DELAY


def _run(monkeypatch: pytest.MonkeyPatch, *rounds: tuple[Nfsstat4, Nfsstat4]) -> None:
    """Each pair of OPENs is answered as the next round says, the last one again and again."""
    client: t.Any = SimpleNamespace(compound=lambda *_: None)
    sent = 0

    def start(*_: object) -> t.Any:
        nonlocal sent
        status = rounds[min(sent // 2, len(rounds) - 1)][sent % 2]
        sent += 1
        return lambda: SimpleNamespace(status=status, stateid=None)

    monkeypatch.setattr(test_two_clients, "another_session", lambda _: client)
    monkeypatch.setattr(races, "start", start)
    monkeypatch.setattr(test_two_clients, "op", _Operations())
    scratch: t.Any = SimpleNamespace(handle=b"")
    test_two_clients._expect_one_creates(client, scratch, [client, client])


class _Operations:
    def __getattr__(self, name: str) -> t.Any:
        return lambda *_, **__: None


def test_one_creates(monkeypatch: pytest.MonkeyPatch) -> None:
    _run(monkeypatch, (EXIST, OK))


def test_exist_for_both_after_a_delay_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """One may have created the file before its DELAY (RFC 5661 section 18.16.4)."""
    with pytest.raises(Skipped, match="no OPEN succeeded"):
        _run(monkeypatch, *[(DELAY, DELAY), (EXIST, EXIST)] * 200)


@pytest.mark.parametrize("both", [OK, EXIST])
def test_the_same_for_both_at_once_is_red(monkeypatch: pytest.MonkeyPatch, both: Nfsstat4) -> None:
    with pytest.raises(Nonconformance, match=f"expected 1, got {2 if both == OK else 0}"):
        _run(monkeypatch, (both, both))


def test_success_for_both_after_a_delay_is_red(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Nonconformance, match="expected 1, got 2"):
        _run(monkeypatch, (DELAY, DELAY), (OK, OK))

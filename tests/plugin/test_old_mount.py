# SPDX-License-Identifier: MIT
"""Which old version of MOUNT a target has: one that the target distinguishes, or that it answers in its own form."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.capabilities import probe_old_mount
from fixtures.stage.capabilities import YES
from nfsclient.errors import GarbageArgs, ProgMismatch, XdrError
from nfsclient.protocol.mount import Mnt1Res, MountStat1
from nfsclient.xdr import Void


class _Address:
    export = "/export"


class _Stage:
    """A target whose MOUNT answers NULL in `versions`, and MNT with what `mnt` gives or raises."""

    address = _Address()

    def __init__(self, versions: t.Container[int], mnt: t.Callable[[], object]) -> None:
        self.versions, self.mnt = versions, mnt

    @property
    def connections(self) -> _Stage:
        return self

    def connect(self, _service: str) -> _Stage:
        return self

    def call(self, procedure: t.Any, _args: object, **_how: object) -> object:
        if procedure.version not in self.versions:
            raise ProgMismatch("MOUNT", 1, 3)
        return Void() if procedure.name == "NULL" else self.mnt()


def _refused() -> object:
    return Mnt1Res(MountStat1(13))


def _in_another_form() -> object:
    raise XdrError("Mnt1Res.directory", "needs 32 more bytes, only 28 are left", 4)


def _garbage() -> object:
    raise GarbageArgs("MNT")


def _probe(versions: t.Container[int], mnt: t.Callable[[], object]) -> str:
    return probe_old_mount(t.cast("t.Any", _Stage(versions, mnt)), 1)


def test_a_version_that_is_distinguished_is_there_whatever_mnt_says() -> None:
    assert _probe({1, 3}, _in_another_form) == YES


def test_any_version_and_mnt_in_its_form_is_there() -> None:
    assert _probe(range(2**32), _refused) == YES


def test_any_version_and_mnt_in_another_form_is_not() -> None:
    assert "not in its form: Mnt1Res.directory at byte 4" in _probe(range(2**32), _in_another_form)


def test_a_version_that_is_refused_is_the_reason() -> None:
    with pytest.raises(ProgMismatch):
        _probe({3}, _refused)


def test_a_refusal_of_mnt_says_nothing_of_its_form() -> None:
    assert _probe(range(2**32), _garbage) == YES

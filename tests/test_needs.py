# SPDX-License-Identifier: MIT
"""A tool that is installed and that this machine cannot run is a reason to skip, unless it must be there."""

from __future__ import annotations

import pytest

from nfstargets.base import TargetError
from tests.needs import REQUIRED, starting

PANIC = "knfsd ended while starting with signal 6; its log:\n  [<60045f0e>] ? put_fp_registers+0x10/0x12"


def test_what_the_machine_cannot_run_is_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REQUIRED, raising=False)
    with pytest.raises(pytest.skip.Exception, match="cannot be started here: its kernel"), starting("knfsd"):
        raise TargetError(PANIC)


def test_what_must_be_there_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REQUIRED, "git, knfsd")
    with pytest.raises(pytest.fail.Exception, match="says that it must be there"), starting("knfsd"):
        raise TargetError(PANIC)


def test_any_other_error_is_no_reason_to_skip() -> None:
    with pytest.raises(TargetError, match="Attempted to kill init"), starting("knfsd"):
        raise TargetError("Kernel panic - not syncing: Attempted to kill init")

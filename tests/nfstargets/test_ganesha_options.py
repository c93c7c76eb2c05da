# SPDX-License-Identifier: MIT
"""What may follow `ganesha:`."""

from __future__ import annotations

from pathlib import Path

import pytest

from nfstargets import make_target
from nfstargets.base import TargetError
from nfstargets.ganesha_config import GaneshaConfig
from nfstargets.ganesha_options import GaneshaOptions


def test_options_come_in_any_order() -> None:
    assert GaneshaOptions.parse("") == GaneshaOptions()
    found = GaneshaOptions.parse("lease=20,vers=4,mem,grace=30")
    assert found == GaneshaOptions(kind="mem", protocols=(4,), lease=20, grace=30)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mem", "ganesha:mem"),
        ("mem,lease=5,grace=0,vers=3+4", "ganesha:mem"),
        ("grace=10,mem", "ganesha:mem,grace=10"),
        ("vers=4,vfs,lease=7", "ganesha:vfs,lease=7,vers=4"),
    ],
)
def test_the_full_name_says_what_differs(text: str, name: str) -> None:
    assert make_target(f"ganesha:{text}").name == name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "gpfs",
            "unknown option 'gpfs' of ganesha.*; expected vfs, mem, grace=SECONDS, lease=SECONDS, vers=4",
        ),
        ("grcae=4", "unknown option 'grcae=4' of ganesha; similar: grace="),
        ("grace=-1", "ganesha:grace=-1: expected a number from 0 to 180"),
        ("lease=0", "ganesha:lease=0: expected a number from 1 to 180"),
        ("vers=5", "unknown option 'vers=5'"),
    ],
)
def test_others_are_refused_in_a_line(text: str, said: str) -> None:
    with pytest.raises(TargetError, match=said):
        make_target(f"ganesha:{text}")


def _text(grace: int = 0, lease: int = 5) -> str:
    state, plugins = Path("/state"), Path("/plugins")
    return GaneshaConfig(
        nfs_port=1, mount_port=2, state=state, plugins=plugins, grace=grace, lease=lease
    ).text()


def test_without_a_grace_period_it_never_waits() -> None:
    assert "Graceless = true;" in _text()
    waiting = _text(grace=12, lease=9)
    assert "Graceless = false;" in waiting
    assert "Grace_Period = 12;" in waiting
    assert "Lease_Lifetime = 9;" in waiting

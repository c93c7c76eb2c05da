# SPDX-License-Identifier: MIT
"""What the profile of duplicates says of the embedded server, with and without its replay cache."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from nfsjudge.duplicates import CACHED, EXECUTED, SECONDS, Bound
from reports.duplicates import Profile, profile_of
from reports.reading import load
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
_CHECKS = (
    "faults/drc/reply-lost[v3-remove-udp]",
    "faults/drc/doubled[v3-remove-tcp]",
    "faults/profile/late[v3-remove-late-udp]",
    "faults/profile/late[v3-remove-port-udp]",
    "faults/profile/late[v3-remove-again-same]",
    "faults/profile/late[v3-setattr-late-tcp]",
    "faults/profile/same-xid[v3-remove-args-udp]",
    "faults/profile/cache-time[v3-udp]",
)
_REMOVE = ("v3", "REMOVE")


def _profile(folder: Path, *options: str) -> Profile:
    """Of a run of these checks, none of which may be red."""
    words = ["run", "embedded", *_CHECKS, "--report", str(folder / "report"), *options]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "nfsproof", *words],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return profile_of(load(folder / "report"))


def test_with_its_cache_it_answers_copies_from_the_same_port(tmp_path: Path) -> None:
    profile = _profile(tmp_path)
    assert profile.cells[_REMOVE] == {
        "lost-udp": CACHED,
        "doubled-tcp": CACHED,
        "late-udp": CACHED,
        "port-udp": EXECUTED,
        "reconnect-same": CACHED,
        "arguments-udp": EXECUTED,
    }
    assert profile.cells["v3", "SETATTR GUARDED"] == {"late-tcp": CACHED}
    assert profile.bounds == {Bound("udp", "v3", SECONDS): "at least 2 s"}


def test_without_it_each_copy_is_executed(tmp_path: Path) -> None:
    profile = _profile(tmp_path, "--knob", "replay_cache=false")
    assert set(profile.cells[_REMOVE].values()) == {EXECUTED}
    assert profile.cells["v3", "SETATTR GUARDED"] == {"late-tcp": EXECUTED}
    assert profile.bounds == {Bound("udp", "v3", SECONDS): "none"}

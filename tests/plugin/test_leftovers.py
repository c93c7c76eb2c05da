# SPDX-License-Identifier: MIT
"""What interrupted runs have left in the export, and cleaning up that does not come to an end."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from fixtures.stage.leftovers import Leftovers
from nfsclient import connect
from tests.plugin.conftest import Suite
from tests.plugin.test_deaths import Fragile, fragile
from tests.plugin.test_plugin_verdicts import check

__all__ = ["fragile"]

OLD = ["nfsproof-0123456789ab", "nfsproof-ba9876543210"]
NOT_OURS = ["nfsproof-mine", "nfsproof-0123456789abc", "data"]


def _leave(url: str) -> None:
    with connect(url) as client:
        for name in (*OLD, *NOT_OURS):
            client.mkdir(name)
        client.mkdir(f"{OLD[0]}/inside")
        client.write_file(f"{OLD[0]}/inside/file", b"data")


def _there(url: str) -> list[str]:
    with connect(url) as client:
        return sorted(client.listdir())


def test_they_are_named_and_stay(suite: Suite, fragile: Fragile) -> None:
    _leave(fragile.url)
    suite.write(check("it", "pass"))
    outcome = suite.run("--target", fragile.url)
    assert outcome.exit_code == 0
    assert f"in the export: 2 directories ({', '.join(OLD)}), left by earlier runs" in outcome.text
    assert "--clean removes them" in outcome.text
    assert _there(fragile.url) == sorted([*OLD, *NOT_OURS])


def test_clean_removes_them_and_nothing_else(suite: Suite, fragile: Fragile) -> None:
    _leave(fragile.url)
    suite.write(check("it", "pass"))
    outcome = suite.run("--target", fragile.url, "--clean")
    assert outcome.exit_code == 0
    assert f"removed from the export: 2 directories ({', '.join(OLD)})" in outcome.text
    assert _there(fragile.url) == sorted(NOT_OURS)


def test_an_interrupted_run_leaves_nothing_and_a_killed_one_is_found(suite: Suite, fragile: Fragile) -> None:
    suite.write(check("it", "os.kill(os.getpid(), 9)", "scratch"))
    suite.run_apart("--target", fragile.url)
    (left,) = _there(fragile.url)
    assert re.fullmatch("nfsproof-[0-9a-f]{12}", left)
    suite.write(check("it", "raise KeyboardInterrupt", "scratch"))
    outcome = suite.run_apart("--target", fragile.url, "--clean")
    assert left in outcome.text
    assert _there(fragile.url) == []


def test_cleaning_up_is_bounded_in_time_and_names_what_it_leaves(
    suite: Suite, fragile: Fragile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fixtures.stage.limits.CLEANING", -1.0)
    suite.write(check("it", "pass", "nfs3, scratch"))
    outcome = suite.run("--target", fragile.url)
    (left,) = _there(fragile.url)
    assert outcome.verdicts == {"it": "VOID"}
    assert "it takes more than" in outcome.checks["it"].reason
    assert f"left in the export: 1 directory ({left}); a run with --clean removes them" in outcome.text


def test_what_nobody_missed_is_named_at_the_end(suite: Suite, fragile: Fragile) -> None:
    """A directory that is there although no check knows of it, such as after a MKDIR that failed and was done."""
    _leave(fragile.url)
    name = "nfsproof-feedfeedfeed"
    suite.write(check("it", f"nfs3.mkdir(root, b'{name}')", "nfs3, root"))
    outcome = suite.run("--target", fragile.url)
    assert name in _there(fragile.url)
    assert f"left in the export: 1 directory ({name}); a run with --clean removes them" in outcome.text


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (Leftovers, []),
        (lambda: Leftovers(is_cleaned=True), ["earlier runs have left nothing in the export"]),
        (
            lambda: Leftovers([b"a", b"b"], [b"a"], "RMDIR answers NFS3ERR_IO"),
            [
                "removed from the export: 1 directory (a), left by earlier runs",
                "in the export: 1 directory (b), left by earlier runs",
                "the export could not be cleaned: RMDIR answers NFS3ERR_IO",
            ],
        ),
    ],
)
def test_texts(make: Callable[[], Leftovers], expected: list[str]) -> None:
    assert make().lines() == expected

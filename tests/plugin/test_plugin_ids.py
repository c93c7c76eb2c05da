# SPDX-License-Identifier: MIT
"""Stable ids: made from node ids, listed, and not lost unannounced."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.ids import IdList, id_of, without_parameters
from tests.plugin.conftest import ROOT, Suite
from tests.plugin.test_plugin_verdicts import check
from tests.waiting import AT_MOST


@pytest.mark.parametrize(
    ("nodeid", "check_id"),
    [
        ("suites/nfs3/test_write.py::test_keeps_data", "nfs3/write/keeps_data"),
        ("suites/nfs3/test_write.py::test_keeps_data[a/b::c]", "nfs3/write/keeps_data[a/b::c]"),
        ("../lib/nfsproof/_home/suites/mount/test_mnt.py::test_x", "mount/mnt/x"),
        ("tests/test_own.py::test_x", "tests/own/x"),
    ],
)
def test_id_of_a_node(nodeid: str, check_id: str) -> None:
    assert id_of(nodeid) == check_id


def test_without_parameters() -> None:
    assert without_parameters("nfs3/write/x[a[b]]") == "nfs3/write/x"
    assert without_parameters("nfs3/write/x") == "nfs3/write/x"


def test_a_list_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    IdList({"b", "a"}, {"z"}).write(path)
    assert IdList.read(path) == IdList({"a", "b"}, {"z"})
    assert IdList.read(tmp_path / "none") == IdList(set(), set())


def test_what_vanished_is_kept_as_gone_and_may_come_back() -> None:
    listed = IdList({"a", "b"}, {"old"})
    assert listed.differences({"b", "c"}) == ["new, but not listed: c", "listed, but vanished: a"]
    assert listed.updated({"b", "c", "old"}) == IdList({"b", "c", "old"}, {"a"})


def test_check_and_update(suite: Suite) -> None:
    suite.write(check("one", "raise KeyError") + check("two", "raise KeyError"))
    fresh = suite.run("--ids=check")
    assert fresh.exit_code == 1
    assert "new, but not listed: nfs3/fake/one" in fresh.text
    assert suite.run("--ids=update").exit_code == 0
    assert suite.run("--ids=check").exit_code == 0
    suite.write(check("one", "raise KeyError"))
    vanished = suite.run("--ids=check")
    assert vanished.exit_code == 1
    assert "listed, but vanished: nfs3/fake/two" in vanished.text
    assert not suite.report.exists()


def test_a_part_of_the_suite_cannot_tell(suite: Suite) -> None:
    suite.write(check("one", "pass"))
    assert suite.run("--ids=check", "suites/nfs3").exit_code == 4


def test_the_list_of_this_project_agrees() -> None:
    command = [sys.executable, "-m", "pytest", "--ids=check", "-q", "suites"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=AT_MOST)
    assert result.returncode == 0, result.stdout

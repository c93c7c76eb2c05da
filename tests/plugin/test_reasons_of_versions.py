# SPDX-License-Identifier: MIT
"""Runs on servers of one version of NFS: the reasons why checks were not asked are grouped by fields, not by words."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import reports
from nfsjudge.reason import Lack, with_fields
from nfsjudge.records import CheckRecord, from_line, to_line
from reports.causes import reasons
from reports.lacking import lacks_lines
from reports.run import Run
from tests.cli.test_reproduce import python
from tests.plugin.conftest import ROOT

IDS = ("nfs2/NULL", "nfs2/READ", "nfs2/SYMLINK", "nfs3/NULL", "nfs4/LINK", "mount/NULL", "portmap/NULL")
NO_RPCBIND = "no rpcbind of this server is known: rpcbindport= in the URL says its port"
EXPECTED = {
    "3": {"NFSv2 is not served", "NFSv4 is not served", NO_RPCBIND},
    "4": {"the target is tested with NFSv4 only", "NFSv3 is not served", NO_RPCBIND},
}


@pytest.fixture(scope="module", params=["3", "4"])
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def port(version: str) -> Iterator[str]:
    server = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.plugin.versions_server", version, version, version],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    yield server.stdout.readline().strip()
    server.kill()
    server.communicate()


@pytest.fixture(scope="module", params=[(), ("-n", "2")], ids=["one process", "workers"])
def run(
    request: pytest.FixtureRequest, version: str, port: str, tmp_path_factory: pytest.TempPathFactory
) -> Run:
    """A run of checks that need what the server lacks."""
    folder = tmp_path_factory.mktemp("report")
    asked = {"3": "3", "4": "4.2"}[version]
    url = f"nfs://127.0.0.1:{port}/export?uid=0&gid=0&mountport={port}&version={asked}"
    ended = python("-m", "nfsproof", "run", url, *IDS, "-q", *request.param, f"--report={folder}")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return reports.load(folder)


def left_out(run: Run) -> list[CheckRecord]:
    return [check for check in run.checks if check.verdict in {"UNSUPPORTED", "SKIP"}]


def groups(records: list[CheckRecord]) -> set[tuple[str, ...]]:
    return {tuple(reason.checks) for reason in reasons(records)}


def test_the_reasons_are_those_of_the_versions(run: Run, version: str) -> None:
    assert {reason.text for reason in reasons(run.checks)} == EXPECTED[version]
    assert all(check.why is not None and check.why.kind != Lack.OTHER for check in left_out(run))


def test_other_words_make_the_same_groups(run: Run) -> None:
    """A sentence may be worded in another way for each check: nothing reads it."""
    others = []
    for number, check in enumerate(left_out(run)):
        assert check.why is not None
        words = f"{'in other words ' * number}it is so"
        others.append(replace(check, reason=words, why=replace(check.why, text=words)))
    assert len({check.reason for check in others}) == len(others) > len(groups(others))
    assert groups(others) == groups(run.checks)


def test_records_without_fields_are_read_and_grouped_by_their_texts(run: Run) -> None:
    """As an earlier version wrote them."""
    old = []
    for check in left_out(run):
        plain = to_line(check)
        without, _, _ = plain.partition(',"why":')
        read = from_line(f'{without},"kind":"check","schema":1}}')
        assert isinstance(read, CheckRecord)
        assert (read.why, read.reason) == (None, check.reason)
        old.append(read)
    assert sum(len(reason.checks) for reason in reasons(old)) == len(old)
    assert len(reasons(old)) < len(old)


def test_the_capabilities_that_a_version_lacks_are_one_line(run: Run, version: str) -> None:
    about = run.about
    assert about is not None
    lines = lacks_lines(with_fields(about.capabilities, about.lacking))
    if version == "3":
        assert "lacks nfs2, nfs2_hardlink, nfs2_symlink, nfs2_udp (NFSv2 is not served)" in lines
        assert any(line.endswith("(NFSv4 is not served)") and "nfs4_minor2" in line for line in lines)
    assert len(lacks_lines(about.capabilities)) >= len(lines)  # of an earlier version: by texts
    assert Path(str(run.folder), "report.txt").read_text(encoding="utf-8").count("lacks:  ") == len(lines)

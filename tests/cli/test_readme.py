# SPDX-License-Identifier: MIT
"""What the README lists, compared with what there is."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from nfsclient.errors import UrlError
from nfsclient.url import NfsUrl
from nfsserver import KNOBS
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_all_parameters_of_urls_are_in_the_table() -> None:
    with pytest.raises(UrlError) as caught:
        NfsUrl.parse("nfs://h/?nonsense=1")
    known = re.split(", ", str(caught.value).partition("parameters ")[2].partition(", saw")[0])
    table = README.partition("| parameter | meaning |")[2].partition("\n\n")[0]
    listed = {name for row in table.splitlines() for name in re.findall(r"`(\w+)=", row.split(" | ")[0])}
    assert listed == set(known)


def quick_start() -> str:
    """The section that somebody reads first."""
    return README.partition("## Quick start\n")[2].partition("\n## ")[0]


def test_ci_runs_the_commands_of_the_quick_start_before_it_installs_anything() -> None:
    """What has the address of a server cannot be run; everything else in a checkout is."""
    listed = subprocess.run(
        [ROOT / ".ci/quick-start"], capture_output=True, text=True, timeout=AT_MOST, check=True
    ).stdout.splitlines()
    assert listed == ["bin/nfsproof run", "bin/nfsproof selftest"]
    shown = re.findall(r"^    (bin/nfsproof.*?) *(?:#.*)?$", quick_start(), re.MULTILINE)
    assert [command for command in shown if command not in listed] == ["bin/nfsproof run nfs://host/export"]
    steps = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert 0 < steps.index(".ci/quick-start") < steps.index("pip install") < steps.index('step "lint"')


def test_a_command_that_is_not_in_the_quick_start_is_refused(tmp_path: Path) -> None:
    command = [str(ROOT / ".ci/quick-start"), str(tmp_path / "new"), "bin/nfsproof run nfs://host/export"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=AT_MOST, check=False)
    assert done.returncode == 4
    assert "is not in the Quick start of README.md" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_there_are_as_many_knobs_as_it_says() -> None:
    assert "more than fifty such choices" in README
    assert len(KNOBS) > 50

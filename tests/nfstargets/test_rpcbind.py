# SPDX-License-Identifier: MIT
"""The checks of portmap and rpcbind against rpcbind of this machine, in separate namespaces."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.needs import needs
from tests.waiting import AT_MOST

INSIDE = Path(__file__).with_name("rpcbind_inside.py")
HOME = Path(__file__).parents[2]
UNSHARE = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
PASSES_CALLS_ON = "-r"


def _why_not() -> str:
    tried = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True, check=False)
    return tried.stderr.strip()


@needs("rpcbind", "unshare", "ip")
def test_the_checks_hold_rpcbind_for_right(tmp_path: Path) -> None:
    if reason := _why_not():
        pytest.skip(reason)
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    command = [*UNSHARE, sys.executable, str(INSIDE), str(tmp_path / "report"), PASSES_CALLS_ON]
    run = subprocess.run(
        command, cwd=HOME, env=environment, capture_output=True, text=True, timeout=AT_MOST, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    passed = int(run.stdout.rpartition(" passed")[0].split()[-1])
    assert passed >= 110, run.stdout

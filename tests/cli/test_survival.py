# SPDX-License-Identifier: MIT
"""What `rpc/survival` says of servers that stop to serve: for good, or for as long as one client keeps them busy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfsjudge.records import CheckRecord, read_records
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
_RUN = (sys.executable, "-m", "nfsproof", "run", "-q")
SLOW = "rpc/connections/slow-clients[nothing]"
BROKEN = "rpc/garbage/stream[half-mark]"
TRUNCATED = "rpc/garbage/message[three-bytes]"


@pytest.fixture
def bent(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a server that is bent by the mutant that is the parameter."""
    with subprocess.Popen(
        [sys.executable, "-m", "nfsproof", "serve", "--port", "0", "--mutant", request.param],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        assert server.stdout is not None
        yield server.stdout.readline().split()[1]
        server.terminate()


@pytest.mark.parametrize(
    ("bent", "check", "verdict"),
    [
        pytest.param("rpc-partial-records-keep-their-slots", SLOW, "FAIL", id="slots-are-lost"),
        pytest.param("rpc-restarts-after-broken-messages", TRUNCATED, "FAIL", id="restarted"),
        pytest.param("rpc-stops-after-broken-streams", BROKEN, "FAIL", id="dead"),
    ],
    indirect=["bent"],
)
def test_only_what_stays_unserved_is_a_failure(bent: str, check: str, verdict: str, tmp_path: Path) -> None:
    # RFC 1831 section 3 asks for no model of concurrency; it does have a server await the next call.
    subprocess.run(
        [*_RUN, bent, check, f"--report={tmp_path / 'report'}", "--call-timeout=2", "--restart-timeout=1"],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=AT_MOST, check=False,
    )  # fmt: skip
    with (tmp_path / "report" / "records.jsonl").open() as lines:
        found = [record for record in read_records(lines) if isinstance(record, CheckRecord)]
    assert [(record.id, record.verdict) for record in found] == [(check, verdict)]

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
SLOW = "rpc/connections/slow-clients[nothing]"
BROKEN = "rpc/garbage/stream[half-mark]"
TRUNCATED = "rpc/garbage/message[three-bytes]"
ONE_CLIENT_AT_A_TIME = """
from nfsclient.rpc.loop import Loop
from nfsserver import Server
from nfsserver.transport import TransportMiddleware

class Serial(TransportMiddleware):
    def admits(self, peer):
        server._rpc.is_starved = True  # until a connection is closed
        return True

class Middleware:
    def around_calls(self, operation):
        return ()
    def around_messages(self):
        return ()
    def below_messages(self):
        return [serial]

loop, server, serial = Loop(), Server(), Serial()
server.surround(Middleware())
server.listen(loop)
print("serving", server.url, flush=True)
loop.run_until(lambda: False, float("inf"))
"""


@pytest.fixture
def bent(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a server that is bent by the parameter, a mutant or a program."""
    mutant = ["-m", "nfsproof", "serve", "--port", "0", "--mutant", request.param]
    with subprocess.Popen(
        [sys.executable, *(["-c", request.param] if "\n" in request.param else mutant)],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        assert server.stdout is not None
        yield server.stdout.readline().split()[1]
        server.terminate()


@pytest.mark.parametrize(
    ("bent", "check", "verdict"),
    [
        pytest.param(ONE_CLIENT_AT_A_TIME, SLOW, "PASS", id="one-client-at-a-time"),
        pytest.param("rpc-partial-records-keep-their-slots", SLOW, "FAIL", id="slots-are-lost"),
        pytest.param("rpc-restarts-after-broken-messages", TRUNCATED, "FAIL", id="restarted"),
        pytest.param("rpc-stops-after-broken-streams", BROKEN, "FAIL", id="dead"),
    ],
    indirect=["bent"],
)
def test_only_what_stays_unserved_is_a_failure(bent: str, check: str, verdict: str, tmp_path: Path) -> None:
    # RFC 1831 section 3 asks for no model of concurrency; it does have a server await the next call.
    subprocess.run(
        [sys.executable, "-m", "nfsproof", "run", bent, check, f"--report={tmp_path / 'report'}", "-q"],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=AT_MOST, check=False,
    )  # fmt: skip
    with (tmp_path / "report" / "records.jsonl").open() as lines:
        found = [one for one in read_records(lines) if isinstance(one, CheckRecord)]
    assert [(one.id, one.verdict) for one in found] == [(check, verdict)]

# SPDX-License-Identifier: MIT
"""The example of docs/target-file.md with a power switch: HTTP takes the power from a server and gives it back."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from nfstargets.control import ControlledTarget, parse_controls
from nfstargets.control.trial import Trial
from nfstargets.diagnosis.report import Outcome
from tests.needs import needs
from tests.nfstargets.controlled_server import command, controlled
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "target-file.md"
pytestmark = needs("curl")

ACTIONS = {"/relay/0?turn=off": ("crash", "stop"), "/relay/0?turn=on": ("start",)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "control"
    place.mkdir()
    return place


@pytest.fixture
def switch(folder: Path) -> Iterator[str]:
    """The address of a relay that a server hangs on."""

    class Relay(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            actions = ACTIONS.get(self.path)
            for action in actions or ():
                subprocess.run(["/bin/sh", "-c", command(folder, action)], check=True, timeout=AT_MOST)
            self.send_response(HTTPStatus.OK if actions else HTTPStatus.NOT_FOUND)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def _crash_by(address: str) -> str:
    """The command of the example, for a switch at another address and without the pause."""
    lines = [line for line in DOCS.read_text().splitlines() if line.startswith("crash") and "relay" in line]
    text = lines[0].partition('"')[2].rpartition('"')[0]
    return (
        text.replace("\\'", "'").replace("http://switch/", f"http://{address}/").replace("sleep 5", "sleep 0")
    )


def test_the_example_with_a_power_switch_crashes_a_server(folder: Path, switch: str) -> None:
    with controlled(folder) as url:
        controls = parse_controls([f"crash={_crash_by(switch)}"])
        target = ControlledTarget(url, controls)
        target.start()
        steps = {step.name: step for step in Trial(target, controls).steps()}
        target.stop()
    assert steps["crash"].outcome is Outcome.OK, steps["crash"]
    assert "the server went down and lost data that was UNSTABLE" in steps["crash"].seen


def test_a_switch_that_refuses_is_a_failed_control(folder: Path, switch: str) -> None:
    with controlled(folder) as url:
        controls = parse_controls([f"crash={_crash_by(switch).replace('relay/0', 'relay/9')}"])
        target = ControlledTarget(url, controls)
        target.start()
        steps = {step.name: step for step in Trial(target, controls).steps()}
        target.stop()
    assert steps["crash"].outcome is Outcome.FAILED
    assert "404" in " ".join(steps["crash"].output)

# SPDX-License-Identifier: MIT
"""What the embedded server counts of its clients: the same as the client that made the calls."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from nfsclient.rpc.loop import Loop
from nfsproof import workloading
from nfsproof.exits import Trouble
from nfsserver.counting import Counts, CountsPort, count
from nfsserver.server import Server
from tests.workloads.rig import run
from workloads.served import ask_counts
from workloads.trouble import Stopped


@pytest.mark.parametrize(("version", "policy"), [("2", "v2-like"), ("3", "v3-like"), ("4.1", "delegated")])
def test_counts_are_those_of_the_client(version: str, policy: str) -> None:
    made: list[Counts] = []

    def prepare(server: Server) -> None:
        made.append(count(server)[0])

    result = run("find", version=version, policy=policy, prepare=prepare)
    (counts,) = made
    assert Counter(result.phases[0].calls) - counts.calls == Counter()
    assert counts.call_bytes > result.phases[0].sent
    assert counts.reply_bytes > result.phases[0].received


def test_each_call_counts_once() -> None:
    made: list[Counts] = []
    result = run("write10", prepare=lambda server: made.append(count(server)[0]))
    assert {name: made[0].calls[name] for name in ("WRITE", "COMMIT", "CREATE")} == result.phases[0].calls


@contextmanager
def _answering(line: bytes) -> Iterator[str]:
    """A port that tells something."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def tell() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(line)

        teller = threading.Thread(target=tell)
        teller.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        teller.join()


def test_the_port_tells_the_counts() -> None:
    counts = Counts()
    counts.calls.update({"READ": 3, "WRITE": 4})
    counts.call_bytes, counts.reply_bytes = 700, 300
    with closing(Loop()) as loop, closing(CountsPort(counts, loop, "127.0.0.1", 0)) as port:
        stop = threading.Event()

        def serve() -> None:
            while not stop.is_set():
                loop.run_once(loop.clock() + 0.05)

        server = threading.Thread(target=serve)
        server.start()
        try:
            seen = ask_counts(f"127.0.0.1:{port.address[1]}")
        finally:
            stop.set()
            server.join()
    assert (seen.calls, seen.sent, seen.received) == ({"READ": 3, "WRITE": 4}, 700, 300)
    with pytest.raises(Stopped, match="the counts of the server at"):
        ask_counts(f"127.0.0.1:{port.address[1]}")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"HTTP/1.0 400 Bad Request\r\n",
        b"[1]",
        b'{"calls": {}, "call_bytes": -1, "reply_bytes": 0}',
        b'{"calls": {"READ": true}, "call_bytes": 1, "reply_bytes": 0}',
        b'{"calls": {"<script>": 1}, "call_bytes": 1, "reply_bytes": 0}',
        b"[" * 70_000,
        b'"\xff"',
    ],
)
def test_what_tells_no_counts_is_refused(line: bytes) -> None:
    with _answering(line) as where, pytest.raises(Stopped, match="counts"):
        ask_counts(where)


def test_a_run_asks_before_it_makes_anything(tmp_path: Path) -> None:
    with _answering(b"hello") as where:
        wish = workloading.Wish(workload="write10", mount=str(tmp_path), counts=where)
        with pytest.raises(Trouble, match="expected the counts of nfsproof serve --counts"):
            workloading.run(wish, say=lambda _line: None)
    assert list(tmp_path.iterdir()) == []


def test_serve_counts_the_calls_of_any_client() -> None:
    words = [sys.executable, "-m", "nfsproof", "serve", "--port", "0", "--counts", "0"]
    with subprocess.Popen(words, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        said = {}
        for line in lines:
            name, _, rest = line.strip().partition(" ")
            said[name] = rest
            if name == "press":
                break
        where = said["counts:"]
        before = ask_counts(where)
        wish = workloading.Wish(
            workload="write10", target=said["serving"], parameters={"size": "64k"}, policy="raw"
        )
        outcome = workloading.run(wish, say=lambda _line: None)
        after = ask_counts(where).since(before)
        process.send_signal(signal.SIGINT)
        printed = list(lines)
    assert process.returncode == 0
    made = outcome.result.phases[0].calls
    assert {name: after.calls[name] for name in made} == made
    assert any(line.split() == [str(made["WRITE"]), "WRITE"] for line in printed)
    assert "calls in all" in printed[-1]

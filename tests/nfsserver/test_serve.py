# SPDX-License-Identifier: MIT
"""A server process, stopped by signals, and a foreign client (libnfs-utils)."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import typing as t
from contextlib import contextmanager
from pathlib import Path

import pytest

from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl
from nfsserver import Server
from nfsserver.serve import run_until_stopped, serve
from tests.needs import need
from tests.waiting import AT_MOST

if t.TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = """
from nfsclient.rpc.loop import Loop
from nfsserver import Server
from nfsserver.serve import serve
serve(Server(), Loop(), announce=lambda server: print(server.url, flush=True))
print("stopped", flush=True)
"""


@contextmanager
def served() -> Iterator[tuple[subprocess.Popen[str], NfsUrl]]:
    """A server process and its URL."""
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=root, stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stdout is not None
            yield child, NfsUrl.parse(child.stdout.readline().strip())
        finally:
            if child.poll() is None:
                child.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_stop_in_order(number: signal.Signals) -> None:
    with served() as (child, _):
        child.send_signal(number)
        rest, _ = child.communicate(timeout=AT_MOST)
        assert rest == "stopped\n"
        assert child.returncode == 0


def test_predicate_stops_and_handlers_come_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    loop = Loop()
    server = Server()
    announced: list[str] = []
    serve(server, loop, announce=lambda each: announced.append(each.url), stop=lambda: bool(announced))
    assert NfsUrl.parse(announced[0]).nfs_port
    assert signal.getsignal(signal.SIGTERM) is before
    with pytest.raises(RuntimeError):
        server.url  # noqa: B018  (closed)
    loop.close()


def test_own_signal_stops_the_loop() -> None:
    loop = Loop()
    signalled: list[bool] = []

    def stop() -> bool:
        if not signalled:
            signalled.append(True)
            signal.raise_signal(signal.SIGTERM)
        return False

    run_until_stopped(loop, stop)
    loop.close()


def _libnfs(program: str, *arguments: str) -> bytes:
    need(program)
    done = subprocess.run([program, *arguments], capture_output=True, timeout=AT_MOST, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_libnfs_copies_there_and_back(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(random.Random(1).randbytes(3_000_001))
    with served() as (_, url):
        query = f"version=3&nfsport={url.nfs_port}&mountport={url.mountport}"
        remote = f"nfs://{url.host}/export/copy?{query}"
        _libnfs("nfs-cp", str(source), remote)
        assert _libnfs("nfs-cat", remote) == source.read_bytes()
        back = tmp_path / "back"
        _libnfs("nfs-cp", remote, str(back))
        assert back.read_bytes() == source.read_bytes()
        listing = _libnfs("nfs-ls", f"nfs://{url.host}/export?{query}").decode()
        (line,) = [line for line in listing.splitlines() if line.endswith(" copy")]
        assert line.startswith("-rw")
        assert " 3000001 " in line

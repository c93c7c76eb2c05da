# SPDX-License-Identifier: MIT
"""`nfsproof proxy` in a separate process: it carries a plan out, shows and writes what passed, and stops cleanly."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import nfsclient
from nfsclient.errors import NfsClientError
from nfsclient.url import NfsUrl
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from nfsproof.proxying import calibrating, running
from nfsproof.proxying.running import CannotProxy
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
LOST = '[[rule]]\nname = "lost"\non = "reply"\nversion = 3\nprocedure = "ACCESS"\nnth = 2\ndo = "drop"\n'
NEVER = '[[rule]]\nname = "unused"\nprocedure = "MKNOD"\ndo = "drop"\n'
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts commands of nfsproof; the test's end kills what is left."""
    started: list[subprocess.Popen[str]] = []

    def begin(*words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "nfsproof", *words],
            env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb", "COLUMNS": "100"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def served(start: Start, *words: str) -> str:
    process = start("serve", "--port", "0", *words)
    assert process.stdout is not None
    return process.stdout.readline().split()[1]


def proxied(start: Start, *words: str) -> tuple[subprocess.Popen[str], dict[str, str]]:
    """The process, and the lines before the last of its head: word before the colon -> rest."""
    process = start("proxy", *words)
    assert process.stdout is not None
    head: list[str] = []
    for line in process.stdout:
        head.append(line)
        if "Ctrl-C" in line:
            break
    assert head, process.communicate()[1]
    found = dict(line.strip().split(": ", 1) for line in head if ": " in line)
    return process, found


def stopped(process: subprocess.Popen[str], number: int = signal.SIGINT) -> tuple[int, str]:
    process.send_signal(number)
    text, error = process.communicate(timeout=AT_MOST)
    assert error == ""
    return process.returncode, text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_a_plan_is_carried_out_and_reported(start: Start, tmp_path: Path, number: int) -> None:
    plan, capture = tmp_path / "plan.toml", tmp_path / "both.pcapng"
    plan.write_text("seed = 11\n" + LOST + NEVER)
    url = served(start)
    words = ["--to", url, "--plan", str(plan), "--capture", str(capture), "--lint", "--rpcbind", "0"]
    proxy, head = proxied(start, *words)
    assert head["seed"] == "11"
    ask = NfsUrl.parse(head["for clients"])
    assert ask.nfs_port != NfsUrl.parse(url).nfs_port
    with nfsclient.connect(str(ask)) as nfs:
        nfs.write_file("f", b"data")
        assert nfs.read_file("f") == b"data"
    status, text = stopped(proxy, number)
    assert status == 0, text
    assert "nfs version 3 WRITE" in text
    assert "never acted: unused" in text
    assert "rules broken: none" in text
    assert run_command_line(["lint", str(capture)]) == Exit.OK


def test_a_firing_is_a_line(start: Start, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(LOST.replace('"drop"', '{ action = "duplicate" }').replace("ACCESS", "GETATTR"))
    proxy, head = proxied(start, "--to", served(start), "--plan", str(plan))
    with nfsclient.connect(head["for clients"]) as nfs:
        for _ in range(3):
            nfs.stat("")
    status, text = stopped(proxy)
    assert status == 0
    assert "lost: GETATTR reply, xid 0x" in text
    assert "never acted" not in text


def test_a_server_that_breaks_rules_is_red(start: Start) -> None:
    url = served(start, "--mutant", "read3-count-echoes-request")
    proxy, head = proxied(start, "--to", url, "--lint")
    with nfsclient.connect(head["for clients"]) as nfs:
        nfs.write_file("f", b"data")
        with contextlib.suppress(NfsClientError, OSError):
            nfs.read_file("f")
    status, text = stopped(proxy)
    assert (status, "FAIL" in text) == (1, True), text


def as_v4(url: str) -> str:
    """The URL, for NFSv4.1."""
    return f"{url}{'&' if '?' in url else '?'}version=4.1"


@pytest.mark.parametrize("mutant", ["", "write4-reports-more-than-sent", "createsession4-doubles-sizes"])
def test_nfsv4_is_judged_with_its_callbacks(start: Start, tmp_path: Path, mutant: str) -> None:
    url, capture = served(start, *(["--mutant", mutant] if mutant else [])), tmp_path / "x.pcapng"
    proxy, head = proxied(start, "--to", url, "--lint", "--capture", str(capture))
    with nfsclient.connect(as_v4(head["for clients"])) as nfs, contextlib.suppress(NfsClientError, OSError):
        nfs.write_file("f", b"data")
        nfs.read_file("f")
    status, text = stopped(proxy)
    is_wrong = bool(mutant)
    assert status == int(is_wrong), text
    expected = {"": "rules broken: none", "write4-reports-more-than-sent": "lint/nfs4/write-count"}
    assert expected.get(mutant, "lint/nfs4/session-sizes") in text
    assert "not judged" not in text
    assert run_command_line(["lint", str(capture)]) == int(is_wrong)


def test_a_server_that_goes_is_one_line(start: Start) -> None:
    server = start("serve", "--port", "0")
    assert server.stdout is not None
    url = server.stdout.readline().split()[1]
    port = NfsUrl.parse(url).nfs_port
    proxy, head = proxied(start, "--to", url)
    server.kill()
    server.wait()
    listening = NfsUrl.parse(head["for clients"]).nfs_port
    assert listening is not None
    with socket.create_connection(("127.0.0.1", listening), AT_MOST) as sock:
        assert sock.recv(1) == b""
    status, text = stopped(proxy)
    assert status == 0
    assert f"connection 1: cannot connect to 127.0.0.1 port {port}" in text


def refused(*words: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert run_command_line(["proxy", *words]) == Exit.USAGE
    return capsys.readouterr().err


def closed_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('[[rule]]\nprocedure = "REED"\ndo = "drop"\n')
    port = closed_port()
    to = ["--to", f"127.0.0.1:{port}"]
    assert f"{plan}:2: procedure: unknown procedure" in refused(*to, "--plan", str(plan), capsys=capsys)
    assert "cannot read" in refused(*to, "--plan", str(tmp_path / "none"), capsys=capsys)
    assert f"cannot connect to 127.0.0.1 port {port}: Connection refused" in refused(*to, capsys=capsys)
    assert "Missing option '--to'" in refused(capsys=capsys)
    assert "expected any, same or a port" in refused(*to, "--source-port", "x", capsys=capsys)
    assert "--listen: expected HOST:PORT" in refused(*to, "--listen", "here", capsys=capsys)
    assert "--to: " in refused("--to", "nfs:///x", capsys=capsys)


def test_a_port_in_use_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        text = refused("--to", f"127.0.0.1:{port}", "--listen", f"127.0.0.1:{port}", capsys=capsys)
    assert f"cannot listen on 127.0.0.1 port {port} for NFS: Address already in use" in text


def test_addresses() -> None:
    assert running.address_of("[::1]:2049", "--to") == ("::1", 2049)
    assert running.address_of("host:0", "--to") == ("host", 0)
    for text in ("::1:2049", "host", "host:", "host:99999", ":1"):
        with pytest.raises(CannotProxy):
            running.address_of(text, "--to")


def test_calibration() -> None:
    lines = list(calibrating.lines(calls=2))
    rows = [line.split() for line in lines if line.startswith(("tcp", "udp"))]
    assert len(rows) == 2 * len(calibrating.DELAYS)
    assert all(float(median) >= float(asked) for _, asked, median, *_ in rows)

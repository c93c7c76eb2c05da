# SPDX-License-Identifier: MIT
"""`nfsproof serve` in a separate process: it answers, uses its mutants, and stops cleanly."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from nfsclient.clients import Nfs3
from nfsclient.rpc.blocking import connect_tcp
from nfsclient.url import NfsUrl
from nfsmutants import all_mutants
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from nfsproof.proofs import broken_clauses
from nfsserver import KNOBS
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
Serve = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts `nfsproof serve`; the test's end kills what is left."""
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "nfsproof", "serve", "--port", "0", *words],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def url_of(process: subprocess.Popen[str]) -> NfsUrl:
    """The URL in the first line that it prints."""
    assert process.stdout is not None
    return NfsUrl.parse(process.stdout.readline().split()[1])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_it_answers_and_ends_in_order(number: signal.Signals, serve: Serve) -> None:
    process = serve()
    url = url_of(process)
    assert url.nfs_port is not None
    with closing(connect_tcp(url.host, url.nfs_port)) as rpc:
        Nfs3(rpc).null()
    process.send_signal(number)
    assert process.wait(timeout=AT_MOST) == 0
    assert process.stdout is not None
    assert process.stderr is not None
    text = process.stdout.read()
    assert f"portmap and rpcbind: port {url.nfs_port} of the same address\n" in text
    assert f"mount -t nfs -o vers=4.2,port={url.nfs_port} 127.0.0.1:/export /mnt\n" in text
    assert f"bin/nfsproof run '{replace(url, rpcbindport=url.nfs_port)}'" in text
    assert process.stderr.read() == ""


def test_it_says_how_it_is_bent(serve: Serve) -> None:
    process = serve("--mutant", "write3-reports-more-than-sent", "--export", "/a b")
    assert url_of(process).path == b"/a b"
    assert process.stdout is not None
    assert process.stdout.readline() == "mutants: write3-reports-more-than-sent\n"


@pytest.mark.parametrize("option", ["--knob", "--set"])
def test_a_knob_is_set_by_the_option_of_run_and_by_its_old_name(option: str, serve: Serve) -> None:
    process = serve(option, "write_accepts=100")
    url_of(process)
    assert process.stdout is not None
    assert process.stdout.readline() == "knobs: write_accepts=100\n"


def test_every_mutant_is_listed_with_its_clause(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["serve", "--list-mutants"]) == Exit.OK
    out = capsys.readouterr().out
    clauses = broken_clauses()
    assert all(
        f"{mutant.name}\n    {mutant.gist} ({' and '.join(clauses[mutant.name])})\n" in out
        for mutant in all_mutants()
    )
    assert (
        "(RFC 1813 section 3.3.7)" in out.partition("\nwrite3-reports-more-than-sent\n")[2].partition("\n")[0]
    )


def test_every_knob_is_listed_with_its_clause(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["serve", "--list-knobs"]) == Exit.OK
    out = capsys.readouterr().out
    assert all(
        f"{knob.name}={knob.usual}\n    {knob.meaning} ({knob.cites[0]}" in out for knob in KNOBS.values()
    )


def test_a_taken_port_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert run_command_line(["serve", "--port", str(port)]) == Exit.USAGE
    assert f"port {port}" in capsys.readouterr().err


def test_a_host_without_an_address_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["serve", "--host", "no such host"]) == Exit.USAGE
    assert "is it an address of this machine?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--mutant", "x"], "--list-mutants"),
        (["--export", "x"], "/export"),
        (["--port", "99999"], "not in the range 0<=x<=65535"),
        (["--knob", "x=1"], "--list-knobs"),
        (
            ["--knob", "write_accepts=few"],
            "write_accepts is a whole number of at least 1, or none, not 'few'",
        ),
    ],
    ids=["mutant", "export", "port", "knob", "value"],
)
def test_wrong_words_end_with_a_hint(words: list[str], hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["serve", *words]) == Exit.USAGE
    assert hint in capsys.readouterr().err

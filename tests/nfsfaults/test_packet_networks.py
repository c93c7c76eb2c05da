# SPDX-License-Identifier: MIT
"""The private networks: what they need, and that nothing of them is left."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import typing as t
from pathlib import Path

import pytest

from nfsfaults.bridge import keeper
from nfsfaults.bridge.networks import Networks, NoNetworks
from tests.needs import needs

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
from nfsfaults.bridge.networks import Networks
networks = Networks()
print(networks.process, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def networks() -> t.Iterator[Networks]:
    try:
        made = Networks()
    except NoNetworks as error:
        pytest.skip(str(error))
    yield made
    made.close()


def test_the_host_has_none_of_their_devices(networks: Networks) -> None:
    names = {name for _, name in socket.if_nameindex()}
    assert not {"client", "server"} & names
    with networks.socket_on("server", "tcp", 2049, listens=True) as there, socket.socket() as here:
        here.bind(("", 0))
        assert there.getsockname() == ("0.0.0.0", 2049)


def test_sides_are_apart(networks: Networks) -> None:
    with networks.socket_on("server", "tcp", 2049), networks.socket_on("client", "tcp", 2049) as other:
        assert other.getsockname()[1] == 2049
    with networks.socket_on("client", "udp", 700) as low:  # a private port needs no privilege of the machine
        assert low.getsockname()[1] == 700


def test_one_program_is_started_for_all(networks: Networks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks made one after another, or at once, are apart and have processes of one program."""
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("another program is started"))
    others = [Networks(), Networks()]
    assert len({networks.process, *(other.process for other in others)}) == 3
    for made in (networks, *others):
        with made.socket_on("server", "tcp", 2049, listens=True) as sock:
            assert sock.getsockname()[1] == 2049
    for made in others:
        made.close()
        _wait_until_gone(made.process)
    assert _is_there(networks.process)


def test_a_program_that_was_killed_is_started_again(networks: Networks) -> None:
    parent = int(Path(f"/proc/{networks.process}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(parent, signal.SIGKILL)
    _wait_until_gone(parent)
    again = Networks()
    with again.socket_on("server", "tcp", 2049), networks.socket_on("server", "tcp", 2049):
        pass
    again.close()


def _is_there(pid: int) -> bool:
    """Whether a process runs: one that has ended and is not yet reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + 20
    while _is_there(pid):
        assert time.monotonic() < deadline, "it is still there"
        time.sleep(0.01)


def test_a_port_that_is_taken_is_an_error(networks: Networks) -> None:
    with networks.socket_on("server", "tcp", 2049, listens=True), pytest.raises(OSError, match="in use"):
        networks.socket_on("server", "tcp", 2049, listens=True)
    with networks.socket_on("server", "tcp", 2050) as made:  # and the line goes on
        assert made.getsockname()[1] == 2050


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name
)
def test_nothing_is_left_after_a_signal(networks: Networks, number: signal.Signals) -> None:
    """Ctrl-C goes to both processes; the others end the one, and the other ends with it."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    if number is signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    process.communicate(timeout=20)
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}/cmdline").exists() and "keeper" in Path(f"/proc/{pid}/cmdline").read_text():
        assert time.monotonic() < deadline, "the keeper is still there"
        time.sleep(0.05)


@needs("setpriv")
def test_a_user_without_privilege_has_them_too(networks: Networks) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root has a privilege to give up")
    without = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", sys.executable, "-c", PROGRAM]
    done = subprocess.run(without, input="", capture_output=True, text=True, cwd=ROOT, check=False)
    if "NoNetworks" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr


def test_a_refusal_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: t.Any, **__: t.Any) -> t.NoReturn:
        raise PermissionError(1, "unshare: Operation not permitted")

    monkeypatch.setattr(keeper._Networks, "__init__", refuse)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        keeper.serve(theirs, keeper.Place())
        answer = json.loads(ours.recv(4096))
    assert "unshare: Operation not permitted" in answer["error"]
    monkeypatch.setattr(Networks, "_receive", lambda *_: _fail(answer["error"]))
    with pytest.raises(NoNetworks) as refused:
        Networks()
    assert "\n" not in str(refused.value)
    assert "needs root, or a kernel and a container that let users make" in str(refused.value)


def _fail(text: str) -> t.NoReturn:
    raise OSError(text)

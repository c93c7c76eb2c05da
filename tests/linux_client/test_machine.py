# SPDX-License-Identifier: MIT
"""The guest itself: programs, files, refusals, and its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nfstargets.knfsd.client import ClientGone, ClientRefused, LinuxClient
from tests.nfstargets.test_kept_server import alive, await_that
from tests.nfstargets.test_knfsd_machine import descendants

HOME = Path(__file__).parents[2]


def test_files_and_programs(guest: LinuxClient) -> None:
    data = bytes(range(256)) * 300
    guest.write_file("/tmp/f", data)
    assert guest.read_file("/tmp/f") == data
    done = guest.run("sh", "-c", "wc -c <f; id -u; id -G; exit 5", folder="/tmp", user=7, group=8)
    assert (done.text.split(), done.status, done.how()) == (["76800", "7", "8"], 5, "exit status 5")
    guest.write_file("/tmp/f", b"")
    assert guest.read_file("/tmp/f") == b""
    assert guest.python("import sys; print(sys.argv[1])", "x" * 10_000) == "x" * 10_000 + "\n"


def test_what_the_guest_refuses_is_reported(guest: LinuxClient) -> None:
    with pytest.raises(ClientRefused, match="begin in the guest: GuestError: no-such-program"):
        guest.run("no-such-program")
    # Nobody listens there.
    with pytest.raises(ClientRefused, match=r"mount in the guest: .*refused"):
        guest.mount(f"{guest.gateway}:/export", "/run/none", options={"port": 9, "mountport": 9, "retry": 0})
    with pytest.raises(ClientRefused, match="umount in the guest"):
        guest.umount("/run/none")
    with pytest.raises(ClientRefused, match="FileNotFoundError"):
        guest.read_file("/nowhere/f")


def test_a_machine_that_ended_is_reported_with_its_console(guest: LinuxClient) -> None:
    with LinuxClient(number=2, joins=guest) as other:
        assert other.run("busybox", "ping", "-c", "1", other.gateway).status == 0
        server = other._running()
        server._tell(do="signal", number=int(signal.SIGKILL))
        with pytest.raises(ClientGone, match=r"the Linux client ended \(begin\); its console:\n(.*\n)+"):
            other.run("true")
    assert not server.scratch.exists()


def test_nothing_is_left_when_the_run_was_killed(guest: LinuxClient) -> None:
    assert guest.kernel
    program = (
        "import signal\n"
        "from nfstargets.knfsd.client import LinuxClient\n"
        "one = LinuxClient()\n"
        "one.start()\n"
        "two = LinuxClient(number=1, joins=one)\n"
        "two.start()\n"
        "for client in (one, two):\n"
        "    print(client._running().keeper_pid, client._running().scratch, flush=True)\n"
        "signal.pause()\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(HOME)},
    )
    assert run.stdout is not None
    printed = [run.stdout.readline().split() for _ in range(2)]
    below = {int(keeper) for keeper, _ in printed}
    below |= {pid for keeper in list(below) for pid in descendants(keeper)}
    assert len(below) > 6
    run.kill()
    run.wait()
    run.stdout.close()
    assert await_that(lambda: not any(alive(pid) for pid in below))
    assert await_that(lambda: not any(Path(scratch).exists() for _, scratch in printed))

# SPDX-License-Identifier: MIT
"""What the kernel's client of NFSv4 holds at the server: locks, delegations, open files; over a crash, too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nfsserver import Server
from nfstargets.knfsd.client import LinuxClient
from tests.linux_client.conftest import Mounted

HOLD = """
import fcntl, os, sys, time
file = open("locked", "r+b")
fcntl.lockf(file, fcntl.LOCK_EX, 10, 5)
open("/tmp/held", "w").close()
while os.path.exists("/tmp/held"):
    time.sleep(0.1)
print(file.read())
"""
TRY = """
import fcntl
file = open("locked", "r+b")
for start in (0, 4, 5, 14, 15):
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, start)
        print(start, "free")
    except OSError:
        print(start, "denied")
"""
TRIED = "0 free\n4 free\n5 denied\n14 denied\n15 free\n"

FLOCK = """
import fcntl, os, sys, time
file = open("locked", "r+b")
fcntl.flock(file, getattr(fcntl, sys.argv[1]))
open("/tmp/held", "w").close()
while os.path.exists("/tmp/held"):
    time.sleep(0.1)
"""
TRY_FLOCK = """
import fcntl
file = open("locked", "r+b")
for kind in ("LOCK_SH", "LOCK_EX"):
    try:
        fcntl.flock(file, getattr(fcntl, kind) | fcntl.LOCK_NB)
        print(kind, "free")
    except OSError:
        print(kind, "denied")
"""


@pytest.fixture
def pair(
    guest: LinuxClient, second_guest: LinuxClient, mount: Callable[..., Mounted]
) -> tuple[Mounted, Mounted]:
    """The export in both guests, with NFSv4.2."""
    return mount(guest, "4.2"), mount(second_guest, "4.2")


@pytest.mark.parametrize("how", [None, Server.crash], ids=["kept", "crash"])
def test_a_lock_keeps_the_other_machine_out(
    pair: tuple[Mounted, Mounted], how: Callable[[Server], None] | None
) -> None:
    """It is reclaimed after a crash: in the grace period the other machine waits."""
    first, other = pair
    first.sh("rm -f /tmp/held; printf contents >locked; sync")
    running = first.guest.begin("python3", "-c", HOLD, folder=first.point)
    first.sh("while ! test -e /tmp/held; do sleep 0.1; done")
    assert other.python(TRY) == TRIED
    if how is not None:
        first.served.do(how)
        first.sh("ls")  # the client learns of the restart
        assert other.python(TRY, seconds=200) == TRIED
    first.sh("rm /tmp/held")
    assert first.guest.finish(running, seconds=120).check().text == "b'contents'\n"
    assert other.python(TRY) == TRIED.replace("denied", "free")


@pytest.mark.parametrize(("kind", "shared"), [("LOCK_SH", "free"), ("LOCK_EX", "denied")])
def test_flock_keeps_the_other_machine_out(pair: tuple[Mounted, Mounted], kind: str, shared: str) -> None:
    """The client makes it a lock of the whole file, to the end of all offsets."""
    first, other = pair
    first.sh("rm -f /tmp/held; printf contents >locked; sync")
    running = first.guest.begin("python3", "-c", FLOCK, kind, folder=first.point)
    first.sh("while ! test -e /tmp/held; do sleep 0.1; done")
    assert other.python(TRY_FLOCK) == f"LOCK_SH {shared}\nLOCK_EX denied\n"
    first.sh("rm /tmp/held")
    first.guest.finish(running, seconds=120).check()
    assert other.python(TRY_FLOCK) == "LOCK_SH free\nLOCK_EX free\n"


def test_delegations_of_two_machines_are_recalled(pair: tuple[Mounted, Mounted]) -> None:
    """Each reads and writes the same files in turn."""
    first, other = pair
    first.sh("for n in 1 2 3 4 5; do echo start >f$n; done")
    for turn in range(3):
        for here, there in ((first, other), (other, first)):
            here.sh(f"for n in 1 2 3 4 5; do cat f$n >/dev/null; echo {turn} >>f$n; done")
            assert there.sh("cat f1 f5").splitlines()[-1] == str(turn)
    assert first.sh("wc -l <f3") == other.sh("wc -l <f3") == "7\n"


def test_a_file_lives_while_it_is_open(pair: tuple[Mounted, Mounted]) -> None:
    """The other machine removes it."""
    first, other = pair
    first.sh("rm -f /tmp/held; printf contents >locked; sync")
    running = first.guest.begin("python3", "-c", HOLD, folder=first.point)
    first.sh("while ! test -e /tmp/held; do sleep 0.1; done")
    other.sh("rm locked")
    first.sh("rm /tmp/held")
    assert first.guest.finish(running, seconds=120).check().text == "b'contents'\n"
    assert other.sh("ls") == ""


def test_extended_attributes(pair: tuple[Mounted, Mounted]) -> None:
    first, other = pair
    program = """
import os
open("f", "w").close()
os.setxattr("f", "user.name", b"value", os.XATTR_CREATE)
print([one for one in os.listxattr("f") if one.startswith("user.")], os.getxattr("f", "user.name"))
"""
    assert first.python(program) == "['user.name'] b'value'\n"
    assert other.python("import os; print(os.getxattr('f', 'user.name'))") == "b'value'\n"
    other.python("import os; os.removexattr('f', 'user.name')")
    assert (
        first.python("import os; print([one for one in os.listxattr('f') if one.startswith('user.')])")
        == "[]\n"
    )

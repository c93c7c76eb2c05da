# SPDX-License-Identifier: MIT
"""Two machines that mount the same export: what one has closed, the other sees when it opens it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nfstargets.knfsd.client import LinuxClient
from tests.linux_client.conftest import Mounted

Mount = Callable[..., Mounted]


@pytest.fixture
def pair(
    guest: LinuxClient, second_guest: LinuxClient, mount: Mount, version: int | str
) -> tuple[Mounted, Mounted]:
    """The export in both guests."""
    return mount(guest, version), mount(second_guest, version)


@pytest.fixture
def uncached(
    guest: LinuxClient, second_guest: LinuxClient, mount: Mount, version: int | str
) -> tuple[Mounted, Mounted]:
    """The same; neither guest remembers attributes."""
    return mount(guest, version, noac=None), mount(second_guest, version, noac=None)


def test_what_was_closed_is_seen_when_opened(pair: tuple[Mounted, Mounted]) -> None:
    first, other = pair
    for number in range(4):
        text = f"version {number} " * (number + 1)
        first.sh(f"echo '{text}' >f")
        assert other.sh("cat f") == f"{text}\n"
        other.sh(f"echo 'answer {number}' >>f")
        assert first.sh("tail -n 1 f") == f"answer {number}\n"


def test_contents_of_the_same_size_are_seen(pair: tuple[Mounted, Mounted]) -> None:
    first, other = pair
    for number in range(10, 14):
        first.sh(f"echo {number} >f")
        assert other.sh("cat f; stat -c %s f") == f"{number}\n3\n"


def test_names_follow_what_the_other_does(uncached: tuple[Mounted, Mounted]) -> None:
    first, other = uncached
    first.sh("mkdir d; touch d/a d/b")
    assert other.sh("ls d") == "a\nb\n"
    first.sh("mv d/a d/c; rm d/b; mkdir d/sub")
    assert other.sh("ls d; stat d/a 2>/dev/null || echo gone; stat -c %F d/c d/sub") == (
        "c\nsub\ngone\nregular empty file\ndirectory\n"
    )
    other.sh("rmdir d/sub; mv d e")
    assert first.sh("ls; ls e; touch e/f") == "e\nc\n"
    assert other.sh("ls e") == "c\nf\n"


def test_a_file_that_the_other_removed_while_it_is_open(uncached: tuple[Mounted, Mounted]) -> None:
    first, other = uncached
    first.sh("echo contents >f")
    hold = """
import os, time
held = os.open("f", os.O_RDONLY)
os.read(held, 8)
open("ready", "w").close()
while os.path.exists("f"):
    time.sleep(0.1)
try:
    print(f"links: {os.fstat(held).st_nlink}")
except OSError as error:
    print(os.strerror(error.errno))
"""
    running = first.guest.begin("python3", "-c", hold, folder=first.point)
    other.sh("while ! test -e ready; do sleep 0.1; done; rm f")
    # By NFSv4 the server knows that it is open, and keeps it.
    gone = "Stale file handle\n" if first.version == 3 else "links: 0\n"
    assert first.guest.finish(running).check().text == gone


def test_one_of_two_makes_a_file_exclusively(pair: tuple[Mounted, Mounted]) -> None:
    first, other = pair
    program = """
import os
made = 0
for number in range(50):
    try:
        os.close(os.open(f"f{number}", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        made += 1
    except FileExistsError:
        pass
print(made)
"""
    running = first.guest.begin("python3", "-c", program, folder=first.point)
    made = int(other.python(program))
    assert made + int(first.guest.finish(running).check().text) == 50

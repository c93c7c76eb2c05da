# SPDX-License-Identifier: MIT
"""Linux clients, and the embedded server that they mount. Whatever a test does, the lint finds nothing in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from nfsclient import NfsClient
from nfstargets.cache import find_installation
from nfstargets.knfsd.client import ClientUnavailable, Done, LinuxClient
from nfstargets.knfsd.image import KNFSD
from tests.linux_client.served import Served
from tests.linux_client.wire import Wire, caught, read

POINT = "/run/mnt"


@dataclass(frozen=True)
class Mounted:
    """A guest in which the export is mounted. Programs run in the export, and have to succeed."""

    guest: LinuxClient
    served: Served
    point: str = POINT

    def again(self, **options: str | int | None) -> None:
        """Mounts it anew, with further options."""
        self.guest.umount(self.point)
        self.attach(**options)

    def attach(self, **options: str | int | None) -> None:
        """Mounts the export of the server."""
        self.guest.mount(f"{self.served.host}:/export", self.point, options={**self.served.ports, **options})

    def sh(self, script: str, *, seconds: float = 120.0) -> str:
        """A script of the shell; what it prints."""
        return self.run("sh", "-e", "-c", script, seconds=seconds).check().text

    def python(self, program: str, *argv: str, seconds: float = 120.0) -> str:
        """A program in Python; what it prints."""
        return self.guest.python(program, *argv, folder=self.point, seconds=seconds)

    def run(self, *argv: str, seconds: float = 120.0, user: int = 0) -> Done:
        """A program, however it ends."""
        return self.guest.run(*argv, folder=self.point, seconds=seconds, user=user, group=user)


@pytest.fixture(scope="session")
def guests() -> Iterator[list[LinuxClient]]:
    """Two guests in one network."""
    if find_installation(KNFSD) is None:
        pytest.skip("knfsd is not installed")
    with ExitStack() as stack:
        first = LinuxClient()
        try:
            stack.enter_context(first)
        except ClientUnavailable as error:
            pytest.skip(str(error))
        yield [first, stack.enter_context(LinuxClient(number=1, beside=first))]


@pytest.fixture
def wire(guests: list[LinuxClient]) -> Iterator[Wire]:
    """All that passes in the network of the guests, in which the test is meanwhile."""
    with guests[0].visit(), caught() as wire:
        yield wire


@pytest.fixture
def served(guests: list[LinuxClient], wire: Wire, request: pytest.FixtureRequest) -> Iterator[Served]:
    """The embedded server, empty. At the end of the test, nothing in its replies is wrong in the eyes of the lint."""
    with Served(guests[0].gateway) as served:
        yield served
    wire.stop()
    capture = wire.capture()
    if folder := os.environ.get("NFSPROOF_CAPTURES"):
        Path(folder, f"{request.node.name}.pcapng").write_bytes(capture)
    reading = read(capture)
    statistics = reading.statistics
    assert sum(statistics.exchanges.values()) > 10
    assert (statistics.lost, statistics.cut) == (0, 0)
    told = [
        f"{one.severity} {one.rule.id}: {one.breach}" for one in reading.findings if one.severity != "INFO"
    ]
    assert told == []


@pytest.fixture
def mount(guests: list[LinuxClient], served: Served) -> Iterator[Callable[..., Mounted]]:
    """Mounts the export in one of the guests."""
    used: list[LinuxClient] = []

    def mounted(number: int = 0, **options: str | int | None) -> Mounted:
        client = Mounted(guests[number], served)
        client.attach(**options)
        used.append(client.guest)
        return client

    yield mounted
    for guest in used:
        guest.umount(POINT)
        assert guest.alarms() == []


@pytest.fixture
def linux_client(mount: Callable[..., Mounted]) -> Mounted:
    """A guest in which the export of the embedded server is mounted, with NFSv3 over TCP."""
    return mount()


@pytest.fixture
def nfs(served: Served) -> Iterator[NfsClient]:
    """Our library on the same export."""
    with served.client() as client:
        yield client

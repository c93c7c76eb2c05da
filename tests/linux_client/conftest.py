# SPDX-License-Identifier: MIT
"""Linux clients, and the embedded server that they mount. Whatever a test does, the lint finds nothing in it."""

from __future__ import annotations

import os
import typing as t
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fixtures.clients.served import Served
from nfsclient import NfsClient
from nfstargets.cache import find_installation
from nfstargets.knfsd.client import ClientUnavailable, Done, LinuxClient
from nfstargets.knfsd.compiled import KNFSD_V2
from nfstargets.knfsd.image import KNFSD, Product
from tests.linux_client.wire import Wire, caught, read
from tests.needs import need, starting

POINT = "/run/mnt"


@dataclass(frozen=True)
class Mounted:
    """A guest in which the export is mounted. Programs run in the export, and have to succeed."""

    guest: LinuxClient
    served: Served
    version: int | str = 3
    point: str = POINT

    def again(self, **options: str | int | None) -> None:
        """Mounts it again, with further options."""
        self.guest.umount(self.point)
        self.attach("tcp", **options)

    def attach(self, proto: str = "tcp", **options: str | int | None) -> None:
        """Mounts the export of the server."""
        version = self.version
        words: dict[str, str | int | None] = {**self.served.ports, "mountproto": proto}
        if version not in {2, 3}:
            words = {"port": self.served.ports["port"]}
        words |= options
        source = f"{self.served.host}:/export"
        self.guest.mount(source, self.point, version=version, proto=proto, options=words)
        self.served.was_mounted = True

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
def guest() -> Iterator[LinuxClient]:
    """A guest, on whose network the server is. NFSPROOF_CLIENT_KERNEL=v2: with the kernel that has NFSv2 and UDP."""
    need("knfsd")
    home = find_installation(KNFSD)
    assert home is not None
    product = None
    if os.environ.get("NFSPROOF_CLIENT_KERNEL") == "v2":
        compiled = find_installation(KNFSD_V2)
        if compiled is None:
            pytest.skip("knfsd:v2 is not installed")
        product = Product(home, compiled)
    client = LinuxClient(product)
    try:
        with starting("knfsd"):
            client.start()
    except ClientUnavailable as error:
        pytest.skip(str(error))
    yield client
    client.stop()


@pytest.fixture(scope="session")
def second_guest(guest: LinuxClient) -> Iterator[LinuxClient]:
    """Another machine on the same network."""
    with LinuxClient(number=1, joins=guest) as second:
        yield second


@pytest.fixture
def wire(guest: LinuxClient) -> Iterator[Wire]:
    """All that passes in the network of the guests, in which the test is meanwhile."""
    with guest.visit(), caught() as wire:
        yield wire


@pytest.fixture
def served(guest: LinuxClient, wire: Wire, request: pytest.FixtureRequest) -> Iterator[Served]:
    """The embedded server, empty. At the end of the test, nothing in its replies is wrong in the eyes of the lint."""
    with Served(guest.gateway) as served:
        yield served
    wire.stop()
    capture = wire.capture()
    if folder := os.environ.get("NFSPROOF_CAPTURES"):
        Path(folder, f"{request.node.name}.pcapng").write_bytes(capture)
    reading = read(capture, alone=not served.was_disturbed)
    statistics = reading.statistics
    assert (sum(statistics.exchanges.values()) > 10) == served.was_mounted
    assert (statistics.lost, statistics.cut.count) == (0, 0)
    reported = [
        f"{finding.severity} {finding.rule.id}: {finding.breach}"
        for finding in reading.findings
        if finding.severity != "INFO"
    ]
    assert reported == []


@pytest.fixture(params=[3, "4.2"], ids=lambda version: f"v{version}")
def version(request: pytest.FixtureRequest) -> int | str:
    """The version that the export is mounted with, where a test does not say it."""
    return t.cast("int | str", request.param)


@pytest.fixture
def mount(served: Served) -> Iterator[Callable[..., Mounted]]:
    """Mounts the export in a guest."""
    used: list[LinuxClient] = []

    def mounted(
        client: LinuxClient, version: int | str = 3, proto: str = "tcp", **options: str | int | None
    ) -> Mounted:
        mounted = Mounted(client, served, version)
        mounted.attach(proto, **options)
        used.append(client)
        return mounted

    yield mounted
    for client in used:
        client.umount(POINT)
        assert client.alarms() == []


@pytest.fixture
def linux_client(guest: LinuxClient, mount: Callable[..., Mounted], version: int | str) -> Mounted:
    """A guest in which the export of the embedded server is mounted, over TCP."""
    return mount(guest, version)


@pytest.fixture
def nfs(served: Served) -> Iterator[NfsClient]:
    """Our library on the same export."""
    with served.client() as client:
        yield client

# SPDX-License-Identifier: MIT
"""The Linux kernel's NFS client in a machine of QEMU: needs no privilege, no tap device, and no namespace.

It is the guest of `client`, with the newer kernel of `knfsd:qemu`, on an emulated processor: some ten times slower, so
counts of calls mean the same, and seconds mean little. The guest reaches loopback of this machine at `gateway`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from nfstargets.base import TargetError
from nfstargets.cache import find_installation
from nfstargets.knfsd.client import ClientUnavailable, LinuxClient, pack_programs
from nfstargets.knfsd.image import KNFSD, Product
from nfstargets.knfsd.packaged import KNFSD_QEMU
from nfstargets.knfsd.qemu import ADDRESS, GATEWAY, HOST, find_qemu, machine
from nfstargets.process import KeptServer

_MEMORY = 512
"""MiB of a guest."""


class QemuClient(LinuxClient):
    """One guest of QEMU."""

    @property
    def gateway(self) -> str:
        """The address of this machine's loopback, as the guest sees it."""
        return GATEWAY

    @property
    def listening(self) -> str:
        return HOST

    @property
    def address(self) -> str:
        """All that comes from the guest comes from loopback."""
        return HOST

    @contextlib.contextmanager
    def visit(self) -> Iterator[None]:
        """The guest has no separate network."""
        yield

    def _installed(self) -> Product:
        if self._product is not None:
            return self._product
        home, kernel = find_installation(KNFSD), find_installation(KNFSD_QEMU)
        missing = [part.name for part, found in ((KNFSD, home), (KNFSD_QEMU, kernel)) if found is None]
        if home is None or kernel is None:
            raise ClientUnavailable(
                f"the guest of the Linux client is not installed; nfsproof install {' '.join(missing)}"
            )
        return Product(home, kernel)

    def _make_server(self, scratch: Path, product: Product) -> KeptServer:
        (scratch / "memory").mkdir()
        (scratch / "root.img").symlink_to(product.image)
        pack_programs(scratch / "programs.tar", self.packages)
        return KeptServer(scratch)

    def _command(self, product: Product, scratch: Path) -> list[str]:
        try:
            program = find_qemu()
        except TargetError as error:
            raise ClientUnavailable(str(error)) from error
        settings = {
            "programs": "/dev/vdc",
            "line": "/dev/ttyS1",
            "interface": "eth0",
            "address": ADDRESS,
            "gateway": GATEWAY,
        }
        disks = {
            scratch / "root.img": "on",
            product.kernel_home / "modules.img": "on",
            scratch / "programs.tar": "on",
        }
        words = [f"nfsproof.{name}={value}" for name, value in settings.items()]
        return machine(program, product.kernel_home, disks, _MEMORY, words, "")


def available_client(packages: tuple[Path, ...] = ()) -> LinuxClient:
    """The guest that this machine can start: of User-Mode Linux, or else of QEMU. Started. Raises `TargetError`."""
    first: TargetError | None = None
    for kind in (LinuxClient, QemuClient):
        client = kind()
        client.packages = packages
        try:
            client.start()
        except TargetError as error:
            first = first or error
            continue
        return client
    assert first is not None
    raise first

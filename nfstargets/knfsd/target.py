# SPDX-License-Identifier: MIT
"""The Linux kernel's NFS server as a target: installed, booted, crashed and commanded by the run.

User-Mode Linux has a separate network, in a namespace that goes with it. The run joins that network while the target
is up. QEMU forwards ports of loopback instead.
"""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from nfstargets.base import Alarm, TargetAddress, TargetError
from nfstargets.cache import find_installation
from nfstargets.knfsd.clients import client_of
from nfstargets.knfsd.compiled import KNFSD_V2
from nfstargets.knfsd.console import alarms_in
from nfstargets.knfsd.image import KNFSD, Product
from nfstargets.knfsd.machine import DATA_SIZE, GUEST, NETWORK, OURS, STATE_SIZE, Disks, UserModeLinux
from nfstargets.knfsd.options import KnfsdOptions
from nfstargets.knfsd.packaged import KNFSD_QEMU
from nfstargets.knfsd.qemu import HOST, Qemu, find_qemu
from nfstargets.namespace import NamespaceError, NetworkVisit
from nfstargets.process import KeptServer, free_ports
from nfstargets.program import ProgramTarget
from nfstargets.recipes import Installable
from nfstargets.states import NfsClientState

NFS_PORT, MOUNT_PORT, PORTMAP_PORT = 2049, 20048, 111
EXPORT = "/volume/export"
BOOTS = 3
"""How often a machine that hangs while it boots is started."""
ANSWER = 60.0
"""Seconds for one request to the agent."""


class KnfsdTarget(ProgramTarget):
    """One virtual machine. A crash ends it as a loss of power does: its memory is lost, its disk stays."""

    controls = frozenset(
        {
            "crash",
            "restart",
            "touch_locally",
            "fill_disk",
            "set_lease",
            "end_grace",
            "drop_caches",
            "known_clients",
        }
    )
    is_watchable: ClassVar[bool] = False
    start_limit: ClassVar[float] = 60.0  # 3 are usual, 9 with QEMU; five times that on a busy machine
    apart: ClassVar[str] = "cannot have a separate network"

    def __init__(self, options: str = "") -> None:
        self.options = KnfsdOptions.parse(options)
        super().__init__(self.options.name(), "knfsd")
        self._product: Product | None = None
        self._machine: UserModeLinux | Qemu | None = None
        self._lease: int | None = None
        """Another lease time than that of the options."""
        self._visit: NetworkVisit | None = None
        self._requests = 0
        self._is_ready = False
        self._is_full = False
        self._heard = 0
        """Bytes of the log in which alarms were looked for."""

    # ------------------------------------------------------------ what differs

    @property
    def has_network(self) -> bool:
        """Whether the machine has a separate network."""
        return self.options.machine != "qemu"

    def prepare(self) -> None:
        """Looks into the cache. Raises TargetError with the command that installs it."""
        kernels = {"v2": KNFSD_V2, "qemu": KNFSD_QEMU}
        home = self._home(kernels.get(self.options.machine, KNFSD))
        self._product = Product(self._home(KNFSD), home)
        kernel = self._product.kernel
        self._machine = UserModeLinux(kernel) if self.has_network else Qemu(find_qemu(), home)

    def _home(self, part: Installable) -> Path:
        home = find_installation(part)
        if home is None:
            raise TargetError(f"{self.name}: the {part.title} is not installed; nfsproof install {part.name}")
        return home

    def make_server(self, scratch: Path) -> KeptServer:
        """Disks, and for User-Mode Linux a network. They are in memory, where no other process finds them; those of
        QEMU are files of the scratch folder, for which no namespace is necessary."""
        disks = Disks(scratch)
        memory = disks.data.parent
        memory.mkdir()
        disks.pack_programs()
        assert self._product is not None
        disks.image.symlink_to(self._product.image)
        files = {disks.state: STATE_SIZE, disks.data: DATA_SIZE}
        if self.has_network:
            return KeptServer(scratch, memory=[memory], files=files, network=NETWORK)
        for path, size in files.items():
            with path.open("xb") as file:
                file.truncate(size)
        return KeptServer(scratch)

    def command(self, server: KeptServer, ports: tuple[int, ...]) -> list[str]:
        self._is_ready = False
        disks = Disks(server.scratch)
        options = self.options if self._lease is None else replace(self.options, lease=self._lease)
        if isinstance(self._machine, Qemu):
            return self._machine.command(disks, options, ports)
        assert self._machine is not None
        return self._machine.command(disks, options, plain=self.wants_network)

    def folder_for_files(self, server: KeptServer) -> Path | None:
        """The memory of User-Mode Linux is a file, which has to be in memory."""
        return Disks(server.scratch).data.parent if self.has_network else None

    def output(self, server: KeptServer) -> Path:  # noqa: ARG002
        """The console is the log."""
        assert self.log_path is not None
        return self.log_path

    def title(self) -> str:
        version = "" if self._product is None else f" {self._product.version}"
        return f"Linux{version} ({'User-Mode Linux' if self.has_network else 'QEMU'})"

    def choose_ports(self) -> tuple[int, ...]:
        """All of them are free in a separate network."""
        return (NFS_PORT, MOUNT_PORT) if self.has_network else tuple(free_ports(2, HOST))

    def address_of(self, ports: tuple[int, ...]) -> TargetAddress:
        """In a separate network with the guest's rpcbind, and another address of this machine.

        Elsewhere without rpcbind: it would name ports of the guest, which are others than those of loopback.
        """
        nfs_port, mount_port = ports
        version = self.options.version
        if version == 4:
            mount_port = 0
        if not self.has_network:
            return TargetAddress(
                host=HOST, nfs_port=nfs_port, mount_port=mount_port, export=EXPORT, version=version
            )
        return TargetAddress(
            host=GUEST,
            nfs_port=nfs_port,
            mount_port=mount_port,
            portmap_port=None if version == 4 else PORTMAP_PORT,
            export=EXPORT,
            version=version,
            other_source=OURS[1],
            cable=f"{NETWORK.name} {GUEST}" if self.wants_network else "",
        )

    def is_announced(self, server: KeptServer) -> bool:
        """Whether the agent has said that the services run. Raises TargetError when it said why they do not."""
        while not self._is_ready and server.said:
            said = _parsed(server.said.popleft())
            if said.get("event") == "failed":
                raise TargetError(f"{self.name}: the guest could not start its services: {said.get('why')}")
            self._is_ready = said.get("event") == "ready"
        return self._is_ready

    def describe(self) -> str:
        """For the header of a run."""
        how = "async" if self.options.is_async else "sync"
        return f"{self.name} ({self.title()}, {self.options.fs}, {how}, {self.options.threads} threads)"

    def alarms(self) -> list[Alarm]:
        """Oopses, warnings and hung tasks on the console."""
        try:
            with self.output(self._running()).open("rb") as log:
                log.seek(self._heard)
                data = log.read()
        except (OSError, TargetError):
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._heard += len(whole)
        return alarms_in(whole.decode(errors="replace").splitlines())

    # ------------------------------------------------------------ life

    def stop(self) -> None:
        """Ends the machine and leaves its network, which ends with it."""
        try:
            super().stop()
        finally:
            self._leave()

    def stop_server(self, server: KeptServer) -> None:
        """Nothing on its disks is of use to anybody: it needs not shut down."""
        server.end(signal.SIGKILL, 5.0)

    def after_open(self, server: KeptServer) -> None:
        """Joins the network of the machine. Raises TargetError."""
        self._leave()
        if not self.has_network:
            return
        try:
            self._visit = NetworkVisit(server.keeper_pid)
        except NamespaceError as error:
            raise TargetError(
                f"{self.name}: this process cannot join the network of the guest: {error}"
            ) from error

    def _leave(self) -> None:
        visit, self._visit = self._visit, None
        if visit is not None:
            visit.end()

    def launch(self, ports: tuple[int, ...]) -> None:
        """Boots. One of some hundred boots of User-Mode Linux hangs, since it loses its timer: then it boots again."""
        for _ in range(BOOTS - 1):
            try:
                return super().launch(ports)
            except TargetError:
                server = self._running()
                if not server.is_alive() or self._is_ready:
                    raise
                server.end(signal.SIGKILL, 5.0)
        return super().launch(ports)

    # ------------------------------------------------------------ controls

    def restart(self) -> None:
        """Restarts the service in the machine; or boots it, when it is dead or its agent does not answer."""
        server = self._running()
        if not server.is_alive():
            self._end_and_relaunch(signal.SIGKILL)
            return
        try:
            self._ask("restart")
            self._await_answers(self._ports or (NFS_PORT, MOUNT_PORT))
        except TargetError:
            self._end_and_relaunch(signal.SIGKILL)

    def touch_locally(self, path: bytes, *, remove: bool = False) -> None:
        """Changes or removes a file in the guest."""
        self._ask("remove" if remove else "touch", path=os.fsdecode(path))

    def discard(self, name: bytes) -> bool:
        """Removes a directory in the guest."""
        try:
            self._ask("discard", path=os.fsdecode(name))
        except TargetError:
            return False
        return True

    def fill_disk(self) -> None:
        """Reserves all room that the export has."""
        self._is_full = True
        self._ask("fill")

    def free_disk(self) -> None:
        """Gives back what `fill_disk` took."""
        if self._is_full:
            self._is_full = False
            self._ask("free")

    def set_lease(self, seconds: int | None) -> None:
        """Restarts the service with this lease time, which later starts keep; None: that of the options."""
        self._ask("set_lease", seconds=self.options.lease if seconds is None else seconds)
        self._lease = seconds
        self._await_answers(self._ports or (NFS_PORT, MOUNT_PORT))

    def sync(self) -> None:
        """Its daemon for clients of NFSv4 (nfsdcld) does not wait for the disk: a crash loses its last records."""
        self._ask("sync")

    def end_grace(self) -> None:
        """Ends the grace time of NLM and NFSv4."""
        self._ask("end_grace")

    def drop_caches(self) -> None:
        """Has the kernel forget what it can read again."""
        self._ask("drop_caches")

    def known_clients(self) -> tuple[NfsClientState, ...]:
        """What the kernel knows of its NFSv4 clients."""
        return tuple(client_of(answer["info"], answer["states"]) for answer in self._ask("clients"))

    def _ask(self, what: str, **arguments: str | int) -> Any:
        server = self._running()
        self._requests += 1
        number = self._requests
        server.said.clear()
        server.say(json.dumps({"id": number, "do": what, **arguments}))
        deadline = time.monotonic() + ANSWER
        while True:
            if not server.wait(lambda: bool(server.said), deadline - time.monotonic()):
                if not server.is_alive():
                    raise TargetError(f"{self.name}: the machine ended before it answered {what!r}")
                raise TargetError(
                    f"{self.name}: the agent in the guest did not answer {what!r} within {ANSWER:g} s"
                )
            answer = _parsed(server.said.popleft())
            if answer.get("id") != number:
                continue
            if not answer.get("ok"):
                raise TargetError(f"{self.name}: {what} in the guest: {answer.get('why')}")
            return answer.get("value")


def _parsed(line: str) -> dict[str, Any]:
    """What the agent said; nothing, for what it did not say."""
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}

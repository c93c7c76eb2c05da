# SPDX-License-Identifier: MIT
"""The Linux kernel's NFS server as a target: installed, booted, crashed and commanded by the run.

The machine has its own network, in a namespace that goes with it. The run joins that network while the target is up.
"""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any, ClassVar

from nfstargets.base import Alarm, TargetAddress, TargetError
from nfstargets.cache import find_installation
from nfstargets.knfsd.console import alarms_in
from nfstargets.knfsd.image import KNFSD, Product
from nfstargets.knfsd.machine import DATA_SIZE, GUEST, NETWORK, OURS, STATE_SIZE, Disks, UserModeLinux
from nfstargets.knfsd.options import KnfsdOptions
from nfstargets.namespace import NamespaceError, NetworkVisit
from nfstargets.process import KeptServer
from nfstargets.program import ProgramTarget

NFS_PORT, MOUNT_PORT, PORTMAP_PORT = 2049, 20048, 111
EXPORT = "/volume/export"
ANSWER = 60.0
"""Seconds for one request to the agent."""


class KnfsdTarget(ProgramTarget):
    """One virtual machine. A crash ends it as a loss of power does: its memory is lost, its disk stays."""

    controls = frozenset({"crash", "restart", "touch_locally", "fill_disk"})
    start_limit: ClassVar[float] = 180.0  # 3 are usual, 15 on a busy machine
    apart: ClassVar[str] = "cannot have a separate network"

    def __init__(self, options: str = "") -> None:
        self.options = KnfsdOptions.parse(options)
        super().__init__(self.options.name(), "knfsd")
        self._product: Product | None = None
        self._visit: NetworkVisit | None = None
        self._requests = 0
        self._is_ready = False
        self._is_full = False
        self._heard = 0
        """Bytes of the log in which alarms were looked for."""

    # ------------------------------------------------------------ what differs

    def prepare(self) -> None:
        """Looks into the cache. Raises TargetError with the command that installs it."""
        home = find_installation(KNFSD)
        if home is None:
            raise TargetError(f"the guest of {self.name} is not installed; nfsproof install {KNFSD.name}")
        self._product = Product(home)

    def make_server(self, scratch: Path) -> KeptServer:
        """Disks that are in memory, where no other process finds them, and a network."""
        disks = Disks(scratch)
        memory = disks.data.parent
        memory.mkdir()
        disks.pack_programs()
        assert self._product is not None
        disks.image.symlink_to(self._product.image)
        files = {disks.state: STATE_SIZE, disks.data: DATA_SIZE}
        return KeptServer(scratch, memory=[memory], files=files, network=NETWORK)

    def command(self, server: KeptServer, ports: tuple[int, ...]) -> list[str]:  # noqa: ARG002
        assert self._product is not None
        self._is_ready = False
        machine = UserModeLinux(self._product.kernel)
        return machine.command(Disks(server.scratch), self.options)

    def folder_for_files(self, server: KeptServer) -> Path:
        """The machine's memory is a file, which has to be in memory."""
        return Disks(server.scratch).data.parent

    def output(self, server: KeptServer) -> Path:  # noqa: ARG002
        """The console is the log."""
        assert self.log_path is not None
        return self.log_path

    def title(self) -> str:
        version = "" if self._product is None else f" {self._product.version}"
        return f"Linux{version} (User-Mode Linux)"

    def choose_ports(self) -> tuple[int, ...]:
        """All of them are free in a separate network."""
        return NFS_PORT, MOUNT_PORT

    def address_of(self, ports: tuple[int, ...]) -> TargetAddress:
        """With the guest's rpcbind, and another address of this machine."""
        nfs_port, mount_port = ports
        return TargetAddress(
            host=GUEST,
            nfs_port=nfs_port,
            mount_port=mount_port,
            portmap_port=PORTMAP_PORT,
            export=EXPORT,
            other_source=OURS[1],
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

    # ------------------------------------------------------------ controls

    def restart(self) -> None:
        """Restarts the service in the machine; or boots it, when it is dead or its agent does not answer."""
        server = self._running()
        if not server.is_alive():
            self._end_and_relaunch(signal.SIGKILL)
            return
        try:
            self._ask("restart")
            self._await_answers((NFS_PORT, MOUNT_PORT))
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

    def _ask(self, what: str, **arguments: str) -> None:
        """Has the agent do something. Raises TargetError when it cannot, or is silent."""
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
            return


def _parsed(line: str) -> dict[str, Any]:
    """What the agent said; nothing, for what it did not say."""
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}

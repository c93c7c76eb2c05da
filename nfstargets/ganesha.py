# SPDX-License-Identifier: MIT
"""NFS-Ganesha as a target: configured, started, watched and stopped by the run, on free ports of loopback.

`ganesha:vfs` exports a fresh folder of this machine and needs root; `ganesha:mem` exports Ganesha's own file
system in memory, which is empty after each start, and needs no privilege. `ganesha` is the first that can work.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from nfsclient.protocol import mount, nfs3
from nfstargets.base import TargetAddress, TargetError
from nfstargets.ganesha_config import MEM_FILE_SIZE, MEM_FILES, GaneshaConfig
from nfstargets.ganesha_options import GaneshaOptions
from nfstargets.keeper import MEMORY
from nfstargets.namespace import (
    HANDLE_FILE_SYSTEMS,
    NamespaceError,
    NetworkVisit,
    can_act_for_others,
    can_make_networks,
    file_system_of,
)
from nfstargets.process import KeptServer, Network
from nfstargets.program import HOST, ProgramTarget
from nfstargets.rpcbind_stub import SOCKET_PATH

PROGRAM = "ganesha.nfsd"
HOW_TO_GET_IT = (
    "install it (Debian, Ubuntu: apt install nfs-ganesha nfs-ganesha-vfs nfs-ganesha-mem; Fedora: dnf install "
    "nfs-ganesha nfs-ganesha-vfs nfs-ganesha-mem), or name a server that runs: --target nfs://HOST/EXPORT"
)
PROGRAM_FOLDERS = ("/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin")
"""Where it may be besides PATH, which seldom names the folders for system programs."""
PLUGIN_FOLDERS = ("/usr/lib/*/ganesha", "/usr/lib64/ganesha", "/usr/lib/ganesha", "/usr/local/lib*/ganesha")
ANNOUNCED = {3: frozenset({(nfs3.NFS3.number, 3), (mount.PROGRAM, 3)}), 4: frozenset({(nfs3.NFS3.number, 4)})}
"""Version -> what has been registered with rpcbind when all sockets stand; NFSv4 comes last."""


@dataclass(frozen=True, slots=True)
class Installation:
    """Where NFS-Ganesha is on this machine."""

    program: Path
    plugins: Path

    @classmethod
    def find(cls, kind: str) -> Installation:
        """Raises TargetError, in one line that says how to get it, when program or back end are missing."""
        places = [os.environ.get("PATH", ""), *PROGRAM_FOLDERS]
        program = shutil.which(PROGRAM, path=os.pathsep.join(places))
        if program is None:
            raise TargetError(f"{PROGRAM} is not installed; {HOW_TO_GET_IT}")
        for pattern in PLUGIN_FOLDERS:
            for folder in sorted(Path("/").glob(pattern.removeprefix("/"))):
                if (folder / f"libfsal{kind}.so").exists():
                    return cls(Path(program), folder)
        raise TargetError(f"{PROGRAM} lacks its back end libfsal{kind}.so; {HOW_TO_GET_IT}")

    def has(self, kind: str) -> bool:
        """Whether a back end is installed."""
        return (self.plugins / f"libfsal{kind}.so").exists()

    def version(self) -> str:
        """As it says itself, such as "4.3"; "" when it does not."""
        try:
            said = subprocess.run(  # noqa: S603 - the program that is about to be started
                [self.program, "-v"], capture_output=True, text=True, timeout=5, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        found = re.search(r"V([\w.-]+)", said.stdout)
        return found.group(1) if found else ""


class GaneshaTarget(ProgramTarget):
    """One NFS-Ganesha, started by nfsproof, from an empty export at `start` to nothing at `stop`."""

    ports_wanted: ClassVar[int] = 2
    apart: ClassVar[str] = "cannot be separated from this machine's rpcbind"

    def __init__(self, text: str = "") -> None:
        """`text` is what `GaneshaOptions.parse` reads. Raises TargetError."""
        asked = GaneshaOptions.parse(text)
        self.kind = asked.kind or ("vfs" if can_act_for_others() else "mem")
        self.options = replace(asked, kind=self.kind)
        super().__init__(f"ganesha:{self.options.words()}", "ganesha")
        if not asked.kind and self.kind == "mem":
            self.remark = "ganesha:vfs needs root: this run tests ganesha:mem, the file system in memory"
        if self.kind == "vfs":
            self.controls = self.controls | {"touch_locally"}
        self._installation: Installation | None = None
        self._version = ""
        self._file_system = ""
        self._epoch = 0
        self._has_network = False
        self._visit: NetworkVisit | None = None

    def prepare(self) -> None:
        """Looks for program and back end. Raises TargetError."""
        if self.kind == "vfs" and not can_act_for_others():
            raise TargetError(
                "ganesha:vfs acts as other users and needs root (CAP_DAC_READ_SEARCH, CAP_SETUID, CAP_SETGID); "
                "without: --target ganesha:mem"
            )
        self._installation = Installation.find(self.kind)
        self._version = self._installation.version()

    def address_of(self, ports: tuple[int, ...]) -> TargetAddress:
        """The portmapper that it registered with is our own, and not to be judged."""
        nfs_port, mount_port = ports
        has_mount = 3 in self.options.protocols
        return TargetAddress(
            host=HOST,
            nfs_port=nfs_port,
            mount_port=mount_port if has_mount else 0,
            version=3 if has_mount else 4,
            export=f"/{self.kind}",
            cable="new" if self._has_network else "",
        )

    def touch_locally(self, path: bytes, *, remove: bool = False) -> None:
        """Changes or removes a file in the folder that is exported, as the server's mount namespace sees it."""
        server = self._running()
        if self.kind != "vfs" or server.pid is None:
            raise TargetError(f"{self.name} has no folder in which to change files")
        place = Path(f"/proc/{server.pid}/root{server.scratch}/vfs") / os.fsdecode(path.lstrip(b"/"))
        try:
            if remove:
                place.unlink()
                return
            with place.open("ab") as file:
                file.write(b"changed without the protocol")
        except OSError as error:
            raise TargetError(f"{place} cannot be changed: {error.strerror}") from error

    def title(self) -> str:
        return f"NFS-Ganesha {self._version}"

    def describe(self) -> str:
        """For the header of a run: version, back end and where its files lie."""
        place = f" on {self._file_system}" if self._file_system else ""
        return f"{self.name} (NFS-Ganesha {self._version or 'of unknown version'}, FSAL {self.kind.upper()}{place})"

    def temporary(self) -> Path:
        """Not below /run: the server's own rpcbind hides what is there."""
        temporary = super().temporary()
        if temporary.is_relative_to(SOCKET_PATH.parent.resolve()):
            temporary = Path("/var/tmp")  # noqa: S108 - mkdtemp makes a unique name in it
        return temporary

    def make_server(self, scratch: Path) -> KeptServer:
        """An export on a file system that has handles, and an rpcbind to register with."""
        export = scratch / "vfs"
        export.mkdir()
        export.chmod(0o777)
        (scratch / "state").mkdir()
        memory: list[Path] = []
        if self.kind == "vfs":
            self._file_system = file_system_of(export)
            if self._file_system not in HANDLE_FILE_SYSTEMS:
                memory, self._file_system = [export], "tmpfs"
        self._has_network = self.wants_network and can_make_networks()
        # Most of the memory of its files is never written to.
        data = MEM_FILES * MEM_FILE_SIZE if self.kind == "mem" else MEMORY
        network = Network() if self._has_network else None
        return KeptServer(scratch, data=data, rpcbind=SOCKET_PATH, memory=memory, network=network)

    def after_open(self, server: KeptServer) -> None:
        """Joins its network. Raises TargetError."""
        self._leave()
        if self._has_network:
            try:
                self._visit = NetworkVisit(server.keeper_pid)
            except NamespaceError as error:
                raise TargetError(f"{self.name}: its private network cannot be joined: {error}") from error

    def stop(self) -> None:
        """Ends it and leaves its network, which ends with it."""
        try:
            super().stop()
        finally:
            self._leave()

    def _leave(self) -> None:
        visit, self._visit = self._visit, None
        if visit is not None:
            visit.end()

    def output(self, server: KeptServer) -> Path:
        """What it prints outside its log."""
        return server.scratch / "output"

    def is_announced(self, server: KeptServer) -> bool:
        """It registers what it has bound."""
        return all(server.registered >= ANNOUNCED[version] for version in self.options.protocols)

    def command(self, server: KeptServer, ports: tuple[int, ...]) -> list[str]:
        """In the foreground, as a child of the keeper, and with a stack trace in the log when it crashes."""
        assert self._installation is not None
        nfs_port, mount_port = ports
        config = GaneshaConfig(
            nfs_port=nfs_port,
            mount_port=mount_port,
            state=server.scratch / "state",
            plugins=self._installation.plugins,
            vfs=server.scratch / "vfs" if self.kind == "vfs" else None,
            mem=self._installation.has("mem"),
            protocols=self.options.protocols,
            lease=self.options.lease,
            grace=self.options.grace,
            # In its private network a bridge of packets comes from another address.
            host="0.0.0.0" if self._has_network else HOST,  # noqa: S104
        )
        config_path = server.scratch / "ganesha.conf"
        config_path.write_text(config.text())
        # The epoch makes write verifiers and handles of clients' state; it must differ from all before.
        self._epoch = max(self._epoch + 1, int(time.time()))
        options = f"-F -C -N NIV_EVENT -E {self._epoch}".split()
        files = {"-f": config_path, "-L": self.log_path, "-p": config_path.with_name("pid")}
        named = [str(part) for pair in files.items() for part in pair]
        return [str(self._installation.program), *options, *named]

# SPDX-License-Identifier: MIT
"""The Linux kernel's NFS client: the same guest as the server's, which mounts what this machine serves.

The guest has a separate network with this machine. A server that it is to mount listens there, at
`LinuxClient.gateway`: `LinuxClient.visit` brings the thread that makes the sockets into that network.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import tarfile
import tempfile
import time
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Self

from nfstargets.base import Alarm, TargetError
from nfstargets.cache import find_installation
from nfstargets.knfsd.console import alarms_in
from nfstargets.knfsd.image import GUEST as PROGRAMS
from nfstargets.knfsd.image import KNFSD, Product
from nfstargets.machine import allowed
from nfstargets.namespace import NamespaceError, NetworkVisit
from nfstargets.process import KeptServer, Network, describe_end, last_lines

BOOT = 180.0
"""Seconds; 3 are usual, 15 on a busy machine."""
ANSWER = 60.0
"""Seconds for a request, besides the time that it is granted itself."""
MOST_CLIENTS = 4
KEPT_OUTPUT = 64 << 10
"""Bytes that are kept of each output of a program."""
_PIECE = 24 << 10
"""Bytes of a file that one request moves."""
_PART = 2000
"""Characters of a request that are sent at once: a terminal of Linux holds 4096 bytes, and drops what comes beyond."""
_MEMORY = 192
"""MiB of a guest."""
_PACKAGE = "nfstargets/knfsd/guest"
PROGRAMS_THERE = "/run/nfsproof"
"""Where what runs in the guest is."""
_ENTRY = b"""\
import sys

sys.path.insert(0, "/run/nfsproof")
from nfstargets.knfsd.guest.client import main

sys.exit(main())
"""


class ClientError(TargetError):
    """The client could not do a request. The text says what, and what was said."""


class ClientUnavailable(ClientError):
    """There can be no client here: it is not installed, or this machine permits no network for it."""


class ClientGone(ClientError):
    """The machine of the client has ended, or its agent does not answer. The text has the end of its console."""


class ClientRefused(ClientError):
    """The guest could not do it: a mount that its server refuses, a program that is not there."""


class ProgramFailed(ClientError):
    """A program in the guest ended with another status than 0, or not in time."""


@dataclass(frozen=True, slots=True)
class Running:
    """A program that was started in the guest."""

    argv: tuple[str, ...]
    number: int


@dataclass(frozen=True, slots=True)
class Done:
    """How a program in the guest has ended."""

    argv: tuple[str, ...]
    status: int
    """As `subprocess` says it: negative for a signal."""
    stdout: bytes
    stderr: bytes
    is_cut: bool
    """Whether it said more than was kept."""
    is_late: bool
    """Whether it was ended because its time was up."""

    @property
    def text(self) -> str:
        """Its standard output."""
        return self.stdout.decode(errors="replace")

    def check(self) -> Self:
        """Raises ProgramFailed unless it ended in time, with 0."""
        if self.is_late or self.status != 0:
            how = "was ended since its time was up" if self.is_late else f"ended with {self.how()}"
            said = (self.stderr or self.stdout).decode(errors="replace").strip()
            raise ProgramFailed(f"{' '.join(self.argv)[:200]} in the guest {how}: {said[-1000:]}")
        return self

    def how(self) -> str:
        """ "exit status 1" or a signal."""
        return describe_end(self.status)


@dataclass(frozen=True, slots=True)
class Cable:
    """The network of one guest: a tap device, and one address at each end."""

    number: int

    @property
    def device(self) -> str:
        return f"tap{self.number}"

    @property
    def ours(self) -> str:
        """The address of this machine. Addresses for documentation (RFC 5737): nobody has them."""
        return f"192.0.2.{64 * self.number + 1}"

    @property
    def theirs(self) -> str:
        """The address of the guest."""
        return f"192.0.2.{64 * self.number + 2}"

    @property
    def hardware(self) -> str:
        return f"02:00:00:00:02:{64 * self.number + 2:02x}"

    netmask = "255.255.255.192"
    prefix = 26


class LinuxClient:
    """One guest. If it `joins` another client, it is in the network of that one, and has to be stopped first.

    `product` holds its kernel and its image; without one, it is the installed one.
    """

    packages: tuple[Path, ...] = ()
    """Packages of Python that programs in the guest can import, from `PROGRAMS_THERE`; to be set before `start`."""

    def __init__(
        self, product: Product | None = None, *, number: int = 0, joins: LinuxClient | None = None
    ) -> None:
        self.cable: Cable = Cable(number)
        if not 0 <= number < MOST_CLIENTS:
            raise ValueError(f"expected a number below {MOST_CLIENTS}, got {number}")
        if joins is not None and joins.cable.number == number:
            raise ValueError(f"the client that it joins has the number {number}, too")
        self.log_path: Path | None = None
        """Where the console is kept; to be set before `start`. Otherwise it goes with the guest."""
        self.kernel = ""
        """Release of the kernel, once the guest has started."""
        self._product = product
        self._joins = joins
        self._server: KeptServer | None = None
        self._requests = 0

    @property
    def gateway(self) -> str:
        """The address of this machine in the network of the guest: where a server is to listen."""
        return self.cable.ours

    @property
    def listening(self) -> str:
        """The address at which a server of this machine listens, so that the guest reaches it at `gateway`."""
        return self.gateway

    @property
    def address(self) -> str:
        """The address of the guest, from which its calls come."""
        return self.cable.theirs

    # ------------------------------------------------------------ life

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Boots the guest. Raises ClientUnavailable or ClientGone."""
        product = self._installed()
        scratch = Path(tempfile.mkdtemp(prefix="nfsproof-client-"))
        try:
            self._server = self._make_server(scratch, product)
            try:
                self._server.open()
            except TargetError as error:
                raise ClientUnavailable(
                    f"the Linux client cannot have a separate network: {error}"
                ) from error
            try:
                self._server.start(self._command(product, scratch), self._console(), scratch / "memory")
            except TargetError as error:
                raise ClientUnavailable(f"the Linux client cannot be started: {error}") from error
            self._await_ready()
            self._name_itself()
        except BaseException:
            self.stop()
            shutil.rmtree(scratch, ignore_errors=True)
            raise

    def _name_itself(self) -> None:
        """The client owner of NFSv4 is made of the host name: machines with one name would be one client."""
        name = f"nfsproof-client-{self.cable.number}"
        self.run("python3", "-c", f"import socket; socket.sethostname({name!r})").check()

    def stop(self) -> None:
        """Ends the machine. Its network ends with the last process and socket in it. May be called twice."""
        server, self._server = self._server, None
        if server is None:
            return
        try:
            server.end(signal.SIGKILL, allowed(5.0))
        finally:
            server.close()
            shutil.rmtree(server.scratch, ignore_errors=True)

    @contextlib.contextmanager
    def visit(self) -> Iterator[None]:
        """This thread in the network of the guest. Sockets that it makes stay there. Raises ClientUnavailable.

        Without root, the process must have one thread only at the first visit, and does not come back from it.
        """
        try:
            visit = NetworkVisit(self._running().keeper_pid)
        except NamespaceError as error:
            raise ClientUnavailable(f"this process cannot join the network of the guest: {error}") from error
        try:
            yield
        finally:
            visit.end()

    def _installed(self) -> Product:
        if self._product is not None:
            return self._product
        home = find_installation(KNFSD)
        if home is None:
            raise ClientUnavailable(
                f"the guest of the Linux client is not installed; nfsproof install {KNFSD.name}"
            )
        return Product(home, home)

    def _make_server(self, scratch: Path, product: Product) -> KeptServer:
        memory = scratch / "memory"
        memory.mkdir()
        # The console repeats the names of its disks: not those of folders of the user.
        (scratch / "root.img").symlink_to(product.image)
        pack_programs(scratch / "programs.tar", self.packages)
        joins = None if self._joins is None else self._joins._running().keeper_pid
        network = Network(self.cable.device, (self.cable.ours,), self.cable.netmask, joins)
        return KeptServer(scratch, memory=[memory], network=network)

    def _command(self, product: Product, scratch: Path) -> list[str]:
        settings = {
            "programs": "/dev/ubdb",
            "line": "/dev/tty1",
            "interface": "vec0",
            "address": f"{self.cable.theirs}/{self.cable.prefix}",
            "gateway": self.cable.ours,
        }
        return [
            str(product.kernel),
            "umid=guest",
            f"uml_dir={scratch / 'uml'}",
            f"mem={_MEMORY}M",
            f"ubd0r={scratch / 'root.img'}",
            f"ubd1r={scratch / 'programs.tar'}",
            "root=/dev/ubda",
            "ro",
            "rootfstype=ext4",
            "init=/nfsproof/init",
            f"vec0:transport=tap,ifname={self.cable.device},depth=128,gro=1,mac={self.cable.hardware}",
            "con=null",
            "con0=null,fd:1",
            "con1=fd:{line}",
            *(f"nfsproof.{name}={value}" for name, value in settings.items()),
        ]

    def _await_ready(self) -> None:
        server = self._running()
        deadline = time.monotonic() + allowed(BOOT)
        while True:
            said = self._next_words(server, deadline, "boot")
            if said.get("event") == "failed":
                raise ClientGone(f"the Linux client could not start: {said.get('why')}")
            if said.get("event") == "ready":
                self.kernel = str(said.get("kernel", ""))
                return

    # ------------------------------------------------------------ mounts

    def mount(
        self,
        source: str,
        point: str,
        *,
        version: int | str = 3,
        proto: str = "tcp",
        options: Mapping[str, str | int | None] | None = None,
    ) -> None:
        """Mounts "ADDRESS:/export" at a path of the guest below /run or /tmp; with locks by NFSv4 ("4.1") only.

        `options` are those of nfs(5), such as {"port": 2049}; those without a value have None. Raises ClientRefused.
        """
        chosen: dict[str, str | int | None] = {"vers": version, "proto": proto}
        if version in {2, 3}:
            chosen["nolock"] = None
        if version == 2:
            chosen["addr"] = source.partition(":")[0]
        chosen |= options or {}
        words = [name if value is None else f"{name}={value}" for name, value in chosen.items()]
        self._ask("mount", source=source, point=point, options=",".join(words), bypass=version == 2)

    def umount(self, point: str, *, force: bool = False) -> None:
        """Takes a mount away. `force`: whatever its server does. Raises ClientRefused."""
        self._ask("umount", point=point, force=force)

    def drop_caches(self) -> None:
        """Has the kernel forget data, names and attributes that it holds."""
        self._ask("drop_caches")

    # ------------------------------------------------------------ programs and files

    def begin(
        self, *argv: str, folder: str = "/", user: int = 0, group: int = 0, keep: int = KEPT_OUTPUT
    ) -> Running:
        """Starts a program in the guest. Raises ClientRefused when it cannot be started."""
        answer = self._ask("begin", argv=list(argv), keep=keep, folder=folder, user=user, group=group)
        return Running(argv, answer["number"])

    def finish(self, running: Running, *, seconds: float = 60.0) -> Done:
        """Waits for a program. It is ended after `seconds`, more on a busy machine; see `Done.check`."""
        granted = allowed(seconds)
        answer = self._ask("finish", granted, number=running.number, seconds=granted)
        stdout, stderr = b64decode(answer["stdout"]), b64decode(answer["stderr"])
        return Done(running.argv, answer["status"], stdout, stderr, answer["cut"], answer["late"])

    def run(
        self, *argv: str, seconds: float = 60.0, folder: str = "/", user: int = 0, group: int = 0
    ) -> Done:
        """Runs a program in the guest from its start to its end: `begin` and `finish`."""
        return self.finish(self.begin(*argv, folder=folder, user=user, group=group), seconds=seconds)

    def python(self, program: str, *argv: str, folder: str = "/", seconds: float = 60.0) -> str:
        """Runs a Python program in the guest; what it prints. Raises ProgramFailed."""
        return self.run("python3", "-c", program, *argv, folder=folder, seconds=seconds).check().text

    def write_file(self, path: str, data: bytes) -> None:
        """Makes a file in the guest. Raises ClientRefused."""
        for offset in range(0, max(len(data), 1), _PIECE):
            piece = b64encode(data[offset : offset + _PIECE]).decode()
            self._ask("write", path=path, data=piece, begin=offset == 0)

    def read_file(self, path: str) -> bytes:
        """A file of the guest. Raises ClientRefused."""
        data = bytearray()
        while piece := b64decode(self._ask("read", path=path, offset=len(data), count=_PIECE)["data"]):
            data += piece
        return bytes(data)

    # ------------------------------------------------------------ console

    def console(self, lines: int = 40) -> list[str]:
        """The last words of its kernel."""
        return last_lines(self._console(), lines)

    def alarms(self) -> list[Alarm]:
        """Oopses, warnings and hung tasks on the console since the start."""
        try:
            return alarms_in(self._console().read_text(errors="replace").splitlines())
        except (OSError, ClientGone):
            return []

    # ------------------------------------------------------------ how

    def _console(self) -> Path:
        return self._running().scratch / "console" if self.log_path is None else self.log_path

    def _running(self) -> KeptServer:
        if self._server is None:
            raise ClientGone("the Linux client is not running")
        return self._server

    def _ask(self, what: str, granted: float = 0.0, **arguments: object) -> dict[str, Any]:
        """One request; the answer. Raises ClientRefused, or ClientGone when there is none."""
        words = json.dumps({"do": what, **arguments})
        *parts, last = [words[at : at + _PART] for at in range(0, len(words), _PART)]
        for part in parts:
            self._send({"part": part}, what, 0.0)
        return self._send({"part": last, "whole": True}, what, granted)

    def _send(self, request: dict[str, object], what: str, granted: float) -> dict[str, Any]:
        server = self._running()
        self._requests += 1
        server.said.clear()
        server.say(json.dumps({"id": self._requests, **request}))
        deadline = time.monotonic() + granted + allowed(ANSWER)
        while True:
            answer = self._next_words(server, deadline, what)
            if answer.get("id") != self._requests:
                continue
            if not answer.get("ok"):
                raise ClientRefused(f"{what} in the guest: {answer.get('why')}")
            return answer

    def _next_words(self, server: KeptServer, deadline: float, what: str) -> dict[str, Any]:
        if not server.wait(lambda: bool(server.said), deadline - time.monotonic()):
            how = "did not answer in time" if server.is_alive() else "ended"
            end = "".join(f"\n  {line}" for line in self.console(20))
            raise ClientGone(f"the Linux client {how} ({what}); its console:{end}")
        try:
            said = json.loads(server.said.popleft())
        except ValueError:
            return {}
        return said if isinstance(said, dict) else {}


def pack_programs(path: Path, packages: Iterable[Path] = ()) -> None:
    """What runs in the guest: `agent.py`, which its first process starts, and the modules that this imports.

    `packages`: folders of packages of Python that programs there import.
    """
    folders = [str(folder) for folder in (Path(_PACKAGE), *Path(_PACKAGE).parents)][:-1]
    with tarfile.open(path, "w") as archive:
        _add(archive, "agent.py", _ENTRY)
        for package in packages:
            archive.add(package, package.name, filter=_without_caches)
        for folder in folders:
            if not any(package.name == folder for package in packages):
                _add(archive, f"{folder}/__init__.py", b"")
        for name in ("agent.py", "client.py"):
            archive.add(PROGRAMS / name, f"{_PACKAGE}/{name}")


def _without_caches(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if entry.name.endswith("__pycache__") else entry


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, BytesIO(data))

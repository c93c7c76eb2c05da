# SPDX-License-Identifier: MIT
"""The clients that can be tested: how each is started, mounts an export, and does work there.

A client is started and stopped once in a run, is `mounted` for each check, and does its `work` in the mounted export.
The program that does the work (`program`) runs where the client is: in a process of this machine, or in the guest of
the Linux client.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import typing as t
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nfsclient
from nfstargets.base import TargetError
from nfstargets.clients import program
from nfstargets.knfsd.client import ClientGone, ClientUnavailable, LinuxClient
from nfstargets.machine import allowed

_PROGRAM: t.Final = Path(program.__file__)
_POINT: t.Final = "/run/mnt"
_IN_GUEST: t.Final = "/run/program.py"
_MOUNTING: t.Final = 60.0
"""Seconds for commands that mount and unmount."""
_LONGEST: t.Final = 4 << 20
"""Characters of what a client may print."""


class NoClient(Exception):
    """A client cannot be tested here; the text says why, and what to do."""


class NotMounted(Exception):
    """The client could not mount the export, or could not leave it."""


@dataclass(frozen=True, slots=True)
class Export:
    """What is to be mounted: the proxy, as it looks to the client."""

    host: str
    port: int
    version: str
    """3, 4.1 or 4.2."""

    @property
    def url(self) -> str:
        """For a client that takes URLs."""
        if self.version == "3":
            return f"nfs://{self.host}/export?version=3&nfsport={self.port}&mountport={self.port}&uid=0&gid=0"
        return f"nfs://{self.host}:{self.port}/export?version={self.version}&uid=0&gid=0"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program of a client has ended."""

    output: str
    errors: str = ""
    is_late: bool = False
    """Whether it had to be killed."""


class Client(t.Protocol):
    """One client under test."""

    @property
    def name(self) -> str: ...

    @property
    def versions(self) -> Sequence[str]: ...

    @property
    def has_locks(self) -> bool: ...

    @property
    def does(self) -> Collection[str]:
        """The steps of works that it can do, as in `program.DOES`."""
        ...

    @property
    def host(self) -> str:
        """Where the server must listen, so that the client reaches it; known after `start`."""
        ...

    @property
    def description(self) -> str:
        """With its version; known after `start`."""
        ...

    def start(self) -> None:
        """Raises `NoClient`."""
        ...

    def stop(self) -> None: ...

    def network(self) -> contextlib.AbstractContextManager[None]:
        """This thread in the network of the client: what it makes there, the client reaches."""
        ...

    def mounted(self, export: Export) -> contextlib.AbstractContextManager[object]:
        """The export is mounted in the block. Raises `NotMounted`."""
        ...

    def work(self, steps: Sequence[Mapping[str, t.Any]], seconds: float) -> Ended:
        """The steps of `program`, in the mounted export."""
        ...


class Process(t.NamedTuple):
    """How a process of this machine has ended."""

    output: bytes
    errors: str
    status: int
    """As `subprocess` has it: negative for a signal."""
    is_late: bool


def run_program(argv: Sequence[str], seconds: float, **environment: str) -> Process:
    """A program of this machine, with the processes that it starts; killed when its time is up. Raises OSError."""
    is_late = False
    with subprocess.Popen(  # noqa: S603  a client of the user, or ours
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        start_new_session=True,
    ) as process:
        try:
            output, errors = process.communicate(timeout=allowed(seconds))
        except subprocess.TimeoutExpired:
            is_late = True
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        if is_late:
            output, errors = process.communicate()
    return Process(output[:_LONGEST], errors.decode(errors="replace")[-2000:], process.returncode, is_late)


def _run(argv: Sequence[str], seconds: float, **environment: str) -> Ended:
    done = run_program(argv, seconds, **environment)
    return Ended(done.output.decode(errors="replace"), done.errors, done.is_late)


class LibraryClient:
    """A client that is a library, in a process for each work: nothing is mounted."""

    has_locks = False
    does: Collection[str] = program.DOES
    host = "127.0.0.1"

    def __init__(self, name: str, versions: Sequence[str]) -> None:
        self.name = name
        self.versions = versions
        self.description = name
        self.mutant = ""
        """How the library of nfsproof misbehaves: a name of `mutants.MUTANTS`; empty: it does not."""
        self._export: Export | None = None

    def start(self) -> None:
        if self.name == "libnfs":
            try:
                library = program.find_libnfs()
            except OSError as error:
                raise NoClient(
                    f"{error.strerror}; the package is libnfs13 or libnfs14 in Debian, libnfs in Fedora"
                ) from error
            self.description = f"libnfs ({library._name})"

    def stop(self) -> None:
        pass

    def network(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    @contextlib.contextmanager
    def mounted(self, export: Export) -> Iterator[None]:
        self._export = export
        yield

    def work(self, steps: Sequence[Mapping[str, t.Any]], seconds: float) -> Ended:
        assert self._export is not None
        order = {"how": self.name, "at": self._export.url, "steps": steps, "mutant": self.mutant}
        home = str(Path(nfsclient.__file__).parents[1])
        return _run([sys.executable, "-P", str(_PROGRAM), json.dumps(order)], seconds, PYTHONPATH=home)


class LinuxGuest:
    """The Linux kernel's client, in the guest that `nfsproof install knfsd` installs."""

    name = "linux"
    versions = ("3", "4.1", "4.2")
    has_locks = True
    does: Collection[str] = program.DOES

    def __init__(self) -> None:
        self.host = ""
        self.description = "the Linux kernel's client"
        self._guest = LinuxClient()
        self._is_wedged = False
        """Whether a program waits in its kernel for ever, so that it has to boot again."""

    def start(self) -> None:
        try:
            self._guest.start()
            self._guest.write_file(_IN_GUEST, _PROGRAM.read_bytes())
        except ClientUnavailable as error:
            raise NoClient(str(error)) from error
        except TargetError as error:
            raise NoClient(f"the guest does not work: {error}") from error
        self.host = self._guest.gateway
        self.description = f"the client of Linux {self._guest.kernel}"

    def stop(self) -> None:
        self._guest.stop()

    def network(self) -> contextlib.AbstractContextManager[None]:
        if self._is_wedged:
            self._guest.stop()
            self._guest, self._is_wedged = LinuxClient(), False
            self.start()
        return self._guest.visit()

    @contextlib.contextmanager
    def mounted(self, export: Export) -> Iterator[None]:
        options: dict[str, str | int | None] = {"port": export.port}
        version: str | int = 3 if export.version == "3" else export.version
        if version == 3:
            options |= {"mountport": export.port, "mountproto": "tcp"}
        try:
            self._guest.mount(f"{export.host}:/export", _POINT, version=version, options=options)
        except ClientGone as error:
            raise NoClient(str(error)) from error
        except TargetError as error:
            self._is_wedged = True
            raise NotMounted(str(error)) from error
        try:
            yield
        finally:
            try:
                self._guest.umount(_POINT, force=True)
            except TargetError:
                self._is_wedged = True

    def work(self, steps: Sequence[Mapping[str, t.Any]], seconds: float) -> Ended:
        order = json.dumps({"how": "posix", "at": _POINT, "steps": steps})
        try:
            done = self._guest.run("python3", _IN_GUEST, order, seconds=seconds)
        except TargetError as error:
            raise NoClient(str(error)) from error
        return Ended(done.text, done.stderr.decode(errors="replace")[-2000:], done.is_late)


class CommandClient:
    """Any client of this machine that mounts by a command; {host}, {port}, {version} and {point} in it are replaced."""

    name = "command"
    has_locks = True
    does: Collection[str] = program.DOES
    host = "127.0.0.1"

    def __init__(self, mount: str, umount: str, versions: Sequence[str]) -> None:
        self.versions = versions
        self.description = f"what {mount.split(maxsplit=1)[0]} mounts"
        self._commands = (mount, umount)
        self._point = ""

    def start(self) -> None:
        """Raises `NoClient` if a command cannot be found."""
        for command in self._commands:
            words = shlex.split(command)
            if not words or shutil.which(words[0]) is None:
                raise NoClient(f"{words[0] if words else repr(command)} cannot be started: no such program")
        self._point = tempfile.mkdtemp(prefix="nfsproof-mount-")

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            Path(self._point).rmdir()

    def network(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    @contextlib.contextmanager
    def mounted(self, export: Export) -> Iterator[None]:
        values = {
            "host": export.host,
            "port": str(export.port),
            "version": export.version,
            "point": self._point,
        }
        mount, umount = (
            [_filled(word, values) for word in shlex.split(command)] for command in self._commands
        )
        self._command(mount)
        try:
            yield
        finally:
            self._command(umount)

    def _command(self, argv: list[str]) -> None:
        try:
            done = subprocess.run(  # noqa: S603  commands of the user
                argv,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=allowed(_MOUNTING),
                check=False,
            )
        except OSError as error:
            raise NoClient(f"{argv[0]} cannot be started: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise NotMounted(f"{shlex.join(argv)} did not end within {_MOUNTING:g} s") from error
        if done.returncode:
            said = (done.stderr or done.stdout).strip()[-500:]
            raise NotMounted(f"{shlex.join(argv)} ended with {done.returncode}: {said}")

    def work(self, steps: Sequence[Mapping[str, t.Any]], seconds: float) -> Ended:
        order = {"how": "posix", "at": self._point, "steps": steps}
        return _run([sys.executable, "-P", str(_PROGRAM), json.dumps(order)], seconds)


def _filled(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word


CLIENTS: t.Final[dict[str, t.Callable[[], Client]]] = {
    "nfsclient": lambda: LibraryClient("nfsclient", ("3", "4.1", "4.2")),
    "libnfs": lambda: LibraryClient("libnfs", ("3",)),
    "linux": LinuxGuest,
}
"""Name -> client, of those that need no command of the user."""
VERSIONS: t.Final = ("3", "4.1", "4.2")

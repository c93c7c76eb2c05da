# SPDX-License-Identifier: MIT
"""A server in a keeper process (`keeper`), seen from the run: start, signal, wait, and what became of it."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import nfsclient
from nfstargets.base import TargetError
from nfstargets.keeper import MEMORY
from nfstargets.machine import allowed

KEEPER_READY = 15.0
"""Seconds for a Python process to start and to make its namespace."""
_QUICK = 5.0
"""Seconds for the kernel to start or to end a process."""
KEEPER_END = 6.0
"""Seconds for a keeper to end once its input has; it gives the server half of that."""


@dataclass(frozen=True, slots=True)
class Network:
    """A separate network for a server. If that is a virtual machine: a tap device, and our addresses on it."""

    name: str = ""
    """Of the device; empty: there is none."""
    addresses: tuple[str, ...] = ()
    netmask: str = ""
    joins: int | None = None
    """The keeper of another machine, to whose network the device is added; None: a new network."""


class KeptServer:
    """One server process at a time under one keeper. All waits have deadlines, in seconds.

    `memory`: folders to make file systems in memory of; `files`: files of zeros to make then, with their sizes;
    `rpcbind`: socket to answer registrations at; `network`: the network to make. They exist for the server only.
    `scratch` is removed when the keeper ends, also when this process is killed.
    """

    def __init__(
        self,
        scratch: Path,
        *,
        data: int = MEMORY,
        rpcbind: Path | None = None,
        memory: Iterable[Path] = (),
        files: Mapping[Path, int] | None = None,
        network: Network | None = None,
    ) -> None:
        self.scratch = scratch
        self.data = data
        """Bytes of memory that the server may have to write to."""
        self._wanted = {
            "rpcbind": rpcbind and str(rpcbind),
            "memory": [str(path) for path in memory],
            "files": {str(path): size for path, size in (files or {}).items()},
            "network": network and asdict(network),
            "remove": str(scratch),
        }
        self._keeper: subprocess.Popen[bytes] | None = None
        self._input = bytearray()
        self.registered: set[tuple[int, int]] = set()
        """Programs and versions that the present server has announced to rpcbind."""
        self.pid: int | None = None
        """The server that runs now."""
        self.status: int | None = None
        """How the last server ended, as `subprocess` says it: negative for a signal. None while one runs."""
        self.oom_kills = 0
        """How many processes the kernel has killed for lack of memory while that server ran."""
        self.said: deque[str] = deque()
        """Lines that the present server has written on its line, and nobody has taken."""
        self._failure: str | None = None
        self._is_lost = False

    @property
    def complaints(self) -> Path:
        """What the keeper itself writes when it breaks."""
        return self.scratch / "keeper.err"

    def open(self) -> None:
        """Starts the keeper and makes the namespace. Raises TargetError with the kernel's reason."""
        self._is_lost = False
        with self.complaints.open("wb") as stream:
            self._keeper = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-P", "-m", "nfstargets.keeper", json.dumps(self._wanted)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
                env=os.environ | {"PYTHONPATH": _import_path()},
                cwd="/",
                # A Ctrl-C in the terminal is for the run, which then ends its servers in order.
                start_new_session=True,
            )
        assert self._keeper.stdout is not None
        os.set_blocking(self._keeper.stdout.fileno(), False)
        ready: list[bool] = []
        try:
            self._await(lambda: bool(ready), allowed(KEEPER_READY), "the keeper of the server", ready)
        except BaseException:
            self.close()
            raise

    @property
    def keeper_pid(self) -> int:
        """The process whose network is the server's. Raises TargetError."""
        if self._keeper is None:
            raise TargetError("the server has no keeper: open() comes first")
        return self._keeper.pid

    def start(self, argv: list[str], output: Path, folder: Path | None = None) -> None:
        """Starts the server, its output appended to a file. Raises TargetError when it cannot be executed.

        "{line}" in `argv` becomes the number of a descriptor, the server's end of a line: see `say` and `said`.
        `folder` is for its temporary files.
        """
        self.registered.clear()
        self.said.clear()
        self.status = None
        self._tell(do="start", argv=argv, output=str(output), folder=folder and str(folder), data=self.data)
        self._await(lambda: self.pid is not None or self.status is not None, allowed(_QUICK), argv[0])

    def say(self, text: str) -> None:
        """Writes a line to the server. Raises TargetError when there is no keeper."""
        self._tell(do="say", text=text)

    def wait(self, predicate: Callable[[], bool], seconds: float) -> bool:
        """Takes in events until `predicate` holds, the server has ended, or time is up; what it says then."""
        deadline = time.monotonic() + seconds
        while not predicate() and self.pid is not None and self._take_events(deadline):
            pass
        return predicate()

    def is_alive(self) -> bool:
        """Whether the server runs, as far as is known now."""
        self._take_events(time.monotonic())
        return self.pid is not None

    def is_kept(self) -> bool:
        """Whether the keeper runs, and with it what the server has mounted."""
        return self._keeper is not None and not self._is_lost and self._keeper.poll() is None

    def end(self, number: int, seconds: float) -> None:
        """Sends the server a signal and waits for its end; SIGKILL when it takes longer than `seconds`."""
        killed = allowed(_QUICK)
        for attempt, patience in ((number, seconds), (signal.SIGKILL, killed)):
            if not self.is_alive():
                return
            self._tell(do="signal", number=int(attempt))
            if self.wait(lambda: self.pid is None, patience):
                return
        raise TargetError(f"process {self.pid} did not end within {killed:g} s of SIGKILL")

    def close(self) -> None:
        """Ends server, keeper, namespace and scratch folder. May be called twice."""
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        with contextlib.suppress(OSError):
            keeper.stdin.close()
        try:
            keeper.wait(KEEPER_END)
        except subprocess.TimeoutExpired:
            keeper.kill()  # which takes the server with it
            keeper.wait()
        keeper.stdout.close()
        self.pid = None

    def _tell(self, **command: Any) -> None:
        if self._keeper is None or self._keeper.stdin is None:
            raise TargetError("the server has no keeper: open() comes first")
        try:
            if self._is_lost:
                raise BrokenPipeError
            self._keeper.stdin.write(json.dumps(command).encode() + b"\n")
            self._keeper.stdin.flush()
        except OSError as error:
            raise TargetError(f"the keeper of the server is gone{self._last_words()}") from error

    def _await(
        self, predicate: Callable[[], bool], seconds: float, what: str, ready: list[bool] | None = None
    ) -> None:
        deadline = time.monotonic() + seconds
        while not predicate():
            going = self._take_events(deadline, ready)
            if self._failure is not None:
                failure, self._failure = self._failure, None
                raise TargetError(failure)
            if not going and not predicate():
                why = "ended" if self._is_lost else f"was silent for {seconds:g} s"
                raise TargetError(f"{what} {why}{self._last_words()}")

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            words = self.complaints.read_text(errors="replace").strip().splitlines()
            return f": {words[-1]}" if words else ""
        return ""

    def _take_events(self, deadline: float, ready: list[bool] | None = None) -> bool:
        """Waits for one batch of events; False when the deadline has come or the keeper has gone."""
        if self._keeper is None or self._keeper.stdout is None:
            return False
        with selectors.DefaultSelector() as selector:
            selector.register(self._keeper.stdout, selectors.EVENT_READ)
            if not selector.select(max(0.0, deadline - time.monotonic())):
                return False
        data = os.read(self._keeper.stdout.fileno(), 65_536)
        if not data:
            # Without its keeper the server has been killed by the kernel.
            self._is_lost = True
            if self.pid is not None:
                self.pid, self.status = None, -signal.SIGKILL
            return False
        self._input += data
        *lines, self._input = self._input.split(b"\n")
        for line in lines:
            self._note(json.loads(line), ready)
        return True

    def _note(self, event: dict[str, Any], ready: list[bool] | None) -> None:
        match event["event"]:
            case "ready" if ready is not None:
                ready.append(True)
            case "started":
                self.pid = event["pid"]
            case "registered":
                self.registered.add((event["program"], event["version"]))
            case "said":
                self.said.append(event["text"])
            case "ended":
                self.pid, self.status, self.oom_kills = None, event["status"], event["oom"]
            case "failed":
                self._failure = event["why"]


def _import_path() -> str:
    """Where the keeper finds these packages: in one folder in a checkout, in different ones in an installation."""
    here = Path(__file__).resolve().parents[1]
    library = Path(str(nfsclient.__file__)).resolve().parents[1]
    return os.pathsep.join(dict.fromkeys((str(here), str(library))))


def describe_end(status: int) -> str:
    """ "exit status 2" or "signal 11 (SIGSEGV)", from a status as `subprocess` gives it."""
    if status >= 0:
        return f"exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"
    return f"signal {-status} ({name})"


def last_lines(path: Path, count: int, longest: int = 300) -> list[str]:
    """The end of a log, long lines cut; empty when there is none."""
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - count * 1024))
            text = stream.read().decode(errors="replace")
    except OSError:
        return []
    return [line[:longest] for line in text.splitlines()[-count:]]


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Ports above 1023 that are free for TCP and UDP now. Another program may be faster: be ready to ask again."""
    sockets: list[socket.socket] = []
    ports: list[int] = []
    try:
        for _ in range(count * 50):
            if len(ports) == count:
                break
            tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            sockets.append(tcp)
            tcp.bind((host, 0))
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sockets.append(udp)
            try:
                udp.bind((host, tcp.getsockname()[1]))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                continue
            ports.append(tcp.getsockname()[1])
    finally:
        for sock in sockets:
            sock.close()
    if len(ports) < count:
        raise TargetError(f"{host} has no {count} ports free for both TCP and UDP")
    return ports

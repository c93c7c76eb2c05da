# SPDX-License-Identifier: MIT
"""The life that all servers have which a run starts itself: on free ports of loopback, kept, watched and stopped.

What differs from one server to the next (how it is found, how it gets its ports, how it is known to be ready) is in
subclasses.
"""

from __future__ import annotations

import atexit
import re
import shutil
import signal
import tempfile
import time
from abc import abstractmethod
from contextlib import closing
from pathlib import Path
from typing import ClassVar

from nfsclient.clients import Mount
from nfsclient.errors import NfsClientError
from nfsclient.rpc.blocking import connect_tcp
from nfsclient.rpc.loop import Loop
from nfstargets.base import Target, TargetAddress, TargetError
from nfstargets.machine import allowed
from nfstargets.process import KeptServer, describe_end, free_ports, last_lines
from nfstargets.versions import client_of

HOST = "127.0.0.1"
START = 15.0
"""Seconds from the start of a process to its first answers; 0.05 are usual, 0.5 for one in Python."""
STOP = 5.0
"""Seconds from SIGTERM to its end; 0.05 are usual."""
PORT_ATTEMPTS = 5
_NULL = 2.0
_PAUSE = 0.02
_PORT_TAKEN = re.compile(
    r"cannot bind|address (is )?already in use|could not set up host forwarding", re.IGNORECASE
)
_NO_MEMORY = re.compile(
    r"memory allocation of \d+ bytes failed|out of memory|cannot allocate memory|bad_alloc|\bMemoryError\b",
    re.IGNORECASE,
)
"""The last words of programs in Rust, Go, C, C++ and Python."""
_MOST_WORDS = 2000
"""Lines; the stack traces of all threads may follow them."""
_END = 1.0
"""Seconds from the end of its sockets to the end of a process."""
_LOG = "; last lines of its log:"
_LAST_LINES = 20
"""Enough for the stack trace of a crash."""


class _PortTaken(Exception):
    """Somebody else got a port between our look and the server's."""


class ProgramTarget(Target):
    """One server process, from an empty export at `start` to nothing at `stop`.

    Its log is written to `log_path`: set it before `start` to keep the log with a report. Otherwise the log is in
    a temporary folder that goes with this process.
    """

    per_worker: ClassVar[bool] = True  # so that a crash in one worker disturbs no other
    controls = frozenset({"crash", "restart"})
    is_throwaway: ClassVar[bool] = True
    ports_wanted: ClassVar[int] = 1
    """How many ports it listens on."""
    start_limit: ClassVar[float] = START
    """Seconds from a start to the first answers."""

    def __init__(self, name: str, short_name: str) -> None:
        self.name = name
        self.short_name = short_name
        """For names of files."""
        self.log_path: Path | None = None
        self._server: KeptServer | None = None
        self._ports: tuple[int, ...] | None = None
        self._log_seen = 0
        self._is_counted = False
        """Whether `lacks_of_memory` has the end of the present server."""
        self._exit_report: str | None = None

    # ------------------------------------------------------------ what differs

    @abstractmethod
    def prepare(self) -> None:
        """Finds the program. Raises TargetError, in one line that says how to get it."""

    @abstractmethod
    def make_server(self, scratch: Path) -> KeptServer:
        """What is needed in the scratch folder, and the keeper, not yet open."""

    @abstractmethod
    def command(self, server: KeptServer, ports: tuple[int, ...]) -> list[str]:
        """The command line of one start; writes what files it wants."""

    @abstractmethod
    def output(self, server: KeptServer) -> Path:
        """Where standard output and standard error go."""

    @abstractmethod
    def title(self) -> str:
        """Name and version of the program."""

    def is_announced(self, server: KeptServer) -> bool:  # noqa: ARG002
        """Whether it has announced its sockets; a server without announcements is pinged at once."""
        return True

    def choose_ports(self) -> tuple[int, ...]:
        """The ports of the next start."""
        return tuple(free_ports(self.ports_wanted, HOST))

    def after_open(self, server: KeptServer) -> None:
        """What is to be done between the start of the keeper and that of the server. Raises TargetError."""

    def folder_for_files(self, server: KeptServer) -> Path | None:  # noqa: ARG002
        """Where the server makes temporary files; None: where this process does."""
        return None

    def stop_server(self, server: KeptServer) -> None:
        """Ends the server for good. Raises TargetError when it does not end."""
        server.end(signal.SIGTERM, allowed(STOP))

    # ------------------------------------------------------------ life

    def start(self) -> None:
        """Starts with an empty export and returns when NFS and MOUNT answer. Raises TargetError."""
        self.prepare()
        self._exit_report = None
        try:
            self._open()
            self._launch_on_free_ports()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """SIGTERM, and SIGKILL when that takes too long; the scratch folder goes, the log stays."""
        if self._server is None:
            return
        server = self._server
        if self._ports is not None:
            self._exit_report = self.exit_report()
        self._server = self._ports = None
        try:
            self.stop_server(server)
        finally:
            server.close()
            shutil.rmtree(server.scratch, ignore_errors=True)

    def address(self) -> TargetAddress:
        if self._ports is None:
            raise TargetError(f"{self.name} is not running")
        return self.address_of(self._ports)

    @abstractmethod
    def address_of(self, ports: tuple[int, ...]) -> TargetAddress:
        """The address that these ports make."""

    @property
    def log_name(self) -> str:
        return self.name

    # ------------------------------------------------------------ controls

    def crash(self) -> None:
        """SIGKILL and a start; returns when it answers again. What the kernel holds for it (page cache) survives."""
        self._end_and_relaunch(signal.SIGKILL)

    def restart(self) -> None:
        """SIGTERM and a start, also when it has died; returns when it answers again."""
        self._end_and_relaunch(signal.SIGTERM)

    def exit_report(self) -> str | None:
        """How it ended when nobody had asked for that, with the end of its log."""
        server = self._server
        if server is None or self._ports is None or server.is_alive() or server.status is None:
            return self._exit_report
        how = describe_end(server.status)
        if not self._lacked_memory(server):
            return self._with_log(f"{self.title()} ended unexpectedly with {how}")
        granted = f"nfsproof grants it {server.data >> 30} GiB"
        return self._with_log(f"{self.title()} ended for lack of memory, of which {granted}, with {how}")

    def await_end(self) -> None:
        """Waits for it, since an end takes long where much memory is freed."""
        if self._server is not None:
            self._server.wait(lambda: False, _END)

    def _lacked_memory(self, server: KeptServer) -> bool:
        """Whether it ended because it got no more memory: by its own words, or killed by the kernel for that."""
        if server.status == -signal.SIGKILL and server.oom_kills:
            self._count_lack()
            return True
        return server.status != 0 and self._count_if_starved(server)

    def _count_if_starved(self, server: KeptServer) -> bool:
        """Whether it says that it got no more memory; it may still be writing that when it is asked to end."""
        if _NO_MEMORY.search("\n".join(self._words_of_this_start(server))) is None:
            return False
        self._count_lack()
        return True

    def _count_lack(self) -> None:
        if not self._is_counted:
            self.lacks_of_memory += 1
            self._is_counted = True

    def _words_of_this_start(self, server: KeptServer) -> list[str]:
        """The log, and what it wrote last to its standard error."""
        words = self._log_of_this_start()[-_MOST_WORDS:]
        return words + (
            last_lines(self.output(server), _LAST_LINES) if self.output(server) != self.log_path else []
        )

    # ------------------------------------------------------------ how

    def temporary(self) -> Path:
        """The folder that scratch folders are made in."""
        return Path(tempfile.gettempdir()).resolve()

    def _open(self) -> None:
        """Scratch folder, log and the keeper with its namespace."""
        temporary = self.temporary()
        scratch = Path(tempfile.mkdtemp(prefix=f"nfsproof-{self.short_name}-", dir=temporary))
        if self.log_path is None:
            folder = Path(tempfile.mkdtemp(prefix=f"nfsproof-{self.short_name}-log-", dir=temporary))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            self.log_path = folder / f"{self.short_name}.log"
        self._server = self.make_server(scratch)
        try:
            self._server.open()
        except TargetError as error:
            raise TargetError(f"{self.name} {self.apart}: {error}") from error
        self.after_open(self._server)

    apart: ClassVar[str] = "has no keeper"
    """What it means that the keeper could not begin."""

    def _launch_on_free_ports(self) -> None:
        for _ in range(PORT_ATTEMPTS):
            ports = self.choose_ports()
            try:
                self.launch(ports)
            except _PortTaken:
                continue
            return
        raise TargetError(
            f"{self.name}: other programs took its ports {PORT_ATTEMPTS} times; does the machine have free ports?"
        )

    def launch(self, ports: tuple[int, ...]) -> None:
        """One start. Raises _PortTaken, or TargetError with the end of the log."""
        server, log = self._running(), self.log_path
        assert log is not None
        argv = self.command(server, ports)
        self._is_counted = False
        self._log_seen = log.stat().st_size if log.exists() else 0
        server.start(argv, self.output(server), self.folder_for_files(server))
        self._await_answers(ports)
        self._ports = ports

    def _await_answers(self, ports: tuple[int, ...]) -> None:
        server, address = self._running(), self.address_of(ports)
        limit = allowed(self.start_limit)
        deadline = time.monotonic() + limit
        # Asking before it has bound its sockets might reach another program on a port it did not get.
        server.wait(lambda: self.is_announced(server), limit)
        while not (server.is_alive() and self.is_announced(server) and _answers(address)):
            if not server.is_alive():
                if _PORT_TAKEN.search("\n".join(self._log_of_this_start())):
                    raise _PortTaken
                how = "" if server.status is None else f" with {describe_end(server.status)}"
                raise TargetError(self._with_log(f"{self.name} ended while starting{how}"))
            if time.monotonic() > deadline:
                raise TargetError(
                    self._with_log(f"{self.name} did not answer within {limit:g} s of its start")
                )
            # Events of the server end the pause at once; its death does above all.
            server.wait(lambda: False, _PAUSE)

    def _end_and_relaunch(self, number: signal.Signals) -> None:
        server = self._running()
        ports = self._ports
        if ports is None:
            raise TargetError(f"{self.name} is not running: start() comes first")
        self.exit_report()  # of one that has ended: it is counted
        server.end(number, allowed(STOP))
        self._count_if_starved(server)
        if not server.is_kept():
            # Its keeper was killed, and with it went what the server had.
            self.stop()
            self.start()
            return
        try:
            self.launch(ports)
        except _PortTaken:
            self._launch_on_free_ports()

    def _running(self) -> KeptServer:
        if self._server is None:
            raise TargetError(f"{self.name} is not running")
        return self._server

    def _log_of_this_start(self) -> list[str]:
        assert self.log_path is not None
        try:
            with self.log_path.open("rb") as stream:
                stream.seek(self._log_seen)
                return stream.read().decode(errors="replace").splitlines()
        except OSError:
            return []

    def _with_log(self, what: str) -> str:
        """`what`, followed by the last words in the log and on the standard error of the server."""
        assert self.log_path is not None
        lines = last_lines(self.log_path, _LAST_LINES)
        if self._server is not None and self.output(self._server) != self.log_path:
            lines += last_lines(self.output(self._server), _LAST_LINES)
        words = "".join(f"\n  {line}" for line in lines)
        return f"{what}{_LOG}{words}" if words else f"{what}; its log is empty"


def without_log(text: str) -> str:
    """Why a server ended, without the last words in its log."""
    return text.partition(_LOG)[0]


def _answers(address: TargetAddress) -> bool:
    """Whether NULL of its NFS version and of MOUNT version 3, where it has a port, are answered."""
    with closing(Loop()) as loop:
        try:
            with connect_tcp(address.host, address.nfs_port, loop=loop, timeout=_NULL) as rpc:
                client_of(address.version)(rpc).null()
            if address.mount_port:
                with connect_tcp(address.host, address.mount_port, loop=loop, timeout=_NULL) as rpc:
                    Mount(rpc).null()
        except NfsClientError:
            return False
    return True

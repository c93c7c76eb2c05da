# SPDX-License-Identifier: MIT
"""Workers as processes of this machine, each with a socket to the controller. Nothing has to be installed.

The processes are started, not forked: they share nothing with the controller but the socket. Ctrl-C of a terminal goes
to all processes, and so may SIGTERM and SIGHUP; workers ignore them, and the controller says what they do. A worker
whose controller is gone sees the end of its socket, and ends.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import socket
import time
import typing as t
from collections.abc import Iterator, Mapping
from contextlib import closing
from multiprocessing.process import BaseProcess

from nfsclient.rpc.loop import Loop
from workloads.carriers.messages import encode
from workloads.carriers.servant import MakeWorker, make_worker, serve_on
from workloads.carriers.wire import Wire

_OF_GROUPS: t.Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_JOIN: t.Final = 2.0
"""Seconds for a process to end that was killed."""


def serve(sock: socket.socket, nfsproof: str, make: MakeWorker) -> None:
    """What a process of a worker does."""
    for number in _OF_GROUPS:
        signal.signal(number, signal.SIG_IGN)
    serve_on(sock, nfsproof, make)


class Processes:
    """As `crew.Reach`."""

    def __init__(
        self, number: int, loop: Loop, *, nfsproof: str = "", make: MakeWorker = make_worker
    ) -> None:
        """`make` makes a worker in each process: a function of a module, for tests."""
        self.names: list[str] = []
        self.processes: list[BaseProcess] = []
        self._number = number
        self._loop = loop
        self._nfsproof = nfsproof
        self._make = make
        self._wires: list[Wire] = []

    def start(self) -> None:
        """Start the processes. They begin to answer when Python is up in them."""
        context = multiprocessing.get_context("spawn")
        with _no_interrupts():
            for number in range(self._number):
                ours, theirs = socket.socketpair()
                self._wires.append(Wire(ours, self._loop))
                process = context.Process(
                    target=serve,
                    args=(theirs, self._nfsproof, self._make),
                    name=f"nfsproof worker {number}",
                    daemon=True,
                )
                with closing(theirs):
                    process.start()
                self.processes.append(process)
                self.names.append(f"process {process.pid}")

    def send(self, worker: int, text: str) -> None:
        self._wires[worker].send(text)

    def arrived(self) -> list[tuple[int, str]]:
        found = []
        for worker, wire in enumerate(self._wires):
            found += [(worker, text) for text in wire.inbox]
            wire.inbox.clear()
        return found

    def gone(self) -> Mapping[int, str]:
        return {
            worker: self._why(self.processes[worker])
            for worker, wire in enumerate(self._wires)
            if wire.is_over and not wire.inbox
        }

    @staticmethod
    def _why(process: BaseProcess) -> str:
        process.join(_JOIN)
        code = process.exitcode
        if code is None:
            return "it closed its connection"
        return f"it ended with {_signal(-code)}" if code < 0 else f"it ended with status {code}"

    def kill(self, worker: int) -> None:
        self.processes[worker].kill()
        self.processes[worker].join(_JOIN)
        self._wires[worker].close()

    def end(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        for wire in self._wires:
            wire.send(encode({"call": "end"}))
        while time.monotonic() < deadline and any(process.is_alive() for process in self.processes):
            self._loop.run_once(self._loop.clock() + 0.05)
        for worker, process in enumerate(self.processes):
            self.kill(worker)
            process.close()
        self.processes.clear()
        self._wires.clear()


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """Interruptions wait: a process that inherits this never sees one, not even before it ignores it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, set(_OF_GROUPS))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

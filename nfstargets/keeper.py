# SPDX-License-Identifier: MIT
"""The process that keeps a server: its namespace, its rpcbind, its life and its end.

`python -P -m nfstargets.keeper JSON` is started by `process.KeptServer` and talks to it in lines of JSON. It
lives as long as the target does, so that what is mounted survives a restart of the server; and when its standard
input ends, for whatever reason, it ends the server and removes the scratch folder. Nothing remains, even
if the run is killed.

Argument: {"rpcbind": PATH or null, "memory": [PATH, ...], "remove": PATH or null, "files": {PATH: SIZE, ...},
           "network": {"name": NAME, "addresses": [ADDRESS, ...], "netmask": ADDRESS, "joins": PID or null} or null}

    rpcbind   where to answer registrations; an empty file system hides the folder around it first, unless
              namespaces are forbidden and nobody is there
    memory    folders to make file systems in memory of
    files     files of zeros to make then
    network   a tap device to make in a network namespace. The server and what it starts have a process namespace,
              too: all of it ends with the server. joins: a process whose network gets the device instead.
              Without a name: only a network namespace with loopback
    remove    folder to remove at the end

Commands:  {"do": "start", "argv": [...], "output": PATH, "folder": PATH or null, "data": BYTES}
           (the folder is for its temporary files; data is the memory that it may have; "{line}" in argv becomes the
           number of a descriptor: its line to us)
           {"do": "signal", "number": N}                         {"do": "say", "text": TEXT} (on that line)
Events:    {"event": "ready"}                                    {"event": "failed", "why": TEXT}
           {"event": "started", "pid": N}                        {"event": "registered", "program": N, "version": N}
           {"event": "ended", "pid": N, "status": N, "oom": N}   (status as in subprocess: negative for a signal;
                                                                 oom: how many processes the kernel has killed
                                                                 meanwhile for lack of memory)
           {"event": "said", "text": TEXT}                       (a line that the server wrote on its line)
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from nfsclient.protocol.rpcbind import Rpcb
from nfsclient.rpc.loop import Loop
from nfstargets.machine import oom_kills
from nfstargets.namespace import (
    NEEDS,
    NamespaceError,
    die_with_parent,
    enter_private_machine,
    enter_private_mounts,
    enter_private_network,
    mount_tmpfs,
    unmount,
)
from nfstargets.rpcbind_stub import Registry, UnixListener
from nfstargets.tap import bring_up_loopback, make_tap

MEMORY = 4 << 30
"""Bytes of data that a server may have. None needs that much for the checks; some take what a call claims to have."""
ALONE = "192.0.2.1"
"""An address for documentation (RFC 5737), in a network in which nobody else is."""
GRACE = 3.0
"""Seconds that a server has to end by itself when the keeper ends."""


class _Input:
    """A member of a loop that only reads: `on_readable` is the callback it was given."""

    def __init__(self, descriptor: int, callback: Any) -> None:
        self.descriptor = descriptor
        self.on_readable = callback

    def fileno(self) -> int:
        return self.descriptor

    def wants_to_read(self) -> bool:
        return True

    def wants_to_write(self) -> bool:
        return False

    def on_writable(self) -> None:
        """It writes nothing."""

    def next_deadline(self) -> float | None:
        return None

    def on_deadline(self, now: float) -> None:
        """Nothing is timed here."""


class Keeper:
    """One server at a time, started, signalled and watched on command."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.ending = False
        self.is_machine = False
        """Whether this is process 1 of a namespace in which nobody else's processes are."""
        self.server: subprocess.Popen[bytes] | None = None
        self.rpcbind: UnixListener | None = None
        self._commands = bytearray()
        self._oom_kills = 0
        """Of the whole machine, before the server was started."""
        self._line: socket.socket | None = None
        self._line_input: _Input | None = None
        self._heard = bytearray()

    def say(self, event: str, **details: int | str) -> None:
        """One event to the run; that it has gone is noticed by the end of input."""
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.write(json.dumps({"event": event, **details}) + "\n")
            sys.stdout.flush()

    def registered(self, entry: Rpcb) -> None:
        """A server has registered one of its programs."""
        self.say("registered", program=entry.r_prog, version=entry.r_vers)

    def read_commands(self) -> None:
        """Reads commands from standard input; its end ends the keeper."""
        data = os.read(0, 65_536)
        if not data:
            self.ending = True
            return
        self._commands += data
        *lines, rest = self._commands.split(b"\n")
        self._commands = rest
        for line in lines:
            self.obey(json.loads(line))

    def obey(self, command: dict[str, Any]) -> None:
        """Carries out one command; trouble is an event, never an exception."""
        if command["do"] == "start":
            self.start(command["argv"], Path(command["output"]), command["folder"], command["data"])
        elif command["do"] == "say":
            self.tell_server(command["text"])
        elif self.server is not None:
            self.server.send_signal(command["number"])

    def start(self, argv: list[str], output: Path, folder: str | None, data: int) -> None:
        """Starts the server, its output appended to a file."""
        self._oom_kills = oom_kills()
        self._hang_up()
        theirs: list[int] = []
        if any("{line}" in word for word in argv):
            theirs.append(self._new_line())
            argv = [word.replace("{line}", str(theirs[0])) for word in argv]
        try:
            with output.open("ab") as stream:
                self.server = subprocess.Popen(  # noqa: S603 - what the run asked for
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=stream,
                    pass_fds=theirs,
                    env=None if folder is None else os.environ | {"TMPDIR": folder},
                    cwd="/",
                    # This process has one thread, so code between fork and exec is safe.
                    preexec_fn=partial(_before_the_server, data),  # noqa: PLW1509
                )
        except OSError as error:
            self.say("failed", why=f"{argv[0]}: {error.strerror}")
            return
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        self.say("started", pid=self.server.pid)

    def _new_line(self) -> int:
        """A line to the server that starts now: the descriptor of its end."""
        self._line, theirs = socket.socketpair()
        self._line.setblocking(False)
        self._heard.clear()
        self._line_input = _Input(self._line.fileno(), self.hear_server)
        self.loop.add(self._line_input)
        return theirs.detach()

    def _hang_up(self) -> None:
        if self._line is not None and self._line_input is not None:
            self.loop.remove(self._line_input)
            self._line.close()
        self._line = self._line_input = None

    def hear_server(self) -> None:
        """Passes on what the server writes on its line."""
        assert self._line is not None
        try:
            data = self._line.recv(65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._hang_up()
            return
        self._heard += data
        *lines, self._heard = self._heard.split(b"\n")
        for line in lines:
            self.say("said", text=line.decode(errors="replace"))

    def tell_server(self, text: str) -> None:
        """Writes on the line of the server. One that does not read gets nothing, and gives no answer."""
        if self._line is not None:
            with contextlib.suppress(OSError):
                self._line.sendall(text.encode() + b"\n")

    def look_at_server(self) -> None:
        """A child may have ended: tells the run."""
        if self.server is not None and self.server.poll() is not None:
            status, pid = self.server.returncode, self.server.pid
            oom = oom_kills() - self._oom_kills
            self.server = None
            self._end_the_rest()
            self.say("ended", pid=pid, status=status, oom=oom)

    def _end_the_rest(self) -> None:
        """Ends what the server has left running, in a namespace where all processes are its own."""
        if not self.is_machine or os.getpid() != 1:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)

    def end(self) -> None:
        """Ends the server: asks first, then insists."""
        if self.server is None:
            return
        self.server.terminate()
        # The loop goes on: a server that ends in order takes back its registrations.
        if not self.loop.run_until(lambda: self.server is None, self.loop.clock() + GRACE):
            self.server.kill()
            self.server.wait()
            self.look_at_server()


def _before_the_server(data: int) -> None:
    die_with_parent(signal.SIGKILL)
    with contextlib.suppress(OSError, ValueError):  # ValueError: a lower limit that cannot be raised
        # The same on every machine. It counts what may be written, not address space that is only reserved.
        resource.setrlimit(resource.RLIMIT_DATA, (data, data))
    with contextlib.suppress(OSError):  # a kernel without /proc
        # Where there is less, a server that believes each length in a call is to end, and nothing else.
        Path("/proc/self/oom_score_adj").write_text("1000")


def _watch_signals(keeper: Keeper) -> socket.socket:
    """Turns signals into input of the loop: the end of a child, and requests to end."""
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)
    requests = {signal.SIGTERM, signal.SIGHUP, signal.SIGINT}
    for number in (signal.SIGCHLD, *requests):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(writer.detach())

    def read_signals() -> None:
        if requests.intersection(reader.recv(256)):
            keeper.ending = True
        keeper.look_at_server()

    keeper.loop.add(_Input(reader.fileno(), read_signals))
    return reader


def _enter_machine(network: dict[str, Any] | None) -> bool:
    """Makes the network; returns in a child if there is a device. Whether it does. Raises NamespaceError."""
    if network is None:
        return False
    try:
        if not network["name"]:
            enter_private_network()
            bring_up_loopback(ALONE)
            return False
        enter_private_machine(network["joins"])
    except NamespaceError as error:
        raise NamespaceError(f"{error}; needed: {NEEDS}") from error
    make_tap(network["name"], network["addresses"], network["netmask"])
    return True


def _set_up(keeper: Keeper, wanted: dict[str, Any]) -> None:
    """Makes the namespace and what stands in it. Raises NamespaceError or OSError."""
    path = Path(wanted["rpcbind"]).resolve() if wanted["rpcbind"] else None
    if path is None and not wanted["memory"]:
        return
    try:
        if not keeper.is_machine:
            enter_private_mounts()
    except NamespaceError as error:
        # A container may forbid namespaces. It is one already: where nobody answers as rpcbind, we may.
        if path is None or path.exists() or wanted["memory"] or not os.access(path.parent, os.W_OK):
            raise NamespaceError(f"{error}; needed: {NEEDS}") from error
    else:
        for name in wanted["memory"]:
            mount_tmpfs(Path(name), mode=0o777)
        if path is not None:
            mount_tmpfs(path.parent)
    for name, size in wanted["files"].items():
        with Path(name).open("xb") as file:
            file.truncate(size)
    if path is not None:
        keeper.rpcbind = UnixListener(keeper.loop, path, Registry(keeper.registered))


def main(argument: str) -> int:
    """Keeps until input ends or a signal asks for the end; 1 when there is nothing to keep."""
    wanted: dict[str, Any] = json.loads(argument)
    try:
        is_machine = _enter_machine(wanted["network"])
    except NamespaceError as error:
        Keeper(Loop()).say("failed", why=str(error))
        return 1
    loop = Loop()
    keeper = Keeper(loop)
    keeper.is_machine = is_machine
    signals = _watch_signals(keeper)
    loop.add(_Input(0, keeper.read_commands))
    try:
        _set_up(keeper, wanted)
    except (NamespaceError, OSError) as error:
        keeper.say("failed", why=str(error))
        return 1
    keeper.say("ready")
    while not keeper.ending:
        loop.run_once(loop.clock() + 60)
    keeper.end()
    signals.close()
    if keeper.rpcbind is not None:
        keeper.rpcbind.close()
    for name in wanted["memory"]:
        unmount(Path(name))
    if wanted["remove"]:
        shutil.rmtree(wanted["remove"], ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

# SPDX-License-Identifier: MIT
"""The processes of this machine that serve a port: whether they live, how they ended, how much memory they have.

`find_watch` looks for who listens on the port, in /proc/net and then in /proc/PID/fd, without a call to the server.
`NotWatched` says why there is nobody to watch: the server is on another machine, in another network namespace or in the
kernel, or belongs to another user. That is usual, and no error.

What must stay true, because a wrong verdict costs more than a missing one:

- A process is a pid with its start time (or a pidfd), so that a pid which is used again is another one.
- The server has ended when *all* processes are gone that listened on the port when it was found. A worker of a
  pre-forked server that ends, or a helper of it, is not the server.
- Memory is what the processes have written to themselves: RssAnon and VmSwap of /proc/PID/status. Address space that is
  only reserved (VmSize, VmData: arenas of Go, Java and malloc) does not count, nor do mapped files (the page cache).
  Children count, too. Where there are several processes, pages that they share count once (Pss_Anon).
- Nothing is changed in the server: no signal, no trace, no `clear_refs`.
"""

from __future__ import annotations

import contextlib
import fcntl
import ipaddress
import itertools
import os
import re
import select
import signal
import socket
import struct
import sys
import time
import typing as t
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nfstargets.machine import oom_kills
from nfstargets.process import describe_end

_PROC: t.Final = Path("/proc")
_LISTENS: t.Final = "0A"
"""The state of a listening TCP socket in /proc/net/tcp."""
_UNCONNECTED: t.Final = "07"
"""That of a UDP socket that receives from anybody."""
_FORWARDERS: t.Final = re.compile(
    r"docker-proxy|rootlessport|rootlesskit|slirp4netns|pasta(\.avx2)?|passt(\.avx2)?|socat|sshd?|sshd-session|autossh|"
    r"kubectl|k9s|haproxy|nginx|angie|envoy|stunnel.*|qemu-.*|vpnkit.*|gvproxy|linux|rinetd|redir|simpleproxy|balance|"
    r"nc|ncat|netcat|nc\.(openbsd|traditional)|socket-proxyd|systemd-socket.*|traefik|caddy|frpc|frps|gost|chisel|ngrok|"
    r"cloudflared|tailscaled|wireproxy|tinyproxy|microsocks|dante|sockd|squid|limactl|lima-.*|colima|vde_.*|plink|"
    r"dbclient|dropbear|toxiproxy.*|xinetd|inetd|mitmproxy|mitmdump|iproxy|wstunnel|rathole|bore|inlets.*|nfsproof-proxy"
)
"""Programs that listen for a server which is elsewhere, by the first 15 characters of their names.

Others are not known by their names, such as a forwarder in Python: where an answer takes long, no larger length follows
(`fixtures.checks.announcing`), and silence of a process that lives is no death (`fixtures.plugin.fatal`).
"""
_PAUSE: t.Final = 0.02
_MOST_PROCESSES: t.Final = 64
"""Processes and threads that are looked at for children: a server with more is counted without theirs."""
_EXIT_INFO: t.Final = (3 << 30) | (64 << 16) | (0xFF << 8) | 11
"""ioctl PIDFD_GET_INFO with the first form of struct pidfd_info, of 64 bytes (Linux 6.13; exit status 6.15)."""
_ASKS_FOR_EXIT: t.Final = 8
"""PIDFD_INFO_EXIT, in the mask of that structure."""
_START: t.Final = 19
_EXIT_CODE: t.Final = 49
"""Fields 22 and 52 of /proc/PID/stat, counted from the state on."""
_ORDERLY_SIGNALS: t.Final = frozenset(
    {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL}
)
"""What people and init systems end a program with. SIGKILL may also come from the kernel, for lack of memory."""


_CRASH_SIGNALS: t.Final = frozenset(
    {
        signal.SIGSEGV,
        signal.SIGBUS,
        signal.SIGILL,
        signal.SIGFPE,
        signal.SIGABRT,
        signal.SIGSYS,
        signal.SIGTRAP,
        signal.SIGPIPE,
    }
)
"""What ends a program by its own fault."""
_PANICS: t.Final = frozenset({2, 101})
"""The exit statuses of a panic of Go and of Rust."""


class NotWatched(Exception):
    """The processes of a server cannot be watched from here; the text says why, as the end of a sentence."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the processes of a server have now, all together. Memory in bytes."""

    memory: int
    """Written by the processes themselves, in memory or swapped out."""
    peak: int
    """The largest memory of one process so far, mapped files included (VmHWM)."""
    threads: int

    def growth_since(self, before: Reading) -> int:
        """Bytes that were written to since then, also where they have been given back meanwhile.

        The peak shows those, if it was not higher before; files that were mapped meanwhile are in it as well.
        """
        return max(0, self.memory - before.memory, self.peak - max(before.peak, before.memory))


@dataclass(frozen=True, slots=True)
class Ending:
    """How a server ended."""

    pid: int
    port: int
    status: int | None
    """As `subprocess` says it: negative for a signal. None: not known, since only its parent can ask everywhere."""
    oom_kills: int = 0
    """Processes that the kernel has killed for lack of memory since the server was found, of this machine."""

    @property
    def was_stopped(self) -> bool:
        """Whether somebody has ended it, or it ended in order: that shows nothing of a call."""
        if self.status is None:
            return False
        number = -self.status if self.status < 0 else self.status - 128
        return self.status == 0 or number in _ORDERLY_SIGNALS

    @property
    def is_crash(self) -> bool:
        """Whether it is known to have ended by itself: by the signal of a crash, or with a panic of Go or Rust.

        Another error may follow an orderly stop as well: `log.Fatal(Serve())` of Go ends with 1 after SIGTERM.
        """
        if self.status is None:
            return False
        number = -self.status if self.status < 0 else self.status - 128
        return self.status in _PANICS or number in _CRASH_SIGNALS

    @property
    def was_killed_for_memory(self) -> bool:
        """Whether the kernel may have killed it because the machine, or its group, had no more memory."""
        return self.status in {None, -signal.SIGKILL} and self.oom_kills > 0

    @property
    def how(self) -> str:
        """``signal 11 (SIGSEGV)``; ``unknown`` if nobody said."""
        return "unknown" if self.status is None else describe_end(self.status)

    def describe(self) -> str:
        """``process 17 (port 2049) ended with signal 11 (SIGSEGV)``."""
        how = "" if self.status is None else f" with {self.how}"
        why = ", when the kernel killed for lack of memory" if self.was_killed_for_memory else ""
        return f"process {self.pid} (port {self.port}) ended{how}{why}"


class WatchedProcess:
    """One process, known by its pid and the time of its start. Raises `NotWatched` if it is not there."""

    def __init__(self, pid: int, proc: Path = _PROC) -> None:
        self.pid = pid
        self._folder = proc / str(pid)
        self._started = self._start_time()
        self.descriptor: int | None = None
        """A pidfd: it can be read from when the process has ended. None where there are none."""
        if self._started is None:
            raise NotWatched(f"process {pid} has ended")
        if hasattr(os, "pidfd_open") and proc == _PROC:
            with contextlib.suppress(OSError):
                self.descriptor = os.pidfd_open(pid)

    @property
    def name(self) -> str:
        """The first 15 characters of its program's name; empty if it has ended."""
        try:
            return (self._folder / "comm").read_text(errors="replace").strip()
        except OSError:
            return ""

    @property
    def arguments(self) -> list[str]:
        """Its command line; empty if it has ended."""
        try:
            return (self._folder / "cmdline").read_text(errors="replace").split("\0")
        except OSError:
            return []

    def is_alive(self) -> bool:
        """Whether it runs; a process that waits for its parent to ask for its status does not."""
        if self.descriptor is not None and select.select([self.descriptor], [], [], 0)[0]:
            return False
        return self._start_time() == self._started

    def status(self) -> int | None:
        """How it ended, as `subprocess` says it; None if it runs, or if this system does not say."""
        if self.is_alive():
            return None
        fields = self._fields()
        if fields[:1] == ["Z"] and len(fields) > _EXIT_CODE:  # its parent has not asked for it
            return os.waitstatus_to_exitcode(int(fields[_EXIT_CODE]))
        if self.descriptor is None:
            return None
        asked = bytearray(struct.pack("<Q56x", _ASKS_FOR_EXIT))
        try:
            fcntl.ioctl(self.descriptor, _EXIT_INFO, asked)
        except OSError:
            return None
        mask, code = struct.unpack("<Q52xi", asked)
        return os.waitstatus_to_exitcode(code) if mask & _ASKS_FOR_EXIT else None

    def values(self, name: str = "status") -> dict[str, int]:
        """The numbers in a file of the process, such as `status`: kilobytes become bytes. Empty if it has ended."""
        try:
            text = (self._folder / name).read_text(errors="replace")
        except OSError:
            return {}
        found: dict[str, int] = {}
        for line in text.splitlines():
            key, _, value = line.partition(":")
            number, _, unit = value.strip().partition(" ")
            if number.isdecimal():
                found[key] = int(number) << (10 if unit == "kB" else 0)
        return found

    def children(self) -> Iterator[int]:
        """The pids of those that its threads have started and that run."""
        with contextlib.suppress(OSError):
            tasks = os.listdir(self._folder / "task")  # noqa: PTH208  (iterdir makes a Path of each)
            for task in tasks[:_MOST_PROCESSES]:
                with contextlib.suppress(OSError):
                    yield from map(int, (self._folder / "task" / task / "children").read_text().split())

    def close(self) -> None:
        """Forget it."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def _start_time(self) -> str | None:
        """In ticks since the machine was started; None if it has ended."""
        fields = self._fields()
        return None if len(fields) <= _START or fields[0] in "ZXx" else fields[_START]

    def _fields(self) -> list[str]:
        """/proc/PID/stat from the state on, which follows the name of the program; empty if it is no more."""
        try:
            return (self._folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            return []


class ServerWatch:
    """The processes that listen on one port of this machine."""

    def __init__(self, processes: Iterable[WatchedProcess], port: int) -> None:
        self.processes = tuple(processes)
        self.port = port
        self._proc = _PROC
        self._oom_kills = oom_kills()

    def describe(self, *, named: bool = True) -> str:
        """``process 17 (ganesha.nfsd)``, or the first of several."""
        first, *others = self.processes
        name = f" ({first.name})" if named and first.name else ""
        return f"process {first.pid}{name}" + (f" and {len(others)} more" if others else "")

    def is_alive(self) -> bool:
        """Whether one of the processes lives that listened when they were found."""
        return any(process.is_alive() for process in self.processes)

    def wait_for_end(self, seconds: float) -> None:
        """Wait until all of the processes have ended, if that is soon."""
        deadline = time.monotonic() + seconds
        while self.is_alive() and (left := deadline - time.monotonic()) > 0:
            living = [process.descriptor for process in self.processes if process.is_alive()]
            known = [descriptor for descriptor in living if descriptor is not None]
            # Of a process without a pidfd (an old kernel) only a look shows the end.
            select.select(known, [], [], left if len(known) == len(living) else min(left, _PAUSE))

    def ending(self) -> Ending | None:
        """How the server ended; None while one of its processes lives."""
        if self.is_alive():
            return None
        first = self.processes[0]
        return Ending(first.pid, self.port, first.status(), oom_kills() - self._oom_kills)

    def read(self, *, with_children: bool = True) -> Reading | None:
        """What its processes and their children have now; None if they have ended.

        Without children it takes a tenth of the time, 40 microseconds for one process.
        """
        everybody = self._with_children() if with_children else self.processes
        found = [
            (process, values) for process in everybody if "VmRSS" in (values := process.values())
        ]  # others have ended
        if not found:
            return None
        memory = sum(_own_memory(process, values, is_alone=len(found) == 1) for process, values in found)
        peak = max(values.get("VmHWM", 0) for _, values in found)
        for process, _ in found:
            if process not in self.processes:
                process.close()
        return Reading(memory, peak, sum(values.get("Threads", 0) for _, values in found))

    def _with_children(self) -> list[WatchedProcess]:
        found = list(self.processes)
        known = {process.pid for process in found}
        for process in found:  # grows meanwhile
            for pid in process.children() if len(found) < _MOST_PROCESSES else ():
                if pid not in known:
                    known.add(pid)
                    with contextlib.suppress(NotWatched):
                        found.append(WatchedProcess(pid))
        return found

    def close(self) -> None:
        """Forget the processes."""
        for process in self.processes:
            process.close()


def _own_memory(process: WatchedProcess, values: dict[str, int], *, is_alone: bool) -> int:
    """What a process has written to; of several, what they share counts in parts."""
    resident = values.get("RssAnon", 0)
    if not is_alone:
        resident = process.values("smaps_rollup").get("Pss_Anon", resident)
    return resident + values.get("VmSwap", 0)


# ---------------------------------------------------------------- who serves a port


def find_watch(host: str, port: int, transport: str = "tcp") -> ServerWatch:
    """Find the processes that serve a port. Raises `NotWatched`. It makes no call and no connection."""
    if not sys.platform.startswith("linux") or not (_PROC / "net").exists():
        raise NotWatched("this system has no /proc that says who listens")
    addresses = _local_addresses(host)
    if not addresses:
        raise NotWatched("it runs on another machine")
    sockets = _listening(addresses, port, transport)
    if not sockets:
        raise NotWatched(
            f"no process here listens on port {port}: it is in another network namespace, or the port is forwarded"
        )
    pids, hidden = _owners(sockets)
    if not pids:
        owner = (
            "the kernel, another user or another container" if hidden else "the kernel or another container"
        )
        raise NotWatched(f"the socket of port {port} belongs to {owner}")
    if os.getpid() in pids:
        raise NotWatched("the server is in this process")
    return ServerWatch(_servers(pids, port), port)


def _servers(pids: Iterable[int], port: int) -> list[WatchedProcess]:
    """The processes among those that have the socket which serve it: whoever passes it on is not one."""
    found, forwarders = list[WatchedProcess](), list[str]()
    for pid in sorted(pids):
        with contextlib.suppress(NotWatched):
            process = WatchedProcess(pid)
            name = process.name
            if pid == 1 or name == "systemd" or is_forwarder(name, process.arguments):
                forwarders.append(name)
                process.close()
            else:
                found.append(process)
    if not found:
        raise NotWatched(
            f"port {port} belongs to {forwarders[0] if forwarders else 'a process that has ended'}"
        )
    return found


def is_forwarder(name: str, arguments: t.Sequence[str]) -> bool:
    """Whether a program is known to pass on what it gets: by its name, or `nfsproof proxy` by its arguments."""
    pairs = itertools.pairwise(arguments)
    is_own = any(after == "proxy" and os.path.basename(word) == "nfsproof" for word, after in pairs)  # noqa: PTH119
    return is_own or _FORWARDERS.fullmatch(name) is not None


_Address: t.TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


def _local_addresses(host: str) -> set[_Address]:
    """The addresses of a host that belong to this machine: loopback, and those that a socket can have here."""
    try:
        found = {(info[0], info[4][0]) for info in socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)}
    except OSError:
        return set()
    return {
        ipaddress.ip_address(str(text).partition("%")[0])
        for family, text in found
        if _is_local(family, str(text))
    }


def _is_local(family: int, text: str) -> bool:
    if ipaddress.ip_address(text.partition("%")[0]).is_loopback:
        return True
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.bind((text, 0))
        return True
    return False


def _listening(addresses: set[_Address], port: int, transport: str) -> set[str]:
    """The inodes of the sockets that get what is sent to a port at these addresses."""
    exact, wild = set[str](), {4: set[str](), 6: set[str]()}
    for name in (transport, f"{transport}6"):
        for address, found_port, state, inode in _sockets(name):
            if found_port != port or state != (_LISTENS if transport == "tcp" else _UNCONNECTED):
                continue
            if address in addresses:
                exact.add(inode)
            elif address.is_unspecified and (
                address.version == 6 or any(address.version == 4 for address in addresses)
            ):
                wild[address.version].add(inode)
    # Where a socket of IPv4 listens, one of IPv6 is for IPv6 only, and perhaps another server's.
    has_v6 = any(address.version == 6 for address in addresses)
    return exact or (wild[4] | wild[6] if has_v6 else wild[4] or wild[6])


def _sockets(name: str) -> Iterator[tuple[_Address, int, str, str]]:
    """(address, port, state, inode) of each line of /proc/net/tcp and the like."""
    try:
        lines = (_PROC / "net" / name).read_text(encoding="ascii", errors="replace").splitlines()[1:]
    except OSError:
        return
    for line in lines:
        fields = line.split()
        if len(fields) > 9:
            address, _, port = fields[1].partition(":")
            with contextlib.suppress(ValueError):
                yield _address(address), int(port, 16), fields[3], fields[9]


def _address(text: str) -> _Address:
    """An address as /proc/net has it: words of 32 bits in the byte order of the machine. Raises ValueError."""
    raw = bytes.fromhex(text)
    if sys.byteorder == "little":
        raw = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    address = ipaddress.ip_address(raw)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _owners(inodes: set[str]) -> tuple[set[int], bool]:
    """The processes that have one of these sockets, and whether there are some whose files cannot be seen."""
    wanted = {f"socket:[{inode}]" for inode in inodes}
    found, hidden = set[int](), False
    for name in os.listdir(_PROC):  # noqa: PTH208
        if not name.isdecimal():
            continue
        folder = _PROC / name / "fd"
        try:
            descriptors = os.listdir(folder)  # noqa: PTH208
        except PermissionError:
            hidden = True
            continue
        except OSError:
            continue
        for descriptor in descriptors:
            with contextlib.suppress(OSError):
                if os.readlink(folder / descriptor) in wanted:  # noqa: PTH115
                    found.add(int(name))
                    break
    return found, hidden

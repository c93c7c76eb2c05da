# SPDX-License-Identifier: MIT
"""Processes that each make three private networks, and sockets in them for the process that started the first.

    client 198.18.0.2 --- veth --- (bridge) --- veth --- 198.18.0.1 server

It is a separate program because only a process with one thread may enter a user namespace. Sockets stay in the
network in which they were made, so they can be handed over (SCM_RIGHTS), and the other process needs no privilege. The
networks have no names: they disappear with their process and the sockets, however either of them ends.

A program that uses many networks one after another starts this one once, as an interpreter costs more than networks:
the first process only forks one for each of them, and ends when its line is closed. The kernel takes 60 ms to make
networks, mostly waiting. So from the second on there is a spare: a process whose networks are made before they are
wanted.

A server that nfsproof has started may be in the private network of the process that started this one, instead of a
new one: then the bridge is connected with a device there, which is made and taken away again, or is there already.

Messages on Unix sockets are JSON, with descriptors. On the one whose descriptor is the first argument, each is a
`Place` with the line of its networks. On that line the first message comes from here, as soon as they are there.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import json
import os
import signal
import socket
import sys
import typing as t
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nfsfaults.bridge import rtnetlink

CLIENT, SERVER, PREFIX = "198.18.0.2", "198.18.0.1", 24
"""Addresses for measurements between networks (RFC 2544), which nobody uses."""
CLIENT_MAC, SERVER_MAC = b"\x02\0\0\0\0\x02", b"\x02\0\0\0\0\x01"


@dataclass(frozen=True, slots=True)
class Place:
    """Where client and server are. The addresses of both have the first three bytes in common."""

    server: str = SERVER
    client: str = CLIENT
    forged: str = "198.18.0.77"
    """The sender of forged packets: in the same network, and neither of them."""
    is_here: bool = False
    """Whether the server is in the network of the process that starts this one."""
    device: str = ""
    """The device there that leads to the server; empty: one is made."""
    number: int = 0
    """Tells clients apart that are connected with one network."""

    @property
    def client_mac(self) -> bytes:
        return CLIENT_MAC[:4] + self.number.to_bytes(1, "big") + CLIENT_MAC[5:] if self.number else CLIENT_MAC


MOST_BYTES: t.Final = 4096
_NEWUSER, _NEWNET = 0x1000_0000, 0x4000_0000
_EVERYTHING: t.Final = 3
"""ETH_P_ALL."""
_BUFFER: t.Final = 4 << 20
_SOL_PACKET: t.Final = 263
_PACKET_AUXDATA: t.Final = 8
_OWN: t.Final = Path("/proc/self/ns/net")


class _Networks:
    """The three namespaces as descriptors; this process is in that of the bridge."""

    def __init__(self, *, is_here: bool) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        if is_here and not _is_able():
            raise OSError(errno.EPERM, "the network of the server cannot be reached")
        home = self._own() if is_here else None
        # Root of the machine needs no user namespace, and in one it could not do everything that it can.
        self._unshare(_NEWNET if _is_able() else _NEWUSER | _NEWNET)
        self.bridge = self._own()
        self.sides = {"client": self._another(), "server": self._another() if home is None else home}

    def _unshare(self, flags: int) -> None:
        if self._libc.unshare(flags):
            raise OSError(ctypes.get_errno(), f"unshare: {os.strerror(ctypes.get_errno())}")

    def _own(self) -> int:
        return os.open(_OWN, os.O_RDONLY)

    def _another(self) -> int:
        self._unshare(_NEWNET)
        made = self._own()
        self.enter(self.bridge)
        return made

    def enter(self, namespace: int) -> None:
        """What is made from now on is made there."""
        if self._libc.setns(namespace, _NEWNET):
            raise OSError(ctypes.get_errno(), f"setns: {os.strerror(ctypes.get_errno())}")


def _is_able() -> bool:
    """Whether this process has CAP_NET_ADMIN and CAP_SYS_ADMIN."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            effective = int(line.split()[1], 16)
            return bool(effective >> 12 & 1 and effective >> 21 & 1)
    return False


def _join(networks: _Networks, place: Place) -> list[socket.socket]:
    """Connect the networks; the packet sockets of the bridge toward client and server."""
    _connect(networks, "client", "eth0", place.client, place.client_mac)
    if place.device:
        networks.enter(networks.sides["server"])
        there = _tap(place.device)
        there.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)  # it says which checksums the server has left out
        networks.enter(networks.bridge)
        return [_tap("client"), there]
    device = f"nfs{os.getpid()}" if place.is_here else "eth0"
    _connect(networks, "server", device, place.server, SERVER_MAC)
    return [_tap("client"), _tap("server")]


def _connect(networks: _Networks, side: str, device: str, address: str, mac: bytes) -> None:
    """A pair of devices between the bridge and a side."""
    rtnetlink.add_pair(side, device, mac=mac, peer_namespace=networks.sides[side])
    rtnetlink.set_up(side)
    networks.enter(networks.sides[side])
    rtnetlink.offload_nothing(device)
    rtnetlink.set_up("lo")
    rtnetlink.set_up(device)
    rtnetlink.add_address(device, address, PREFIX)
    networks.enter(networks.bridge)


def _tap(device: str) -> socket.socket:
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_EVERYTHING))
    sock.bind((device, 0))
    for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        sock.setsockopt(socket.SOL_SOCKET, option, _BUFFER)  # as much of it as the system allows
    sock.setblocking(False)
    return sock


def _make(networks: _Networks, wanted: dict[str, t.Any]) -> socket.socket:
    """A socket on one side, bound to a port if one is wanted. Raises OSError."""
    networks.enter(networks.sides[wanted["side"]])
    try:
        sock = socket.socket(
            socket.AF_INET, socket.SOCK_STREAM if wanted["kind"] == "tcp" else socket.SOCK_DGRAM
        )
    finally:
        networks.enter(networks.bridge)
    if wanted["port"] is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("", wanted["port"]))
    if wanted["listens"]:
        sock.listen(128)
    return sock


def serve(line: socket.socket, place: Place) -> None:
    """Make the networks, and sockets until the other side closes the line."""
    _serve_made(line, place, _try_to_make(place))


def _try_to_make(place: Place) -> tuple[_Networks, list[socket.socket]] | OSError:
    """Networks, and the packet sockets of their bridge; or why there are none."""
    try:
        networks = _Networks(is_here=place.is_here)
        return networks, _join(networks, place)
    except OSError as error:
        return error


def _serve_made(
    line: socket.socket, place: Place, made: tuple[_Networks, list[socket.socket]] | OSError
) -> None:
    if isinstance(made, OSError):
        line.send(json.dumps({"error": made.strerror or str(made)}).encode())
        return
    networks, taps = made
    there = json.dumps({"process": os.getpid()}).encode()
    socket.send_fds(line, [there], [tap.fileno() for tap in taps])
    for tap in taps:
        tap.close()
    while wanted := line.recv(MOST_BYTES):
        try:
            sock = _make(networks, json.loads(wanted))
        except OSError as error:
            line.send(json.dumps({"error": error.strerror or str(error)}).encode())
            continue
        socket.send_fds(line, [b"{}"], [sock.fileno()])
        sock.close()
    if place.is_here and not place.device:
        # At once: the next one may have the same addresses, and the kernel takes its time.
        rtnetlink.delete("server")


def _fork(work: Callable[[], None], *inherited: socket.socket) -> None:
    """A process that does this and ends, without sockets that it would inherit."""
    if os.fork() == 0:
        try:
            for sock in inherited:
                sock.close()
            work()
        finally:
            os._exit(0)  # without the end of an interpreter, which takes longer than all the rest


class _Spare:
    """A process that has made networks of the usual place, and waits for the line on which they are wanted."""

    def __init__(self, *inherited: socket.socket) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        _fork(lambda: self._wait(theirs), self._ours, *inherited)
        theirs.close()

    @staticmethod
    def _wait(for_line: socket.socket) -> None:
        made = _try_to_make(Place())
        _, descriptors, _, _ = socket.recv_fds(for_line, 1, 1)
        for_line.close()
        if descriptors:
            with socket.socket(fileno=descriptors[0]) as line:
                _serve_made(line, Place(), made)

    def take(self, line: socket.socket) -> bool:
        """Whether it goes on with this line; it may have been killed."""
        with self._ours, contextlib.suppress(OSError):
            socket.send_fds(self._ours, [b"x"], [line.fileno()])
            return True
        return False


def fork_for_each(requests: socket.socket) -> None:
    """For each request a process that makes its networks, until the other side closes the line."""
    spare: _Spare | None = None
    while True:
        wanted, descriptors, _, _ = socket.recv_fds(requests, MOST_BYTES, 1)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:  # those that have ended, whose use of the processor is ours
                pass
        if not wanted:
            return
        place = Place(**json.loads(wanted))
        with socket.socket(fileno=descriptors[0]) as line:
            is_usual = place == Place()
            if not (is_usual and spare is not None and spare.take(line)):
                _fork(functools.partial(serve, line, place), requests)
        if is_usual:
            spare = _Spare(requests)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group: the other side ends first
    with socket.socket(fileno=int(sys.argv[1])) as requests:
        fork_for_each(requests)


if __name__ == "__main__":
    main()

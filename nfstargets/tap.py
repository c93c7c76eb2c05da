# SPDX-License-Identifier: MIT
"""A network of one cable in the network namespace of this process: a tap device, which a virtual machine opens."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from collections.abc import Sequence

from nfstargets.namespace import NamespaceError

DEVICE = "/dev/net/tun"
_TUNSETIFF = 0x4004_54CA
_TUNSETPERSIST = 0x4004_54CB
_SIOCSIFFLAGS = 0x8914
_SIOCSIFADDR = 0x8916
_SIOCSIFNETMASK = 0x891C
_IFF_TAP = 0x0002
_IFF_NO_PI = 0x1000
_IFF_UP = 0x1
_NAME = 16
_REQUEST = 40


def make_tap(name: str, addresses: Sequence[str], netmask: str) -> None:
    """Makes the device with these IPv4 addresses, and brings it and loopback up. Raises NamespaceError."""
    try:
        _make_device(name)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            _configure(sock, "lo", _SIOCSIFFLAGS, struct.pack("=H", _IFF_UP))
            for number, address in enumerate(addresses):
                # Each further address has its own label.
                label = f"{name}:{number}" if number else name
                _configure(sock, label, _SIOCSIFADDR, _address(address))
                _configure(sock, label, _SIOCSIFNETMASK, _address(netmask))
            _configure(sock, name, _SIOCSIFFLAGS, struct.pack("=H", _IFF_UP))
    except OSError as error:
        raise NamespaceError(f"the network device {name} cannot be set up: {error.strerror}") from error


def bring_up_loopback(address: str) -> None:
    """In a new network it is down. It gets a further address: without one that is not loopback's, the resolver takes
    no IPv4 address for usable, and servers that ask it do not start. Raises NamespaceError.
    """
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            _configure(sock, "lo", _SIOCSIFFLAGS, struct.pack("=H", _IFF_UP))
            _configure(sock, "lo:1", _SIOCSIFADDR, _address(address))
            _configure(sock, "lo:1", _SIOCSIFNETMASK, _address("255.255.255.255"))
    except OSError as error:
        raise NamespaceError(f"the network device lo cannot be set up: {error.strerror}") from error


def _make_device(name: str) -> None:
    try:
        descriptor = os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise NamespaceError(f"{DEVICE} cannot be opened: {error.strerror}") from error
    try:
        flags = struct.pack("=H", _IFF_TAP | _IFF_NO_PI)
        fcntl.ioctl(descriptor, _TUNSETIFF, _request(name, flags))
        fcntl.ioctl(descriptor, _TUNSETPERSIST, 1)
    finally:
        os.close(descriptor)


def _configure(sock: socket.socket, name: str, command: int, value: bytes) -> None:
    fcntl.ioctl(sock.fileno(), command, _request(name, value))


def _request(name: str, value: bytes) -> bytes:
    """A struct ifreq."""
    return (name.encode().ljust(_NAME, b"\0") + value).ljust(_REQUEST, b"\0")


def _address(text: str) -> bytes:
    """A struct sockaddr_in with port 0."""
    return struct.pack("=HH", socket.AF_INET, 0) + socket.inet_aton(text)

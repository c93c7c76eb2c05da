# SPDX-License-Identifier: MIT
"""As much of rtnetlink(7) as two pairs of veth(4) need, and two ioctls of ethtool. Linux only."""

from __future__ import annotations

import array
import fcntl
import os
import socket
import struct

_NEWLINK, _DELLINK, _NEWADDR, _ERROR = 16, 17, 20, 2
_REQUEST_AND_ACK = 0x5
_CREATE = 0x600
_IFLA_ADDRESS, _IFLA_IFNAME, _IFLA_LINKINFO, _IFLA_NET_NS_FD = 1, 3, 18, 28
_INFO_KIND, _INFO_DATA, _VETH_PEER = 1, 2, 1
_IFA_ADDRESS, _IFA_LOCAL = 1, 2
_IFF_UP = 1
_SIOCETHTOOL = 0x8946
_SET_TX_CHECKSUM, _SET_TSO, _SET_GSO = 0x17, 0x1F, 0x24


def _attribute(number: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), number) + data + bytes(-len(data) % 4)


def _link(index: int = 0, flags: int = 0) -> bytes:
    """An ifinfomsg that changes the flags in `flags`."""
    return struct.pack("=BxHiII", 0, 0, index, flags, flags)


def _ask(kind: int, body: bytes, flags: int = 0) -> None:
    """Make a request in the network namespace of this thread. Raises OSError."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as sock:
        sock.send(struct.pack("=IHHII", 16 + len(body), kind, _REQUEST_AND_ACK | flags, 1, 0) + body)
        answer = sock.recv(8192)
    (_, answered), (error,) = struct.unpack_from("=IH", answer), struct.unpack_from("=i", answer, 16)
    if answered == _ERROR and error:
        raise OSError(-error, f"rtnetlink: {os.strerror(-error)}")


def add_pair(name: str, peer: str, *, mac: bytes, peer_namespace: int) -> None:
    """Make a pair of veth: `name` here, `peer` with the address `mac` in another network namespace."""
    there = [
        _link(),
        _attribute(_IFLA_IFNAME, peer.encode() + b"\0"),
        _attribute(_IFLA_ADDRESS, mac),
        _attribute(_IFLA_NET_NS_FD, struct.pack("=I", peer_namespace)),
    ]
    info = _attribute(_INFO_KIND, b"veth") + _attribute(_INFO_DATA, _attribute(_VETH_PEER, b"".join(there)))
    body = _link() + _attribute(_IFLA_IFNAME, name.encode() + b"\0") + _attribute(_IFLA_LINKINFO, info)
    _ask(_NEWLINK, body, _CREATE)


def delete(name: str) -> None:
    """Take a device away; of a pair, the other one goes as well."""
    _ask(_DELLINK, _link(socket.if_nametoindex(name)))


def set_up(name: str) -> None:
    """Switch a device on."""
    _ask(_NEWLINK, _link(socket.if_nametoindex(name), _IFF_UP))


def add_address(name: str, address: str, prefix: int) -> None:
    """Give a device an IPv4 address."""
    packed = socket.inet_aton(address)
    head = struct.pack("=BBBBI", socket.AF_INET, prefix, 0, 0, socket.if_nametoindex(name))
    _ask(_NEWADDR, head + _attribute(_IFA_LOCAL, packed) + _attribute(_IFA_ADDRESS, packed), _CREATE)


def offload_nothing(name: str) -> None:
    """Have the kernel compute checksums and divide segments before packets leave a device. Raises OSError."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for setting in (_SET_TSO, _SET_GSO, _SET_TX_CHECKSUM):
            value = array.array("B", struct.pack("=II", setting, 0))
            address, _ = value.buffer_info()
            fcntl.ioctl(sock, _SIOCETHTOOL, struct.pack("16sP", name.encode(), address) + bytes(16))

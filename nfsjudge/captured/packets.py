# SPDX-License-Identifier: MIT
"""Packets out of capture files: pcap and pcapng, of either byte order and any resolution.

Only one packet is in memory at a time. Raises `BadCapture` where a file breaks its format, after the packets before it.
Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

import gzip
import struct
import typing as t
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from nfsjudge.captured.errors import BadCapture

MOST_PACKET = 1 << 20
"""Bytes of one packet: four times what tcpdump takes at most."""
MOST_BLOCK = 16 << 20
"""Bytes of one block of pcapng that is not a packet."""
_MOST_INTERFACES = 4096
_SECTION = 0x0A0D0D0A
_BYTE_ORDER = 0x1A2B3C4D
_INTERFACE, _OLD_PACKET, _SIMPLE, _ENHANCED = 1, 2, 3, 6
_OPT_END, _OPT_RESOLUTION, _OPT_OFFSET = 0, 9, 14
_PCAP: t.Final = {
    b"\xa1\xb2\xc3\xd4": (">", 10**6),
    b"\xd4\xc3\xb2\xa1": ("<", 10**6),
    b"\xa1\xb2\x3c\x4d": (">", 10**9),
    b"\x4d\x3c\xb2\xa1": ("<", 10**9),
}
"""Magic number -> byte order, ticks a second."""


class Packet(t.NamedTuple):
    """One packet: its number from 1 on, seconds since 1970, link type, and the bytes that were kept of `size`."""

    number: int
    time: float
    link: int
    data: bytes
    size: int


def read_packets(file: t.BinaryIO) -> Iterator[Packet]:
    """The packets of a capture, in the order of the file. Raises `BadCapture`."""
    file = _unpacked(file)
    magic = _read(file, 4, 0)
    if magic in _PCAP:
        yield from _read_pcap(file, *_PCAP[magic])
    elif magic == _SECTION.to_bytes(4, "big"):
        yield from _Pcapng(file).read()
    else:
        raise BadCapture(f"neither pcap nor pcapng: the file begins with {magic.hex() or 'nothing'}")


def _unpacked(file: t.BinaryIO) -> t.BinaryIO:
    """The file, through gzip if it is packed; Wireshark opens such files, too."""
    if not file.seekable():
        return file
    begin = file.read(2)
    file.seek(0)
    return t.cast("t.BinaryIO", gzip.GzipFile(fileobj=file)) if begin == b"\x1f\x8b" else file


def _read(file: t.BinaryIO, size: int, packet: int) -> bytes:
    try:
        return file.read(size)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadCapture(f"the file cannot be unpacked: {error}", packet) from error


def _take(file: t.BinaryIO, size: int, what: str, packet: int) -> bytes:
    data = _read(file, size, packet)
    if len(data) != size:
        raise BadCapture(f"the file ends in {what}: {len(data)} of {size} bytes are there", packet)
    return data


def _read_pcap(file: t.BinaryIO, order: str, ticks: int) -> Iterator[Packet]:
    header = struct.Struct(order + "HHiIII")
    major, _, _, _, _, link = header.unpack(_take(file, header.size, "the header of the file", 0))
    if major != 2:
        raise BadCapture(f"pcap of version {major}; 2 is read")
    record = struct.Struct(order + "IIII")
    number = 0
    while first := _read(file, 1, number):
        head = first + _take(file, record.size - 1, "the header of a packet", number)
        seconds, fraction, kept, size = record.unpack(head)
        _check_size(kept, number)
        number += 1
        data = _take(file, kept, "a packet", number)
        # The upper bits describe a frame check sequence.
        yield Packet(number, seconds + fraction / ticks, link & 0xFFFF, data, max(size, kept))


def _check_size(kept: int, number: int) -> None:
    if kept > MOST_PACKET:
        raise BadCapture(f"a packet of {kept} bytes; {MOST_PACKET} are taken at most", number)


@dataclass(slots=True)
class _Interface:
    link: int
    kept: int
    ticks: int = 10**6
    offset: int = 0


@dataclass(slots=True)
class _Pcapng:
    """Blocks, section by section."""

    file: t.BinaryIO
    order: str = "<"
    interfaces: list[_Interface] = field(default_factory=list)
    number: int = 0
    time: float = 0.0

    def read(self) -> Iterator[Packet]:
        """The packets of all sections."""
        self._begin_section()
        while head := _read(self.file, 4, self.number):
            if len(head) < 4:
                raise BadCapture("the file ends in the header of a block", self.number)
            (kind,) = struct.unpack(self.order + "I", head)
            if kind == _SECTION:
                self._begin_section()
                continue
            packet = self._understand(kind, self._body(kind))
            if packet is not None:
                yield packet

    def _begin_section(self) -> None:
        raw = _take(self.file, 8, "the header of a section", self.number)
        for order in "<>":
            length, magic = struct.unpack(order + "II", raw)
            if magic == _BYTE_ORDER:
                self.order = order
                break
        else:
            raise BadCapture(f"a section with byte order {raw[4:].hex()}", self.number)
        if not 28 <= length <= MOST_BLOCK or length % 4:
            raise BadCapture(f"a header of a section of {length} bytes", self.number)
        rest = _take(self.file, length - 12, "the header of a section", self.number)
        (major,) = struct.unpack_from(self.order + "H", rest)
        if major != 1:
            raise BadCapture(f"pcapng of version {major}; 1 is read", self.number)
        self._check_end(rest, length)
        self.interfaces.clear()

    def _check_end(self, rest: bytes, length: int) -> None:
        (again,) = struct.unpack_from(self.order + "I", rest, len(rest) - 4)
        if again != length:
            raise BadCapture(f"a block of {length} bytes says {again} at its end", self.number)

    def _body(self, kind: int) -> bytes:
        raw = _take(self.file, 4, "the header of a block", self.number)
        (length,) = struct.unpack(self.order + "I", raw)
        if not 12 <= length <= MOST_BLOCK or length % 4:
            raise BadCapture(f"a block of type {kind} and {length} bytes", self.number)
        rest = _take(self.file, length - 8, "a block", self.number)
        self._check_end(rest, length)
        return rest[:-4]

    def _understand(self, kind: int, body: bytes) -> Packet | None:
        try:
            match kind:
                case 1:
                    self._add_interface(body)
                case 6:
                    at, high, low, kept, size = struct.unpack_from(self.order + "IIIII", body)
                    return self._packet(body, 20, at, high << 32 | low, kept, size)
                case 2:
                    at, _, high, low, kept, size = struct.unpack_from(self.order + "HHIIII", body)
                    return self._packet(body, 20, at, high << 32 | low, kept, size)
                case 3:
                    (size,) = struct.unpack_from(self.order + "I", body)
                    limit = self._interface(0).kept or size
                    return self._packet(body, 4, 0, None, min(size, limit, len(body) - 4), size)
                case _:
                    pass
        except struct.error as error:
            raise BadCapture(f"a block of type {kind} is too short", self.number) from error
        return None

    def _interface(self, at: int) -> _Interface:
        if at >= len(self.interfaces):
            raise BadCapture(f"a packet of interface {at}, which was not described", self.number)
        return self.interfaces[at]

    def _packet(self, body: bytes, start: int, at: int, stamp: int | None, kept: int, size: int) -> Packet:
        interface = self._interface(at)
        _check_size(kept, self.number)
        if start + kept > len(body):
            raise BadCapture(f"a packet of {kept} bytes in a block of {len(body)}", self.number)
        if stamp is not None:
            self.time = interface.offset + stamp / interface.ticks
        self.number += 1
        return Packet(self.number, self.time, interface.link, body[start : start + kept], max(size, kept))

    def _add_interface(self, body: bytes) -> None:
        link, _, kept = struct.unpack_from(self.order + "HHI", body)
        if len(self.interfaces) >= _MOST_INTERFACES:
            raise BadCapture(f"more than {_MOST_INTERFACES} interfaces", self.number)
        interface = _Interface(link, kept)
        for code, value in self._options(body[8:]):
            if code == _OPT_RESOLUTION and len(value) == 1:
                power = value[0] & 0x7F
                interface.ticks = 2**power if value[0] & 0x80 else 10 ** min(power, 40)
            elif code == _OPT_OFFSET and len(value) == 8:
                (interface.offset,) = struct.unpack(self.order + "q", value)
        self.interfaces.append(interface)

    def _options(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        at = 0
        while at + 4 <= len(data):
            code, length = struct.unpack_from(self.order + "HH", data, at)
            if code == _OPT_END:
                return
            if at + 4 + length > len(data):
                raise BadCapture(f"an option of {length} bytes goes beyond its block", self.number)
            yield code, data[at + 4 : at + 4 + length]
            at += 4 + length + -length % 4

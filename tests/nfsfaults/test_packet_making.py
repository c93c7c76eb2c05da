# SPDX-License-Identifier: MIT
"""Packets as scapy makes them: byte by byte where that is short, and as tshark reads them."""

from __future__ import annotations

import shutil
import struct
import subprocess
import typing as t
from collections.abc import Sequence
from pathlib import Path

import pytest

from nfsclient.protocol import nfs3
from nfsclient.rpc.record import frame
from nfsfaults import actions as a
from nfsfaults.bridge import frames as f
from nfsfaults.functions import CannotMake
from nfsfaults.messages import Heading as Message
from nfsfaults.names import BadPlan
from tests.nfsfaults.messages import call, reply

pytest.importorskip("scapy", reason="scapy is not installed (extra `packet`)")

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import wrpcap

from nfsfaults.packet import NfsCall, NfsReply, making
from tests.waiting import AT_MOST

CLIENT, SERVER = b"\xc6\x12\0\x02", b"\xc6\x12\0\x01"
ETHERNET = b"\2\0\0\0\0\1\2\0\0\0\0\2\x08\0"
HEADING = f.Heading(ETHERNET, CLIENT, SERVER, f.Ports(700, 2049))
BACK = f.Heading(ETHERNET[6:12] + ETHERNET[:6] + b"\x08\0", SERVER, CLIENT, f.Ports(2049, 700))
WRITE = call("WRITE")


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071); 0 over data that has its own."""
    data += bytes(len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def transport_sum(ip: bytes) -> int:
    """0 if the checksum of UDP or TCP in an unfragmented frame is right."""
    body = ip[34:]
    return checksum(ip[26:34] + struct.pack("!BBH", 0, ip[23], len(body)) + body)


def datagram(data: bytes, *actions: a.Action, heading: f.Heading = HEADING) -> list[bytes]:
    return making.datagram(heading, data, 7, actions)


def one_segment(data: bytes) -> bytes:
    sent = TCP(sport=700, dport=2049, seq=1000, ack=5, flags="PA", options=[("Timestamp", (1, 2))])
    return bytes(
        Ether(ETHERNET) / IP(src="198.18.0.2", dst="198.18.0.1", id=9, flags="DF") / sent / Raw(data)
    )


def record() -> bytes:
    return b"".join(bytes(made) for made in frame([WRITE]))


def test_a_datagram_byte_by_byte() -> None:
    (made,) = datagram(b"data")
    assert made.hex(" ", 2) == (
        "0200 0000 0001 0200 0000 0002 0800 "
        "4500 0020 0007 0000 4011 ee9e c612 0002 c612 0001 "  # the header of IP
        "02bc 0801 000c 902e 6461 7461"  # the header of UDP, and the data
    )
    assert checksum(made[14:34]) == transport_sum(made) == 0


def test_a_reset_byte_by_byte() -> None:
    made = making.reset(HEADING, 0x01020304, 8)
    assert made[14:34].hex(" ", 2) == "4500 0028 0008 0000 4006 eea0 c612 0002 c612 0001"
    assert made[34:50].hex(" ", 2) == "02bc 0801 0102 0304 0000 0000 5004 0000"
    assert checksum(made[14:34]) == transport_sum(made) == 0


@pytest.mark.parametrize("layer", ["transport", "network"])
@pytest.mark.parametrize("data", [b"", WRITE, bytes(3000)], ids=["empty", "call", "long"])
def test_only_the_requested_checksum_is_wrong(layer: t.Any, data: bytes) -> None:
    good, bad = datagram(data), datagram(data, a.BadChecksum(layer))
    wrong = {"transport": (40, 42), "network": (24, 26)}[layer]
    for right, spoilt in zip(good, bad, strict=True):
        differs = {at for at in range(len(right)) if right[at] != spoilt[at]}
        is_part = layer == "network" or right is good[0]
        assert differs == (set(range(*wrong)) if is_part else set())
    assert bad[0][40:42] != b"\0\0"


@pytest.mark.parametrize("layer", ["transport", "network"])
def test_the_checksum_of_a_segment_is_wrong(layer: t.Any) -> None:
    whole = one_segment(record())
    (bad,) = making.segment(whole, [a.BadChecksum(layer)])
    differs = [at for at in range(len(whole)) if whole[at] != bad[at]]
    assert differs == ([50, 51] if layer == "transport" else [24, 25])


@pytest.mark.parametrize(
    "action",
    [a.SplitSegment((7,)), a.SplitSegment((30, 8, 100), overlap=5), a.SplitSegment((20,), 60, reverse=True)],
    ids=str,
)
def test_pieces_of_a_segment_are_the_same_stream(action: a.SplitSegment) -> None:
    pieces = making.segment(one_segment(record()), [action])
    stream = bytearray(len(record()))
    for piece in pieces:
        assert checksum(piece[14:34]) == transport_sum(piece) == 0
        packet = f.read_ip(piece)
        assert packet is not None
        found = f.read_tcp(packet)
        assert found is not None
        at = found.number - 1000
        stream[at : at + len(found.data)] = found.data
        assert bool(found.flags & f.PSH) == (at + len(found.data) == len(stream))
        assert piece[54:66] == one_segment(b"")[54:66]  # the options
    assert stream == record()
    assert len(pieces) > 3


def test_actions_apply_together() -> None:
    made = datagram(WRITE, a.ChangePacket("IP.ttl", 3), a.BadChecksum(), a.IpFragments(64, reverse=True))
    assert [packet[22] for packet in made] == [3] * len(made)
    assert checksum(made[0][14:34]) == 0
    reassembler = f.Reassembler()
    packets = [t.cast("f.IpPacket", f.read_ip(packet)) for packet in made]
    *_, whole = [reassembler.feed(packet) for packet in packets]
    assert whole is not None
    assert transport_sum(bytes(26) + whole.source + whole.destination + whole.payload) != 0
    assert f.read_udp(whole) == (HEADING.ports, WRITE)


@pytest.mark.parametrize(
    ("field", "value", "at", "seen"),
    [
        ("IP.ttl", 1, slice(22, 23), b"\1"),
        ("UDP.len", 9, slice(38, 40), b"\0\x09"),
        ("UDP.chksum", 0, slice(40, 42), b"\0\0"),
        ("IP.src", b"198.18.0.9", slice(26, 30), b"\xc6\x12\0\x09"),
        ("RpcCall.rpcvers", 3, slice(50, 54), b"\0\0\0\3"),
        ("Write3Args.count", 0x77, slice(-48, -44), b"\0\0\0\x77"),
    ],
)
def test_a_field_of_any_layer_is_changed(field: str, value: t.Any, at: slice, seen: bytes) -> None:
    (made,) = datagram(WRITE, a.ChangePacket(field, value))
    found = made[at]
    if field.startswith("Write3Args"):
        assert IP(made[14:])[NfsCall].args.count == value
    else:
        assert found == seen


@pytest.mark.parametrize("value", [b"many", 10**6, -1], ids=["text", "large", "negative"])
def test_a_value_that_does_not_fit_is_one_line(value: t.Any) -> None:
    with pytest.raises(CannotMake, match=r"^change-packet of IP.ttl in IP / UDP / .*: \w+: ") as failed:
        datagram(WRITE, a.ChangePacket("IP.ttl", value))
    assert "\n" not in str(failed.value)


def test_a_word_of_an_enumeration_is_a_value() -> None:
    (made,) = datagram(WRITE, a.ChangePacket("Write3Args.stable", b"UNSTABLE"))
    assert IP(made[14:])[NfsCall].args.stable == 0


def test_a_datagram_has_a_longest_size() -> None:
    assert len(datagram(bytes(making.MOST_DATA))) == 45
    with pytest.raises(CannotMake, match="a datagram of 65508 bytes; 65507 at most"):
        datagram(bytes(making.MOST_DATA + 1))


def test_a_layer_that_is_not_there_is_not_changed() -> None:
    assert datagram(b"data", a.ChangePacket("TCP.window", 0)) == datagram(b"data")


# ---------------------------------------------------------------- functions


def shorter(packet: Packet) -> Packet:
    packet[NfsCall].args.data = b"x"
    return packet


def test_a_function_gets_layers_and_lengths_follow() -> None:
    (made,) = datagram(WRITE, a.CallFunction("tests:shorter", shorter))
    assert checksum(made[14:34]) == transport_sum(made) == 0
    assert IP(made[14:])[NfsCall].args.data == b"x"


def test_a_function_drops_doubles_and_divides() -> None:
    assert datagram(WRITE, a.CallFunction("tests:none", lambda _: None)) == []
    assert len(datagram(WRITE, a.CallFunction("tests:two", lambda packet: [packet, packet]))) == 2
    (same,) = datagram(WRITE, a.CallFunction("tests:same", lambda packet: packet))
    assert same == datagram(WRITE)[0]
    (segment,) = making.segment(one_segment(record()), [a.CallFunction("tests:same", lambda packet: packet)])
    assert segment == one_segment(record())
    long = datagram(bytes(4000), a.CallFunction("tests:same", lambda packet: packet))
    assert long == datagram(bytes(4000))
    assert len(long) == 3


def test_a_function_reads_the_results_of_a_reply() -> None:
    making.note_call(HEADING, "udp", Message(int.from_bytes(WRITE[:4], "big"), "call", *nfs3_write()))
    seen: list[int] = []
    answer = reply("WRITE")

    def read(packet: Packet) -> Packet:
        seen.append(int(packet[NfsReply].result.status))
        return packet

    assert datagram(answer, a.CallFunction("tests:read", read), heading=BACK) == datagram(
        answer, heading=BACK
    )
    assert seen == [70]


def nfs3_write() -> tuple[int, int, int]:
    return nfs3.WRITE.program, nfs3.WRITE.version, nfs3.WRITE.number


def raises(packet: Packet) -> t.Any:
    return packet[TCP]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (raises, "tests:function with IP / UDP / .*WRITE.*: IndexError: Layer"),
        (lambda _: 5, "expected a packet with IP, a list of them or None, seen int"),
        (lambda packet: [packet, b"bytes"], "seen bytes"),
        (lambda packet: packet[UDP].payload, "expected a packet with IP"),
        (lambda packet: [packet] * 1001, "1001 packets; 1000 at most"),
        (lambda packet: packet / Raw(bytes(66_000)), "66|cannot be built"),
        (lambda _: IP(ttl="many"), "cannot be built: ValueError: While building"),
    ],
    ids=["raises", "number", "bytes", "no-ip", "many", "long", "broken"],
)
def test_what_a_function_does_wrong_is_one_line(function: t.Any, said: str) -> None:
    with pytest.raises(CannotMake, match=said) as failed:
        datagram(WRITE, a.CallFunction("tests:function", function))
    assert "\n" not in str(failed.value)


# ---------------------------------------------------------------- what is read


def test_fields_of_packets_are_read_by_layer() -> None:
    fields = making.read_datagram(HEADING, WRITE)
    assert (fields.IP.ttl, fields.UDP.sport, fields.RpcCall.proc) == (64, 700, 7)
    assert fields.Write3Args.offset == making.read_frame(one_segment(record())).Write3Args.offset
    with pytest.raises(AttributeError):
        _ = fields.TCP


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("TCQ.window", "similar: TCP"),
        ("TCP.windw", "similar: window"),
        ("Write3Args.ofset", "similar: offset"),
    ],
)
def test_an_unknown_field_has_near_matches(path: str, said: str) -> None:
    with pytest.raises(BadPlan, match=said):
        making.check_field(path)


# ---------------------------------------------------------------- as tshark reads it


def read_by_tshark(frames: Sequence[bytes], folder: Path, *fields: str) -> list[list[str]]:
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed")
    path = folder / "made.pcap"
    wrpcap(str(path), [Ether(frame) for frame in frames])
    words = [program, "-r", str(path), "-T", "fields", "-o", "ip.check_checksum:TRUE"]
    words += ["-o", "udp.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "ip.defragment:TRUE"]
    for field in ("_ws.malformed", *fields):
        words += ["-e", field]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=AT_MOST)
    return [line.split("\t") for line in done.stdout.splitlines()]


SUMS = ("ip.checksum.status", "udp.checksum.status", "tcp.checksum.status")


def test_tshark_finds_nothing_wrong_but_what_is_requested(tmp_path: Path) -> None:
    frames = [
        *datagram(WRITE),
        *datagram(WRITE, a.BadChecksum("network")),
        *datagram(WRITE, a.BadChecksum("transport")),
        making.reset(HEADING, 5, 8),
        *making.segment(one_segment(record()), [a.SplitSegment((40,), overlap=4)]),
    ]
    found = read_by_tshark(frames, tmp_path, *SUMS, "nfs.procedure_v3")
    assert [row[0] for row in found] == [""] * len(frames)
    assert [tuple(row[1:4]) for row in found[:3]] == [("1", "1", ""), ("0", "1", ""), ("1", "0", "")]
    assert all(tuple(row[1:4]) == ("1", "", "1") for row in found[3:])
    assert [row[4] for row in found[:3]] == ["7"] * 3


@pytest.mark.parametrize("action", [a.IpFragments(64), a.IpFragments(64, reverse=True)], ids=str)
def test_tshark_puts_fragments_together(action: a.Action, tmp_path: Path) -> None:
    found = read_by_tshark(datagram(WRITE, action), tmp_path, *SUMS, "nfs.procedure_v3")
    assert {row[0] for row in found} == {""}
    assert {row[1] for row in found} == {"1"}
    assert [row[4] for row in found if row[4]] == ["7"]

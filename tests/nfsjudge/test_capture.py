# SPDX-License-Identifier: MIT
"""Captures, read back by a small reader of pcapng and, where it is installed, by tshark."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path

import pytest

from nfsclient.errors import RpcTimeout
from nfsclient.rpc.auth import AuthNone
from nfsclient.rpc.exchange import Exchange, Segment
from nfsjudge.capture import OWN_BYTES, Fault, write_capture
from tests.needs import needs
from tests.waiting import AT_MOST

NFS, VERSION, NULL, WRITE = 100003, 3, 0, 7


def call_message(xid: int, procedure: int = NULL, body: bytes = b"") -> bytes:
    return struct.pack(">IIIIIIIIII", xid, 0, 2, NFS, VERSION, procedure, 0, 0, 0, 0) + body


def reply_message(xid: int, body: bytes = b"") -> bytes:
    return struct.pack(">IIIIII", xid, 1, 0, 0, 0, 0) + body


def exchange(
    xid: int, *, sent: float = 1.0, peer: str = "127.0.0.1:2049", transport: str = "tcp", body: bytes = b""
) -> Exchange:
    return Exchange(
        xid=xid,
        procedure=None,
        args=None,
        credential=AuthNone(),
        call=call_message(xid, WRITE if body else NULL, body),
        sent_at=sent,
        peer=peer,
        transport="udp" if transport == "udp" else "tcp",
        reply=reply_message(xid),
        received_at=sent + 0.25,
    )


def blocks(data: bytes) -> list[tuple[int, bytes]]:
    """(type, body) of each block; checks that both lengths agree."""
    found, at = [], 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert length % 4 == 0
        assert struct.unpack_from("<I", data, at + length - 4) == (length,)
        found.append((kind, data[at + 8 : at + length - 4]))
        at += length
    return found


def frames(path: Path) -> list[tuple[int, bytes, bytes]]:
    """(nanoseconds, frame, options) of each packet."""
    found = []
    for kind, body in blocks(path.read_bytes()):
        if kind == 6:
            _, high, low, captured, original = struct.unpack_from("<IIIII", body)
            assert captured == original
            end = 20 + captured + -captured % 4
            found.append((high << 32 | low, body[20 : 20 + captured], body[end:]))
    return found


def ones_complement(data: bytes) -> int:
    total = sum(struct.unpack(f">{len(data + bytes(len(data) % 2)) // 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return int(total)


def test_begins_with_a_section_and_one_ethernet_interface_of_nanoseconds(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    assert write_capture(path, [exchange(1)]) == 5
    (section, head), (interface, link), *rest = blocks(path.read_bytes())
    assert (section, interface) == (0x0A0D0D0A, 1)
    assert head.startswith(struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    assert link.startswith(struct.pack("<HHI", 1, 0, 0))
    assert struct.pack("<HHB", 9, 1, 9) in link
    assert [kind for kind, _ in rest] == [6] * 5  # handshake, call, reply


def test_times_are_shifted_to_the_epoch_and_ordered(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    write_capture(path, [exchange(1, sent=2.0), exchange(2, sent=2.1)], epoch=1_000_000_000)
    stamps = [stamp for stamp, _, _ in frames(path)]
    assert stamps[:3] == [1_000_000_002_000_000_000] * 3
    assert stamps == sorted(stamps)
    assert stamps[-1] == pytest.approx(1_000_000_002_350_000_000, abs=1000)


def test_tcp_carries_record_marks_and_consecutive_sequence_numbers(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    write_capture(path, [exchange(0xABCD)])
    *_, (_, call, _), (_, reply, _) = frames(path)
    assert call[54:] == struct.pack(">I", 0x80000000 | 40) + call_message(0xABCD)
    assert reply[54:] == struct.pack(">I", 0x80000000 | 24) + reply_message(0xABCD)
    call_sequence, call_acknowledged = struct.unpack_from(">II", call, 38)
    reply_sequence, reply_acknowledged = struct.unpack_from(">II", reply, 38)
    assert reply_acknowledged == call_sequence + 44
    assert reply_sequence == call_acknowledged


def test_checksums_hold(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    write_capture(path, [exchange(1, body=b"odd"), exchange(2, transport="udp")])
    for _, frame, _ in frames(path):
        header, rest = frame[14:34], frame[34:]
        assert ones_complement(header) == 0xFFFF
        pseudo = header[12:20] + struct.pack(">BBH", 0, header[9], len(rest))
        assert ones_complement(pseudo + rest) == 0xFFFF


def test_a_large_message_becomes_several_segments(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    data = bytes(range(256)) * 1024
    write_capture(path, [exchange(1, body=data)])
    carried = b"".join(frame[54:] for _, frame, _ in frames(path)[3:-1])
    assert carried[4:] == call_message(1, WRITE, data)
    assert all(len(frame) < 65536 for _, frame, _ in frames(path))


def test_ipv6_peers_get_ipv6_packets(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    write_capture(path, [exchange(1, peer="[2001:db8::7]:2049", transport="udp")])
    (_, call, _), (_, reply, _) = frames(path)
    assert call[12:14] == b"\x86\xdd"
    assert call[38:54] == bytes.fromhex("20010db8000000000000000000000007")
    assert struct.unpack_from(">HH", call, 54)[1] == 2049
    assert reply[22:38] == call[38:54]
    pseudo = call[22:54] + struct.pack(">II", len(call) - 54, 17)
    assert ones_complement(pseudo + call[54:]) == 0xFFFF


@pytest.mark.parametrize("peer", ["server.example:2049", "odd", "[fe80::1%eth0]:2049", ""])
def test_odd_peers_do_no_harm(tmp_path: Path, peer: str) -> None:
    assert write_capture(tmp_path / "x.pcapng", [exchange(1, peer=peer, transport="udp")]) == 2


def test_notes_and_errors_become_comments(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    lost = exchange(2)
    lost.reply, lost.received_at, lost.error = None, None, RpcTimeout("WRITE", 1.0)
    write_capture(path, [exchange(1), lost], notes={1: "count: expected at most 10"})
    options = [options for _, _, options in frames(path)]
    call, lost_call, reply = options[3], options[4], options[5]
    assert b"exchange #1" in call
    assert b"at most 10" not in call
    assert b"at most 10" in reply
    assert b"exchange #2" in lost_call
    assert b"was not answered" in lost_call


def test_a_call_that_was_sent_again_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    again = exchange(1, transport="udp")
    again.resent = 2
    assert write_capture(path, [again]) == 2
    call, reply = (options for _, _, options in frames(path))
    assert b"sent 3 times, shown once" in call
    assert b"sent" not in reply


def test_what_a_check_sent_by_itself_says_so_and_is_there_once(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    own = exchange(1, transport="udp")
    assert own.reply is not None
    passed = [Segment(1.0, True, own.call, own.peer, "udp"), Segment(1.25, False, own.reply, own.peer, "udp")]
    write_capture(path, [own], segments=passed, notes={1: "FAIL nfs3/a/b"})
    call, reply = (options for _, _, options in frames(path))
    assert b"exchange #1: raw bytes" in call
    assert OWN_BYTES.encode() in call
    assert b"exchange #1: the reply" in reply
    assert b"FAIL nfs3/a/b" in reply


@pytest.mark.parametrize(("sent", "at", "packet"), [(True, 1.0, 3), (False, 1.3, 4), (True, 2.0, 4)])
def test_a_fault_is_a_comment_on_the_packet_that_it_is_about(
    tmp_path: Path, sent: bool, at: float, packet: int
) -> None:
    """A call is changed before it goes out, a reply after it has come; a call that never went out is at the end."""
    path, first, local = tmp_path / "x.pcapng", exchange(1), "127.0.0.1:800"
    assert first.reply is not None
    first.local = local
    passed = [
        Segment(1.0, True, first.call, first.peer, "tcp", local),
        Segment(1.25, False, first.reply, first.peer, "tcp", local),
    ]
    write_capture(path, [first], segments=passed, faults=[Fault(at, sent, local, "fault: drop")])
    options = [options for _, _, options in frames(path)]
    assert [number for number, option in enumerate(options) if b"fault: drop" in option] == [packet]


def test_nothing_is_a_valid_capture(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    assert write_capture(path, []) == 0
    assert [kind for kind, _ in blocks(path.read_bytes())] == [0x0A0D0D0A, 1]


@needs("tshark")
@pytest.mark.parametrize("transport", ["tcp", "udp"])
@pytest.mark.parametrize("peer", ["127.0.0.1:41234", "[::1]:41234"])
def test_tshark_matches_calls_and_replies(tmp_path: Path, transport: str, peer: str) -> None:
    path = tmp_path / "x.pcapng"
    write_capture(path, [exchange(7, peer=peer, transport=transport)], epoch=1_700_000_000)
    fields = ("rpc.xid", "rpc.msgtyp", "rpc.program", "_ws.expert.message")
    columns = [word for name in fields for word in ("-e", name)]
    shown = subprocess.run(
        ["tshark", "-r", path, "-T", "json", "-Y", "rpc", "-o", "tcp.check_checksum:TRUE", *columns],
        check=True,
        capture_output=True,
        text=True,
        timeout=AT_MOST,
    )
    layers = [packet["_source"]["layers"] for packet in json.loads(shown.stdout)]
    assert [layer["rpc.msgtyp"] for layer in layers] == [["0"], ["1"]]
    assert all(layer["rpc.xid"] == ["0x00000007"] for layer in layers)
    # A reply names no program: tshark knows it only when it has matched the call.
    assert layers[1]["rpc.program"] == ["100003"]
    assert not any("checksum" in str(layer).lower() for layer in layers)

# SPDX-License-Identifier: MIT
"""A capture is judged as the exchanges in it are, whatever file, link, segments and fragments it has."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from nfsclient.rpc.exchange import Exchange
from nfsjudge.capture import write_capture
from nfsjudge.captured import BadCapture
from tests.needs import needs
from tests.nfsjudge.captured.conftest import play
from tests.nfsjudge.captured.making import (
    EPOCH,
    LINKS,
    cut_fragments,
    cut_segments,
    found,
    frames_of,
    judge,
    pcap,
    pcapng,
    shuffle_some,
    with_link,
)
from tests.nfsserver.conftest import Rig

WRONG = {"nfs3/write-count": 24}

FILES = {
    "pcap, little-endian": lambda frames: pcap(frames, order="<"),
    "pcap, big-endian": lambda frames: pcap(frames, order=">"),
    "pcap, little-endian, ns": lambda frames: pcap(frames, order="<", ticks=10**9),
    "pcap, big-endian, ns": lambda frames: pcap(frames, order=">", ticks=10**9),
    "pcapng, little-endian": lambda frames: pcapng(frames, order="<"),
    "pcapng, big-endian": lambda frames: pcapng(frames, order=">"),
    "pcapng, ns": lambda frames: pcapng(frames, resolution=9),
    "pcapng, powers of two": lambda frames: pcapng(frames, order=">", resolution=0x80 | 24),
    "pcapng, with an offset": lambda frames: pcapng(frames, resolution=9, offset=1_600_000_000),
    "pcapng, two sections": lambda frames: (
        pcapng(frames[:20], order="<") + pcapng(frames[20:], order=">", resolution=9)
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_files(wrong: list[Exchange], kind: str) -> None:
    reading = judge(FILES[kind](frames_of(wrong)))
    assert found(reading) == WRONG
    (finding,) = reading.findings
    assert finding.exchange.sent_at == pytest.approx(EPOCH + wrong[finding_index(wrong)].sent_at, abs=1e-5)
    assert reading.statistics.exchanges.total() == len(wrong)


def finding_index(exchanges: list[Exchange]) -> int:
    return next(
        i for i, exchange in enumerate(exchanges) if exchange.procedure and exchange.procedure.name == "WRITE"
    )


def test_a_right_server_is_right_in_its_capture(right: list[Exchange]) -> None:
    for alone in (False, True):
        reading = judge(pcap(frames_of(right)), alone=alone)
        assert found(reading) == {}
        assert reading.statistics.exchanges.total() == len(right)
        assert not reading.statistics.unanswered + reading.statistics.unmatched + reading.statistics.lost


def test_our_own_captures(wrong: list[Exchange], tmp_path: Path) -> None:
    write_capture(tmp_path / "x.pcapng", wrong, epoch=EPOCH)
    assert found(judge((tmp_path / "x.pcapng").read_bytes())) == WRONG


def test_only_who_says_so_is_alone(rig: Rig) -> None:
    rig.mutants.add("getattr3-rounds-small-sizes-up")
    rig.mutants.add("commit3-before-has-no-size")
    frames = pcap(frames_of(play(rig)))
    assert found(judge(frames)) == {}
    assert "nfs3/wcc-before" in found(judge(frames, alone=True))


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_links(wrong: list[Exchange], link: str, host: str) -> None:
    for exchange in wrong:
        exchange.peer = f"[{host}]:2049" if ":" in host else f"{host}:2049"
    number, frames = with_link(frames_of(wrong), link)
    assert found(judge(pcapng(frames, link=number))) == WRONG


@needs("tshark")
@pytest.mark.parametrize("link", LINKS)
def test_tshark_sees_the_same_calls(right: list[Exchange], link: str, tmp_path: Path) -> None:
    number, frames = with_link(frames_of(right), link)
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap(frames, link=number))
    command = ["tshark", "-r", str(path), "-d", "tcp.port==2049,rpc", "-Y", "rpc.msgtyp==0", "-T", "fields"]
    out = subprocess.run([*command, "-e", "rpc.xid"], capture_output=True, text=True, check=True).stdout
    assert len(out.replace(",", "\n").split()) == len(right)
    assert judge(path.read_bytes()).statistics.exchanges.total() == len(right)


def test_unknown_links_are_said_so(right: list[Exchange]) -> None:
    with pytest.raises(BadCapture, match="link type 147"):
        judge(pcap(frames_of(right), link=147))


# ---------------------------------------------------------------- TCP


@pytest.mark.parametrize("size", [1, 7, 100, 1448])
def test_segments_of_any_size(wrong: list[Exchange], size: int) -> None:
    assert found(judge(pcap(cut_segments(frames_of(wrong), size)))) == WRONG


@pytest.mark.parametrize("seed", range(20))
def test_segments_out_of_order_and_doubled(wrong: list[Exchange], seed: int) -> None:
    reading = judge(pcap(shuffle_some(cut_segments(frames_of(wrong), 333), seed)))
    assert found(reading) == WRONG
    assert reading.statistics.exchanges.total() == len(wrong)


def test_many_records_in_a_segment(wrong: list[Exchange]) -> None:
    """All calls in one segment, then all replies."""
    few = [exchange for exchange in wrong if exchange.peer == wrong[0].peer][:8]
    for exchange in few:
        exchange.sent_at, exchange.received_at = 1.0, 2.0
    frames = frames_of(few)
    opening, calls, replies = frames[:3], frames[3:11], frames[11:]
    merged = [merge(calls), merge(replies)]
    reading = judge(pcap([*opening, *merged]))
    assert reading.statistics.exchanges.total() == 8
    assert reading.statistics.unanswered == 0


def merge(frames: list[tuple[float, bytes]]) -> tuple[float, bytes]:
    payload = b"".join(frame[54:] for _, frame in frames)
    head = bytearray(frames[0][1][:54])
    head[16:18] = (40 + len(payload)).to_bytes(2, "big")
    return frames[0][0], bytes(head) + payload


@pytest.mark.parametrize("left_out", [1, 3, 4, 5, 8])
def test_beginnings_may_be_missing(wrong: list[Exchange], left_out: int) -> None:
    reading = judge(pcap(frames_of(wrong)[left_out:]))
    assert found(reading) == WRONG


def test_a_capture_may_begin_within_a_record(wrong: list[Exchange]) -> None:
    frames = cut_segments(frames_of(wrong), 50)
    counted = found(judge(pcap(frames[20:])))
    assert set(counted) == {"nfs3/write-count"}
    assert counted["nfs3/write-count"] >= 20


@pytest.mark.parametrize("seed", range(30))
def test_lost_packets_accuse_nobody(right: list[Exchange], seed: int) -> None:
    chance = random.Random(seed)
    frames = cut_segments(frames_of(right), 500)
    kept = [frame for frame in frames if chance.random() > 0.03]
    assert found(judge(pcap(kept), alone=True)) == {}


@pytest.mark.parametrize("seed", range(10))
def test_packets_in_disorder_accuse_nobody(right: list[Exchange], seed: int) -> None:
    frames = shuffle_some(cut_segments(frames_of(right), 500), seed, reach=20)
    assert found(judge(pcap(frames), alone=True)) == {}


def test_packets_that_were_cut_accuse_nobody(right: list[Exchange]) -> None:
    frames = frames_of(right)
    whole = pcap(frames)
    data = bytearray(whole[:24])
    for moment, frame in frames:
        head = bytearray(pcap([(moment, frame)])[24:40])
        head[8:12] = min(len(frame), 200).to_bytes(4, "little")
        data += head + frame[:200]
    reading = judge(bytes(data), alone=True)
    assert found(reading) == {}
    assert reading.statistics.lost > 10


# ---------------------------------------------------------------- UDP


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("size", [64, 512, 1480])
def test_datagrams_and_their_fragments(rig: Rig, host: str, size: int) -> None:
    rig.mutants.add("write3-reports-more-than-sent")
    exchanges = play(rig, proto="udp")
    for exchange in exchanges:
        exchange.peer = f"[{host}]:2049"
    assert found(judge(pcap(frames_of(exchanges)))) == WRONG
    assert found(judge(pcap(cut_fragments(frames_of(exchanges), size)))) == WRONG


def test_datagrams_that_come_twice(rig: Rig) -> None:
    frames = frames_of(play(rig, proto="udp"))
    doubled = [copy for frame in frames for copy in (frame, (frame[0] + 1e-7, frame[1]))]
    assert found(judge(pcap(doubled), alone=True)) == {}


def test_a_second_reply_over_a_stream_is_found(right: list[Exchange]) -> None:
    again = Exchange(right[5].xid, None, None, None, b"", 0.0, right[5].peer, "tcp", reply=right[5].reply)
    again.local = right[5].local
    again.sent_at = again.received_at = (right[-1].received_at or 0.0) + 0.5
    assert found(judge(pcap(frames_of([*right, again])))) == {"rpc/reply-without-call": 1}

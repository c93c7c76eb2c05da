# SPDX-License-Identifier: MIT
"""`nfsproof lint FILE`: text and exit status."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.exchange import Exchange
from nfsproof.cli import run_command_line
from tests.nfsjudge.captured.conftest import play, rig
from tests.nfsjudge.captured.making import frames_of, pcap
from tests.nfsjudge.captured.test_nfs4 import compound
from tests.nfsserver.conftest import Rig

__all__ = ["rig"]


def save(exchanges: list[Exchange], path: Path) -> str:
    path.write_bytes(pcap(frames_of(exchanges)))
    return str(path)


def test_a_right_server(rig: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["lint", "--alone", save(play(rig), tmp_path / "x.pcap")]) == 0
    out = capsys.readouterr().out
    assert "rules broken: none" in out
    assert "  MOUNT version 3: 2\n" in out


# ---------------------------------------------------------------- nothing was judged, and why


@pytest.mark.parametrize("keep", [54, 60, 100])
def test_a_capture_that_kept_the_beginnings_of_packets_says_so(
    rig: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str], keep: int
) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap(frames_of(play(rig)), keep=keep))
    assert run_command_line(["lint", str(path)]) == 10
    out = capsys.readouterr().out
    assert "  truncated packets: frames 4, 5, 6, 7, 8 and " in out
    assert "nothing was judged: calls or replies are cut in frames 4, 5, 6, 7, 8 and " in out
    assert ": capture whole packets (tcpdump -s 0)" in out
    assert "capture both directions" not in out
    assert "began earlier" not in out
    assert "rules broken" not in out


def test_a_snapshot_length_that_hides_some_calls_is_not_green(
    rig: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap(frames_of(play(rig)), keep=400))
    assert run_command_line(["lint", str(path)]) == 10
    out = capsys.readouterr().out
    assert "rules broken: none\ncalls or replies are cut in frames " in out
    assert "capture whole packets (tcpdump -s 0)" in out


def test_a_rule_that_is_broken_counts_more_than_what_is_hidden(rig: Rig, tmp_path: Path) -> None:
    rig.mutants.add("write3-reports-more-than-sent")
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap(frames_of(play(rig)), keep=400))
    assert run_command_line(["lint", str(path)]) == 1


def test_a_capture_that_begins_within_a_message_says_so(
    rig: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frames = [frame for frame in frames_of(play(rig)) if len(frame[1]) > 66]
    middle = [(moment, frame[:54] + frame[66:]) for moment, frame in frames[5:12]]
    path = tmp_path / "x.pcap"
    path.write_bytes(
        pcap([(at, frame[:16] + (len(frame) - 14).to_bytes(2, "big") + frame[18:]) for at, frame in middle])
    )
    assert run_command_line(["lint", str(path)]) == 10
    out = capsys.readouterr().out
    assert (
        "nothing was judged: in frames 1, 2, 3, 4, 5 and 2 more up to 7 connections go on that began earlier"
        in out
    )
    assert "start the capture before the mount" in out


@pytest.mark.parametrize(
    ("wrap", "name"),
    [
        (lambda frame: frame[:12] + b"\x88\x64\x11\0\0\x01\0\x40\0\x21" + frame[14:], "PPPoE"),
        (lambda frame: frame[:23] + b"\x2f" + frame[24:34] + b"\0\0\x08\0" + frame[14:], "GRE"),
        (
            lambda frame: (
                frame[:23] + b"\x11" + frame[24:34] + struct.pack(">HHHH", 7, 4789, 0, 0) + bytes(8) + frame
            ),
            "VXLAN",
        ),
    ],
)
def test_frames_that_are_not_opened_are_named(
    rig: Rig,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    wrap: Callable[[bytes], bytes],
    name: str,
) -> None:
    frames = [(moment, bytearray(wrap(frame))) for moment, frame in frames_of(play(rig))[:9]]
    for _, frame in frames:
        if frame[12:14] == b"\x08\0":
            frame[16:18] = (len(frame) - 14).to_bytes(2, "big")
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap([(moment, bytes(frame)) for moment, frame in frames]))
    assert run_command_line(["lint", str(path)]) == 10
    out = capsys.readouterr().out
    which = "frames 1, 2, 3, 4, 5 and 4 more up to 9"
    assert f"  not opened: {name}, {which}" in out
    assert f"nothing was judged: {name} is not opened, in {which}: capture at the end" in out


def test_nfsv40_alone_is_not_green(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = p.Compound4Res(p.Nfsstat4.NFS4_OK, b"", [p.Putrootfh4Res(p.Nfsstat4.NFS4_OK)])
    path = save([compound(0, right, p.Putrootfh4Args())], tmp_path / "x.pcap")
    assert run_command_line(["lint", path]) == 10
    out = capsys.readouterr().out
    assert "  NFS version 4.0: 1\n" in out
    assert "nothing was judged: no rule is for NFSv4.0, in frame 4: mount with vers=4.1" in out


def test_calls_without_their_replies_are_not_green(
    rig: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frames = [
        frame
        for frame in frames_of(play(rig))
        if frame[1][36:38] == struct.pack(">H", 2049) or len(frame[1]) < 60
    ]
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap(frames))
    assert run_command_line(["lint", str(path)]) in {1, 10}
    assert "capture both directions" in capsys.readouterr().out


def test_a_packed_capture_is_opened(rig: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, path = Path(save(play(rig), tmp_path / "x.pcap")), tmp_path / "x.pcap.gz"
    path.write_bytes(gzip.compress(plain.read_bytes()))
    assert run_command_line(["lint", str(path)]) == 0
    assert "rules broken: none" in capsys.readouterr().out
    path.write_bytes(path.read_bytes()[:-20])
    assert run_command_line(["lint", str(path)]) == 4
    assert "the file cannot be unpacked" in capsys.readouterr().err


def test_a_capture_without_a_call_is_not_green(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["lint", save([], tmp_path / "x.pcap")]) == 10
    assert "nothing was judged: the capture has no call of RPC" in capsys.readouterr().out


def test_findings_are_red(rig: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rig.mutants.add("write3-reports-more-than-sent")
    assert run_command_line(["lint", save(play(rig), tmp_path / "x.pcap")]) == 1
    out = capsys.readouterr().out
    assert "FAIL  lint/nfs3/write-count\n  clause:     RFC 1813 section 3.3.7 (STATED)" in out
    assert "24 times in all" in out
    assert "count: 1    <-- expected" in out
    assert "rules broken: 1 FAIL" in out


def test_strict(rig: Rig, tmp_path: Path) -> None:
    rig.mutants.add("getattr3-returns-an-old-ctime")
    rig.mutants.add("readdir3-repeats-a-cookie")
    exchanges = play(rig)
    top = exchanges[1].result.resok.obj
    from nfsclient.clients import Nfs3

    rpc = rig.rpc()
    rpc.on_exchange = exchanges.append
    Nfs3(rpc).create(top, b"twin")
    Nfs3(rpc).readdir(top)
    path = save(exchanges, tmp_path / "x.pcap")
    assert run_command_line(["lint", path]) == 0
    assert run_command_line(["lint", "--strict", path]) == 1


def test_a_broken_capture(rig: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.pcap"
    save(play(rig), path)
    path.write_bytes(path.read_bytes()[:-3])
    assert run_command_line(["lint", str(path)]) == 4
    out, error = capsys.readouterr()
    assert "rules broken: none" in out
    assert "the file ends in a packet" in error


@pytest.mark.parametrize("name", ["missing", "."])
def test_no_file(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["lint", str(tmp_path / name)]) == 4
    assert "cannot read" in capsys.readouterr().err


def test_the_rules_are_listed_as_documented(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["lint", "--list-rules"]) == 0
    listed = capsys.readouterr().out.splitlines()
    page = (Path(__file__).parents[2] / "docs" / "lint.md").read_text().splitlines()
    assert [line for line in page if line.startswith("| `lint/")] == listed


def test_a_file_is_wanted() -> None:
    assert run_command_line(["lint"]) == 4

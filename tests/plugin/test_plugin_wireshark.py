# SPDX-License-Identifier: MIT
"""Wireshark reads the captures of a run, and its dissectors find nothing malformed in them.

Those of every 24th check; of all checks with ``NFSPROOF_EVERY=1``, as in CI. Each file is opened as it is; for the
dissectors all packets lie in one file, since thousands of starts take minutes.

But for what a check makes wrong on purpose: every packet with bytes of a check's own making says so in its comment, and
only such packets may be malformed, or be a server's answer to them that no dissector of NFS is made for.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

from nfsjudge import pcapng
from nfsjudge.capture import OWN_BYTES
from tests.needs import needs
from tests.plugin.evidence_run import EvidenceRun
from tests.settled import SERVER_PORT
from tests.waiting import AT_MOST

_PACKET = 6
_COMMENT = 1


def packets_of(path: Path) -> Iterator[tuple[float, bytes, str]]:
    """(seconds, frame, comment) of each packet of one of our captures."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == _PACKET:
            _, high, low, size, _ = struct.unpack_from("<IIIII", data, at + 8)
            begin, end = at + 28, at + 28 + size
            options = data[end + -size % 4 : at + length - 4]
            code, long = struct.unpack_from("<HH", options) if options else (0, 0)
            comment = options[4 : 4 + long].decode() if code == _COMMENT else ""
            yield (high << 32 | low) / 1e9, data[begin:end], comment
        at += length


def moved(frame: bytes, number: int, ports: dict[int, int]) -> bytes:
    """A packet between addresses of its capture's own, so that many captures can lie in one file.

    Its ports, which loopback has handed out, become those of NFS and of its clients: dissectors are chosen by port.
    """
    address = bytes([10, number >> 16 & 255, number >> 8 & 255, number & 255])
    assert frame[12:14] == b"\x08\x00"
    at = 14 + (frame[14] & 15) * 4
    found = struct.unpack_from(">HH", frame, at)
    for port in reversed(found):  # the first packet is a call, to the server
        ports.setdefault(port, SERVER_PORT if not ports else 61_000 + len(ports))
    return (
        frame[:26] + address * 2 + frame[34:at] + struct.pack(">HH", *map(ports.get, found)) + frame[at + 4 :]
    )


def joined(captures: list[Path], out: Path) -> list[tuple[Path, str]]:
    """Write all captures as one; for each packet, the capture that it is of, and its comment."""
    origin = []
    with out.open("wb") as file:
        file.write(pcapng.section() + pcapng.interface())
        for number, path in enumerate(captures):
            ports: dict[int, int] = {}
            for moment, frame, comment in packets_of(path):
                file.write(pcapng.packet(moment, moved(frame, number, ports), ""))
                origin.append((path, comment))
    return origin


def complaints(path: Path) -> list[tuple[int, str]]:
    """(number from 1, what is said) of the packets in which the dissectors see malformed data, or an error."""
    wrong = '_ws.malformed || _ws.unreassembled || _ws.expert.severity == "Error"'
    command = ["tshark", "-n", "-2", "-r", str(path), "-Y", wrong]
    fields = ["-T", "fields", "-e", "frame.number", "-e", "_ws.expert.message", "-e", "_ws.col.Info"]
    result = subprocess.run([*command, *fields], capture_output=True, text=True, check=True, timeout=AT_MOST)
    return [(int(line.split("\t")[0]), line) for line in result.stdout.splitlines()]


def counted(captures: list[Path]) -> list[int]:
    """How many packets Wireshark's reader of files finds in each of them as it is, comments and all."""
    command = ["capinfos", "-T", "-r", "-M", "-c", *map(str, captures)]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=AT_MOST)
    assert result.stderr == ""
    return [int(line.rpartition("\t")[2]) for line in result.stdout.splitlines()]


@needs("tshark", "capinfos")
def test_tshark_finds_nothing_malformed_but_what_a_check_makes_so(
    evidence_run: EvidenceRun, tmp_path: Path
) -> None:
    every, checks = evidence_run.every, evidence_run.checks.values()
    captures = [evidence_run.report / check.capture for check in checks if check.capture]
    assert len(captures) > 2000 // every
    assert counted(captures) == [sum(1 for _ in packets_of(path)) for path in captures]
    origin = joined(captures, tmp_path / "all.pcapng")
    said = complaints(tmp_path / "all.pcapng")
    found = [(*origin[number - 1], text) for number, text in said if OWN_BYTES not in origin[number - 1][1]]
    assert found == []
    # The dissectors do look: some checks send malformed bytes, and it shows.
    assert len(said) > 10 // every

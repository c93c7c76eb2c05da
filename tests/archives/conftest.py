# SPDX-License-Identifier: MIT
"""Folders of runs, made up: what a server on another machine would have left."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

from nfsclient.rpc.exchange import Exchange, Segment
from nfsjudge.capture import write_capture
from nfsjudge.records import (
    AnyRecord,
    CheckRecord,
    EndRecord,
    FindingRecord,
    MessageRecord,
    RunRecord,
    to_line,
)
from nfsjudge.transcript import hexdump
from nfsproof.archiving import Wishes, pack

HOST = "filer7.corp.example"
ADDRESS = "198.51.100.77"
PATH = "/vol/payroll"
TARGET = f"nfs://{HOST}{PATH}?nfsport=2049"
CAPTURE, SCRIPT = "evidence/nfs3/a/b.pcapng", "evidence/nfs3/a/b.py"


def make_run(folder: Path, *, host: str = HOST, address: str = ADDRESS, said: str = "") -> Path:
    """A run with everything that could tell where it was: `said` is what the server put into its answers."""
    target = f"nfs://{host}{PATH}?nfsport=2049"
    said = said or f"exported by {host.upper()} ({address}.8.1), see {PATH}/x"
    data = b"\x00\x00\x00\x50" * 30 + said.encode()
    records: list[AnyRecord] = [
        RunRecord(
            target,
            target,
            {"device": f"{host} refused"},
            "0.1",
            environment={"python": "3.11"},
            watched="process 4711 (payrolld (v2)) and 2 more",
        ),
        CheckRecord(
            id="nfs3/a/b",
            verdict="FAIL",
            observed=f"said {said!r}",
            reason=f"ConnectionLost: {address}:2049, {folder}/x",
            transcript=["reply bytes:", *(f"    {line}" for line in hexdump(data))],
            messages=[MessageRecord(1, 0.0, "reply", said, ["handle: " + data.hex() + " (200 bytes)"])],
            capture=CAPTURE,
            script=SCRIPT,
            target=target,
            rerun=f"bin/nfsproof run '{target}' nfs3/a/b",
            elsewhere=["NFS-Ganesha 4.3"],
        ),
        FindingRecord(
            "lint/nfs3/x", "nfs3/a/b", "FAIL", observed=said, target=target, rerun=target, capture=CAPTURE
        ),
        EndRecord(1, note=f"{host} is gone"),
    ]
    (folder / CAPTURE).parent.mkdir(parents=True)
    (folder / "records.jsonl").write_text(
        "".join(to_line(record) + "\n" for record in records), encoding="utf-8"
    )
    (folder / SCRIPT).write_text(
        f"url = '{target}'\ndata = bytes.fromhex('{data.hex()}')\n", encoding="utf-8"
    )
    peer = f"[{address}]:2049" if ":" in address else f"{address}:2049"
    exchange = Exchange(1, None, None, None, data, 1.0, peer, "tcp", reply=data, received_at=2.0)
    # The host's name cut in two, and a message that is longer than a packet of the capture.
    pieces = [Segment(3.0, True, part, peer, "tcp", "192.0.2.1:776", 1) for part in (data[:125], data[125:])]
    long = Segment(4.0, True, bytes(64_990) + data, peer, "tcp", "192.0.2.1:777", 2)
    write_capture(
        folder / CAPTURE,
        [exchange],
        segments=[*pieces, long],
        notes={1: f"from {host}"},
        about=f"check of {target}",
    )
    (folder / "logs").mkdir()
    (folder / "logs" / "server.log").write_text(f"listening on {address}\n", encoding="utf-8")
    return folder


def contents(archive: Path) -> dict[str, bytes]:
    """The files in an archive, by their names below its folder."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as packed:
            return {name.partition("/")[2]: packed.read(name) for name in packed.namelist()}
    with tarfile.open(archive) as tar:
        found = {member.name.partition("/")[2]: tar.extractfile(member) for member in tar.getmembers()}
        return {name: stream.read() for name, stream in found.items() if stream is not None}


def packed(folder: Path, file: Path, **wishes: object) -> dict[str, bytes]:
    """The files in the archive of a run."""
    pack(folder, file, Wishes(**wishes))  # type: ignore[arg-type]
    return contents(file)

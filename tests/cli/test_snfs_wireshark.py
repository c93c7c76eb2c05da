# SPDX-License-Identifier: MIT
"""Wireshark reads Spritely NFS with `docs/examples/snfs.lua`: its procedures, and those of NFSv2 as NFSv2."""

from __future__ import annotations

import re
import subprocess
from enum import IntEnum
from pathlib import Path

import pytest

from nfsclient.protocol import nfs3
from nfsclient.protocol import snfs as p
from nfsproof.exits import Exit
from tests.cli.test_reproduce import python
from tests.needs import needs
from tests.waiting import AT_MOST

SCRIPT = Path(__file__).resolve().parents[2] / "docs/examples/snfs.lua"
CHECK = "snfs/table/disabled[writer-write]"


def _numbers(table: str) -> dict[str, int]:
    """Name -> number, of a table of the script."""
    found = re.search(rf"local {table} = \{{(.*?)\n?\}}\n", SCRIPT.read_text(), re.DOTALL)
    assert found
    return {name: int(number) for number, name in re.findall(r'\[(\d+)\] = "(\w+)"', found[1])}


def test_the_script_has_the_numbers_of_the_protocol() -> None:
    own = [each for each in (*p.SNFS.procedures, p.CALLBACK) if each.number > p.STATFS.number]
    assert _numbers("PROCEDURES") == {each.name: each.number for each in own}
    assert _numbers("MODES") == {each.name: each for each in p.CbMode}
    statuses: type[IntEnum] = p.Snfsstat
    assert _numbers("STATUSES").items() <= {each.name: int(each) for each in statuses}.items()
    assert {each.name for each in statuses if each.name.startswith("SNFS")} <= set(_numbers("STATUSES"))
    assert f"PROGRAM, NFS = {p.PROGRAM:#010X}, {nfs3.NFS3.number}".replace("0X", "0x") in SCRIPT.read_text()


@pytest.fixture(scope="module", name="capture")
def make_capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of a check which failed."""
    folder = tmp_path_factory.mktemp("run") / "report"
    words = ("run", "embedded", CHECK, "--mutant=snfs-always-caches", f"--report={folder}", "-q")
    result = python("-m", "nfsproof", *words)
    assert result.returncode == Exit.FAIL, result.stdout + result.stderr
    (found,) = folder.rglob("*.pcapng")
    return found


@needs("tshark")
def test_both_parts_of_the_protocol_are_read(capture: Path) -> None:
    rows = _read(capture, "_ws.col.Protocol", "_ws.col.Info")
    seen = [f"{protocol} {info}" for protocol, info in rows if protocol in ("NFS", "SNFS")]
    assert any(row.startswith("NFS V2 CREATE Call") for row in seen), seen
    assert any(row.startswith("NFS V2 CREATE Reply") for row in seen), seen
    calls = ["SNFS OPEN Call", "SNFS CALLBACK Call", "SNFS CALLBACK Reply NFS_OK", "SNFS OPEN Reply NFS_OK"]
    assert [row for row in seen if row.startswith("SNFS")][-4:] == calls
    assert not any("Malformed" in info or "Error" in info for _, info in rows)


@needs("tshark")
def test_its_fields_can_be_filtered(capture: Path) -> None:
    (called,) = _read(capture, "snfs.cbmode", "snfs.size", only="snfs.cbmode")
    assert called == [str(int(p.CbMode.SNFS_WRINVAL)), "0"]
    versions = _read(capture, "snfs.cacheVersion", "snfs.cacheEnabled", only="snfs.cacheVersion")
    assert [enabled for _, enabled in versions] == ["1", "1"]


def _read(capture: Path, *columns: str, only: str = "frame") -> list[list[str]]:
    words = [word for column in columns for word in ("-e", column)]
    command = [
        "tshark",
        "-n",
        "-X",
        f"lua_script:{SCRIPT}",
        "-r",
        str(capture),
        "-Y",
        only,
        "-T",
        "fields",
        *words,
    ]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=AT_MOST)
    return [line.split("\t") for line in found.stdout.splitlines()]

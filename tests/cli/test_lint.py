# SPDX-License-Identifier: MIT
"""`nfsproof lint FILE`: text and exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from nfsclient.rpc.exchange import Exchange
from nfsproof.cli import run_command_line
from tests.nfsjudge.captured.conftest import play, rig
from tests.nfsjudge.captured.making import frames_of, pcap
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


def test_a_capture_that_kept_the_beginnings_of_packets_says_so(
    rig: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap(frames_of(play(rig)), keep=60))
    run_command_line(["lint", str(path)])
    assert "truncated packets" in capsys.readouterr().out


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

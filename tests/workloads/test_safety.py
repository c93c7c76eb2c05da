# SPDX-License-Identifier: MIT
"""What a run may do to an export, and what it leaves there: nothing."""

from __future__ import annotations

import errno
import tempfile
import typing as t
from pathlib import Path

import pytest

from nfsclient.protocol import nfs3
from nfsjudge.verdict import Verdict
from nfsproof import workloading
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit, Trouble
from nfsserver.fs.permissions import Caller
from nfsserver.server import Server
from nfstargets.embedded import EmbeddedTarget
from tests.workloads.rig import names_of, run_whole
from workloads.running import Here
from workloads.safety import Limits
from workloads.trouble import Refused


def _refusal(**wish: t.Any) -> str:
    with pytest.raises(Trouble) as caught:
        workloading.run(workloading.Wish(target="embedded", **wish), say=lambda _line: None)
    return str(caught.value)


def test_bounds_are_kept_before_anything_is_made() -> None:
    assert "--max-bytes is 1048576" in _refusal(workload="write10", limits=Limits(bytes=1 << 20))
    assert "--max-files is 100" in _refusal(workload="find", limits=Limits(files=100))
    assert "expected 1 to 8192 as the read size" in _refusal(workload="write10", version="2", rsize=65536)
    assert "expected 1 to 1024 as the window" in _refusal(workload="write10", window=5000)


def test_mistakes_have_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    cases = {
        ("workload", "run", "write01"): "unknown workload 'write01'; similar: write40",
        ("workload", "run", "write10", "nosuch"): "unknown target 'nosuch'",
        ("workload", "run", "write10", "--set", "size=big"): "expected a number for size, got 'big'",
        ("workload", "run", "write10", "--set", "color=red"): "write10 has no parameter 'color'",
        (
            "workload",
            "run",
            "write10",
            "--policy",
            "v2-like",
        ): "the policy v2-like is for NFSv2, not for NFSv3",
        ("workload", "list", "nosuch"): "unknown workload 'nosuch'",
    }
    for words, expected in cases.items():
        assert run_command_line(words) == Exit.USAGE
        error = capsys.readouterr().err
        assert expected in error
        assert "Traceback" not in error


def test_a_dry_run_says_how_much_and_does_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["workload", "run", "write40", "nfs://192.0.2.1/export", "--clients", "2", "--dry-run"]
    assert run_command_line(words) == Exit.OK
    assert "at most 80 MiB of data in 2 files and 1 directory" in capsys.readouterr().out


def test_a_dry_run_of_an_open_loop_names_its_rate_and_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["workload", "run", "fileserver", "nfs://192.0.2.1/export", "--arrivals", "200", "--workers", "3"]
    assert run_command_line([*words, "--duration", "20", "--dry-run"]) == Exit.OK
    text = capsys.readouterr().out
    assert "clients 1 in each of 3 workers, 200 units a second" in text
    assert "lasts 22 s" in text
    assert "callers" not in text


def test_a_dry_run_on_a_mounted_directory_chooses_no_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["workload", "run", "write10", "--mount", str(tmp_path), "--dry-run"]) == Exit.OK
    text = capsys.readouterr().out
    assert f"write10 (script) on the directory {tmp_path}, with the client of the kernel:" in text
    assert "NFSv3" not in text
    assert "raw" not in text


def test_a_folder_that_cannot_be_written_is_found_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(**_more: t.Any) -> t.NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuses)
    assert run_command_line(["workload", "run", "write10", "--out", str(tmp_path)]) == Exit.USAGE
    output, error = capsys.readouterr()
    assert (output, error) == ("", f"nfsproof: cannot write {tmp_path}: Permission denied\n")


def test_a_result_replaces_all_of_an_older_one_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("result.json", "wrong-0.pcapng", "mine.txt"):
        (tmp_path / name).write_text("old")
    words = ["workload", "run", "write10", "--set", "size=64k", "--out", str(tmp_path)]
    assert run_command_line([*words, "--version", "7"]) == Exit.USAGE
    assert len(list(tmp_path.iterdir())) == 3
    capsys.readouterr()
    assert run_command_line(words) == Exit.OK
    assert f"removed from {tmp_path}, of an older run: result.json, wrong-0.pcapng" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.txt", "result.json"]


def test_a_run_that_would_not_fit_is_refused() -> None:
    assert "are free in the export" in _refusal(
        workload="write10", parameters={"size": "64M"}, knobs={"free_bytes": 8 << 20}
    )


def test_an_export_with_files_of_others_is_not_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than half of the room is refused if somebody else has files there, and only then."""
    wish: dict[str, t.Any] = {
        "workload": "write10",
        "parameters": {"size": "6M"},
        "knobs": {"free_bytes": 8 << 20},
    }
    outcome = workloading.run(workloading.Wish(target="embedded", **wish), say=lambda _line: None)
    assert outcome.result.verdict is Verdict.PASS
    start = EmbeddedTarget.start

    def with_a_file(target: EmbeddedTarget) -> None:
        start(target)
        fs = target.running().fs
        fs.mkdir(Caller(0, 0), fs.root, b"theirs")

    monkeypatch.setattr(EmbeddedTarget, "start", with_a_file)
    assert "files of others ('theirs')" in _refusal(**wish)


def test_nothing_is_left_after_an_interruption() -> None:
    """As Ctrl-C does it: the phase ends, the directory goes, with all that is in it."""

    def during(carrier: Here, target: EmbeddedTarget) -> None:
        seen: list[int] = []

        def stop(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            seen.append(1)
            if len(seen) == 5:
                carrier.stop()
            return proceed(context, args)

        target.running().interpose(nfs3.CREATE, stop)

    outcome, server = run_whole("find", during=during, policy="v3-like")
    assert outcome.interrupted
    assert outcome.result.verdict is Verdict.VOID
    assert workloading.exit_status(outcome) is Exit.INTERRUPTED
    assert (outcome.left, names_of(server)) == ((), [])


def test_a_directory_that_is_there_is_not_used() -> None:
    def prepare(server: Server) -> None:
        server.interpose(nfs3.MKDIR, _exists)

    with pytest.raises(Refused, match="a run works in a directory that it has made"):
        run_whole("write10", prepare=prepare)


def _exists(_server: t.Any, _context: t.Any, _args: t.Any, _proceed: t.Any) -> t.Any:
    failed = nfs3.Mkdir3ResFail(nfs3.WccData())
    return nfs3.Mkdir3Res(nfs3.Nfsstat3.NFS3ERR_EXIST, resfail=failed)


def test_what_could_not_be_removed_is_named() -> None:
    def prepare(server: Server) -> None:
        def refuses(_server: t.Any, _context: t.Any, _args: t.Any, _proceed: t.Any) -> t.Any:
            failed = nfs3.Remove3ResFail(nfs3.WccData())
            return nfs3.Remove3Res(nfs3.Nfsstat3.NFS3ERR_ACCES, resfail=failed)

        server.interpose(nfs3.REMOVE, refuses)

    outcome, _ = run_whole("write10", prepare=prepare)
    assert outcome.result.verdict is Verdict.PASS
    assert outcome.left[0].startswith("nfsproof-workload-test: ")


def test_a_server_that_goes_away_stops_the_run_and_says_so() -> None:
    def prepare(server: Server) -> None:
        def leave(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            if args.offset == 40960:
                server.restart()
            return proceed(context, args)

        server.interpose(nfs3.WRITE, leave)

    outcome, server = run_whole("write10", prepare=prepare)
    assert outcome.result.verdict is Verdict.VOID
    assert outcome.result.reasons[0].startswith("connection: ")
    assert (outcome.left, names_of(server)) == ((), [])

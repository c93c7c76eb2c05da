# SPDX-License-Identifier: MIT
"""`nfsproof pynfs` on a stand-in: verdicts, exit statuses, time limits, and what is said of what is missing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from nfsproof.pynfs.checkout import Checkout
from nfsproof.pynfs.running import where
from nfstargets import TargetAddress
from reports import load, render_html
from tests.pynfs.conftest import Pynfs
from tests.pynfs.stand_in import Planned, calls_of, make_checkout
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "\x1b[31m::error::<script>alert(1)</script> \u202e `x` ##vso[task] "
CUT = ("--test-timeout=20m",)


def test_each_state_has_its_verdict(pynfs: Pynfs) -> None:
    done = pynfs(
        Planned("EID1"),
        Planned(
            "EID2", "fail", "OP_EXCHANGE_ID should return NFS4ERR_INVAL or NFS4ERR_NOENT, instead got NFS4_OK"
        ),
        Planned("EID3", "warn", "there is a better answer"),
        Planned("EID4", "unsupported", "no attribute x"),
        Planned("EID5", "crash", "KeyError: 'a'"),
        Planned("EID6", "quietly crash", "AttributeError: of the end of a test"),
        Planned("EID7", needs=("EID2",)),
        Planned("EID8", "fail", "Wrong number of things", function="st_rename.testDirs"),
        Planned("EID9", "crash", "nfs4lib.NFS4Error: OP_OPEN should return NFS4_OK, instead got NFS4ERR_IO"),
    )
    assert done.status == Exit.OK, done.errors
    assert done.verdicts == {
        "EID1": "PASS", "EID2": "FAIL", "EID3": "NONSTRICT", "EID4": "UNSUPPORTED", "EID5": "VOID", "EID6": "VOID",
        "EID7": "SKIP", "EID8": "FAIL", "EID9": "FAIL",
    }  # fmt: skip
    failed = done.records["EID2"]
    assert failed.id == "pynfs41/exchange_id/EID2"
    assert (failed.what, failed.expected, failed.observed) == (
        "OP_EXCHANGE_ID", ["NFS4ERR_INVAL", "NFS4ERR_NOENT"], "NFS4_OK"
    )  # fmt: skip
    assert failed.outcome is not None
    assert (failed.outcome.operation, failed.outcome.seen) == ("EXCHANGE_ID", "success")
    assert failed.transcript[-1].startswith("testmod.FailureException: OP_EXCHANGE_ID should")
    assert "exception: AttributeError: of the end" in done.records["EID6"].reason
    assert done.records["EID9"].what == "OP_OPEN", "its library reports a wrong status by an exception"
    assert done.records["EID8"].id == "pynfs41/rename/EID8"
    assert done.records["EID8"].observed == "Wrong number of things"
    assert "EID2" in done.records["EID7"].reason
    assert "a second opinion: its failures do not decide the exit status" in done.output


def test_failures_count_where_the_user_wants_it(pynfs: Pynfs) -> None:
    assert pynfs(Planned("EID1", "fail", "no"), words=("--pynfs-counts",)).status == Exit.FAIL
    crash = Planned("EID2", "crash", "KeyError: x")
    assert pynfs(Planned("EID1"), crash, words=("--pynfs-counts",)).status == Exit.VOID


def test_a_run_that_says_nothing_is_not_green(pynfs: Pynfs) -> None:
    assert pynfs(Planned("EID1", "crash", "KeyError: 'a'")).status == Exit.VOID


def test_how_it_is_called(pynfs: Pynfs) -> None:
    done = pynfs(Planned("EID1"), Planned("XATT1", since=2), Planned("EID50", flags=("ssv",)))
    ((where, codes, options),) = calls_of(done.checkout)
    assert where.startswith("127.0.0.1:")
    assert "/export/nfsproof-pynfs-" in where
    assert where.endswith("/1")
    assert codes == ["EID1", "XATT1"], "those of the flag all"
    assert (options["minorversion"], options["uid"], options["gid"]) == (1, 0, 0)
    assert options["maketree"]
    assert options["rundeps"]
    assert "not for minor version 1, says pynfs: XATT1" in done.output
    assert done.verdicts == {"EID1": "PASS"}
    kept = [path.name for path in done.checkout.rglob("*") if path.is_file()]
    assert not [name for name in kept if name.endswith(".pyc")]


def test_the_other_trees(pynfs: Pynfs) -> None:
    done = pynfs(Planned("ACC1", function="st_access.testRead"), words=("--minor=0",))
    assert done.run.protocols == ["pynfs40"]
    assert next(iter(done.records.values())).id == "pynfs40/access/ACC1"
    assert calls_of(done.checkout)[0][2]["minorversion"] == 0
    done = pynfs(Planned("XATT1", since=2), words=("--minor=2",))
    assert (done.run.protocols, done.verdicts) == (["pynfs41"], {"XATT1": "PASS"})


@pytest.mark.parametrize(
    ("words", "chosen"),
    [(("EID1",), {"EID1"}), (("rename",), {"RNM1", "RNM2"}), (("all", "noRNM2"), {"EID1", "RNM1"}),
     (("all", "norename", "RNM2"), {"EID1", "RNM2"}), (("everything",), {"EID1", "RNM1", "RNM2"})],
)  # fmt: skip
def test_codes_and_flags(words: tuple[str, ...], chosen: set[str]) -> None:
    flags = ("all", "rename", "everything")
    codes = {"EID1": ("all", "everything"), "RNM1": flags, "RNM2": flags}
    assert set(Checkout(Path(), 1, "", codes, "").select(words)) == chosen


def test_an_empty_selection_is_an_error(pynfs: Pynfs) -> None:
    done = pynfs(Planned("EID1"), words=("EID1", "noEID1"))
    assert done.status == Exit.NOTHING
    assert "no test was selected by EID1 noEID1" in done.output
    assert pynfs(Planned("XATT1", since=2)).status == Exit.NOTHING


def test_a_word_that_means_nothing(pynfs: Pynfs) -> None:
    done = pynfs(Planned("EID1"), words=("EID11",))
    assert done.status == Exit.USAGE
    assert "no code and no flag 'EID11'" in done.errors
    assert "EID1" in done.errors


# ---------------------------------------------------------------- time, and ends


def test_a_test_without_an_end_is_cut_and_the_others_run(pynfs: Pynfs) -> None:
    done = pynfs(
        Planned("EID1", "fail", "before"),
        Planned("EID2", "wait", prints="half a line"),
        Planned("EID3"),
        words=CUT,
    )
    assert done.status == Exit.OK
    assert done.verdicts == {"EID1": "FAIL", "EID2": "VOID", "EID3": "PASS"}
    assert done.records["EID2"].reason.startswith("cut: the test had no result after 1200 s")
    assert done.records["EID1"].observed == "before", (
        "its words are those of the output: there is no file of results"
    )
    first, second = calls_of(done.checkout)
    assert second[1] == ["EID3"]
    assert first[0] != second[0], "the server may keep what the first one has left"
    assert "FAIL EID1" in done.output
    assert (done.folder / "logs" / "pynfs-2.log").is_file()


def test_a_dependency_that_hangs_does_not_hang_for_ever(pynfs: Pynfs) -> None:
    done = pynfs(Planned("EID1", "wait"), Planned("EID2", needs=("EID1",)), Planned("EID3"), words=CUT)
    assert done.verdicts == {"EID1": "VOID", "EID2": "PASS", "EID3": "PASS"}
    assert [call[2]["force"] for call in calls_of(done.checkout)] == [False, False, True]


def test_pynfs_ends_in_a_test(pynfs: Pynfs) -> None:
    done = pynfs(Planned("EID1"), Planned("EID2", "kill", prints="last words\n"), Planned("EID3"))
    assert done.verdicts == {"EID1": "PASS", "EID2": "VOID", "EID3": "PASS"}
    assert "pynfs ended in this test (signal 9 (SIGKILL)): last words" in done.records["EID2"].reason


def test_pynfs_does_not_begin(pynfs: Pynfs) -> None:
    done = pynfs(Planned("EID1"), Planned("EID2"), dies=1)
    assert done.status == Exit.VOID
    assert done.verdicts == {"EID1": "VOID", "EID2": "VOID"}
    assert "pynfs ended (exit status 1): no server, no tests" in done.records["EID2"].reason


def test_the_run_has_a_limit(pynfs: Pynfs) -> None:
    done = pynfs(Planned("EID1"), Planned("EID2", "wait"), Planned("EID3"), words=("--time-limit=1h",))
    assert done.verdicts == {"EID1": "PASS", "EID2": "VOID", "EID3": "VOID"}
    assert "the time limit of the run (3600 s) was over while the test ran" in done.records["EID2"].reason
    assert "not reached" in done.records["EID3"].reason
    assert "VOID 1 test: not reached" in done.output


def test_ctrl_c_keeps_what_there_is(tmp_path: Path) -> None:
    checkout = make_checkout(
        tmp_path / "checkout", Planned("EID1", "fail", "no"), Planned("EID2", "wait"), Planned("EID3")
    )
    command = [
        sys.executable,
        "-P",
        "-m",
        "nfsproof",
        "pynfs",
        str(checkout),
        "embedded",
        "--report",
        str(tmp_path / "r"),
    ]
    process = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdout is not None
    lines = iter(process.stdout.readline, "")
    assert any(line.startswith("FAIL EID1") for line in lines)
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=AT_MOST)[0]
    assert process.returncode == Exit.INTERRUPTED
    assert "interrupted after 1 of 3 tests" in output
    run = load(tmp_path / "r")
    assert [check.verdict for check in run.checks] == ["FAIL"]
    assert run.end is not None
    assert run.end.exit_code == Exit.INTERRUPTED


@pytest.mark.parametrize(
    ("host", "export", "inside", "place"),
    [("127.0.0.1", "/export", "", "127.0.0.1:2049/export/a/1"), ("::1", "/", "b/c", "[::1]:2049/b/c/a/1"),
     ("host", "/x y/", "z", "host:2049/x y/z/a/1")],
)  # fmt: skip
def test_how_a_place_is_named(host: str, export: str, inside: str, place: str) -> None:
    address = TargetAddress(host=host, nfs_port=2049, mount_port=0, export=export, inside=inside)
    assert where(address, ["a", "1"]) == place


# ---------------------------------------------------------------- text from outside


def test_hostile_words_are_text(pynfs: Pynfs) -> None:
    done = pynfs(
        Planned("EID1", "fail", HOSTILE + "x" * 5000, prints=f"EID2 st_x.y : RUNNING\n{HOSTILE}\n"),
        Planned("EID2", "warn", HOSTILE),
    )
    record = done.records["EID1"]
    assert "\x1b" not in record.observed
    assert len(record.observed) <= 1000
    assert "\x1b" not in done.output
    assert "\n::error" not in done.output
    page = render_html(done.run)
    assert "EID1" in page
    assert "<script>alert" not in page


# ---------------------------------------------------------------- what is missing


def test_no_checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["pynfs", str(tmp_path), "embedded"]) == Exit.USAGE
    assert "git clone" in capsys.readouterr().err


def test_not_built(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkout = make_checkout(tmp_path)
    (checkout / "rpc" / "rpc_const.py").unlink()
    assert run_command_line(["pynfs", str(checkout), "embedded"]) == Exit.USAGE
    text = capsys.readouterr().err
    assert "is not built" in text
    assert "./setup.py build" in text


@pytest.mark.parametrize(
    ("program", "said"),
    [("import xdrlib.x", "pip install xdrlib3"), ("import xdrdef.nfs4_type", "is not built"),
     ("raise SystemExit('no such thing')", "no such thing"), ("print('EID1')", "lists no code")],
)  # fmt: skip
def test_a_program_that_does_not_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], program: str, said: str
) -> None:
    checkout = make_checkout(tmp_path)
    prelude = "import sys; sys.modules.update(dict.fromkeys(('xdrlib', 'xdrdef', 'ply')))\n"
    (checkout / "nfs4.1" / "testserver.py").write_text(prelude + program, encoding="utf-8")
    assert run_command_line(["pynfs", str(checkout), "embedded"]) == Exit.USAGE
    assert said in capsys.readouterr().err


def test_an_interpreter_of_the_checkout_comes_first(pynfs: Pynfs, tmp_path: Path) -> None:
    inside = tmp_path / "checkout" / ".venv" / "bin"
    inside.mkdir(parents=True)
    (inside / "python").write_text(
        f'#!/bin/sh\necho used >&2\nexec "{sys.executable}" "$@"\n', encoding="utf-8"
    )
    (inside / "python").chmod(0o755)
    done = pynfs(Planned("EID1"))
    assert "used" in (done.folder / "logs" / "pynfs-1.log").read_text(encoding="utf-8")
    assert pynfs(Planned("EID1"), words=("--python=no-such-python",)).status == Exit.USAGE


@pytest.mark.parametrize(
    ("target", "words", "said"),
    [("client:libnfs", (), "is a client"), ("nfs://127.0.0.1:1/x", (), "127.0.0.1"), ("embedde", (), "embedded"),
     ("embedded", ("--knob=no_such=1",), "no_such"), ("embedded", ("--mutant=no-such",), "no-such"),
     ("nfs://127.0.0.1:1/x", ("--mutant=getfh4-changes-the-handle",), "only the embedded server")],
)  # fmt: skip
def test_a_target_that_cannot_be_tested(pynfs: Pynfs, target: str, words: tuple[str, ...], said: str) -> None:
    done = pynfs(Planned("EID1"), target=target, words=words)
    assert done.status == Exit.USAGE
    assert said in done.errors


def test_restarts_need_a_helper(pynfs: Pynfs) -> None:
    tests = (Planned("EID1"), Planned("REBT1", flags=("reboot",)))
    done = pynfs(*tests, words=("everything",))
    assert done.verdicts == {"EID1": "PASS", "REBT1": "SKIP"}
    done = pynfs(*tests, words=("everything", "--serverhelper=/bin/true", "--serverhelperarg=x"))
    assert done.verdicts == {"EID1": "PASS", "REBT1": "PASS"}
    assert calls_of(done.checkout)[-1][2]["serverhelper"] == "/bin/true"

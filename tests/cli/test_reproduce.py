# SPDX-License-Identifier: MIT
"""`nfsproof reproduce`, and the scripts that failed checks leave, on servers that are bent in the same way."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfsclient.clients import Nfs3
from nfsclient.discovery import discover
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import connect_tcp
from nfsjudge.records import AnyRecord, CheckRecord, FindingRecord, RunRecord, read_records, seen, to_line
from nfsproof.archiving import Wishes, pack
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from nfsproof.only_data import is_only_data
from reports.archived import unpack
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
FAILING = {
    "nfs3/WRITE/count-limit": ("write3-reports-more-than-sent", "count: "),
    "nfs3/READDIR/count-limit": ("readdir3-exceeds-count", "resok: "),
    "nfs3/READDIR/eof-at-end": ("readdir3-never-returns-eof", "eof: False"),
    "nfs2/GETATTR/new-file-nlink": ("getattr2-reports-one-link-too-many", "nlink: 2"),
    "rpc/xid/echoed[4g-1-tcp]": ("rpc-changes-extreme-xids", "received: "),
    "mount/DUMP/lists-mount-old[v1]": ("mnt1-records-nothing", "DUMP"),
}
"""Check -> the mutant that it is to see, and what stands in the line of its script that is marked, or near it."""
LINTED = ("nfs3/COMMIT/whole-file", "commit3-before-has-no-size")
"""A check that passes, and the mutant that only the lint sees in its exchanges."""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}


def python(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )


@pytest.fixture(scope="module")
def bent() -> Iterator[str]:
    """The URL of a server that is bent in all those ways."""
    names = [LINTED[1], *(mutant for mutant, _ in FAILING.values())]
    mutants = [word for mutant in names for word in ("--mutant", mutant)]
    with subprocess.Popen(
        [sys.executable, "-m", "nfsproof", "serve", "--port", "0", *mutants],
        env=environment(), stdout=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        assert server.stdout is not None
        yield server.stdout.readline().split()[1]
        server.terminate()


@pytest.fixture(scope="module")
def report(bent: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run on it leaves."""
    folder = tmp_path_factory.mktemp("run") / "report"
    result = python("-m", "nfsproof", "run", bent, *FAILING, LINTED[0], f"--report={folder}", "-q")
    assert result.returncode == Exit.FAIL, result.stdout
    return folder


def check_of(report: Path, name: str) -> CheckRecord:
    with (report / "records.jsonl").open() as lines:
        return next(
            record for record in read_records(lines) if isinstance(record, CheckRecord) and record.id == name
        )


@pytest.mark.parametrize("name", FAILING)
def test_a_script_shows_the_deviation_again(report: Path, bent: str, name: str) -> None:
    check = check_of(report, name)
    assert check.verdict in {"FAIL", "NONSTRICT"}
    result = python(str(report / check.script), bent)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    out = result.stdout
    assert f"recorded: {check.verdict} of {name}" in out
    assert "what was recorded is sent in its place" not in out
    assert "not sent" not in out
    assert "not removed: " not in out
    marked = [line for line in out.splitlines() if "    <-- " in line]
    shown = marked or [line for line in out.splitlines() if line.startswith(("#", "received", "  #"))]
    assert any(FAILING[name][1] in line for line in shown), out
    assert f"seen:     {seen(check)}" in out


def test_what_a_script_made_is_removed(report: Path, bent: str) -> None:
    def names() -> list[bytes]:
        endpoint = discover(bent)
        with connect_tcp(endpoint.host, endpoint.nfs_port, credential=AuthSys(0, 0)) as rpc:
            listed = Nfs3(rpc).readdir(endpoint.root, 0, bytes(8), 65536).resok
        assert listed is not None
        return sorted(entry.name for entry in listed.entries)

    before = names()
    check = check_of(report, next(iter(FAILING)))
    assert python(str(report / check.script), bent).returncode == 0
    assert names() == before


def test_a_right_server_shows_no_deviation(report: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "nfsproof", "serve", "--port", "0", "--export", "/other/place"],
        env=environment(), stdout=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        assert server.stdout is not None
        url = server.stdout.readline().split()[1]
        check = check_of(report, next(iter(FAILING)))
        bent_count = next(
            line.strip()
            for message in check.messages
            for line in (message.fields[at] for at in message.deviating)
        )
        result = python(str(report / check.script), url)
        server.terminate()
    assert result.returncode == 0
    (marked,) = [line for line in result.stdout.splitlines() if "    <-- " in line]
    assert "count: " in marked
    assert not marked.strip().startswith(bent_count)


def test_a_server_that_is_not_there_is_said_in_words(report: Path) -> None:
    check = check_of(report, next(iter(FAILING)))
    result = python(str(report / check.script), "nfs://127.0.0.1:1/export?mountport=1")
    assert result.returncode == Exit.USAGE
    assert "Traceback" not in result.stderr
    assert "the first argument is nfs://HOST/EXPORT" in result.stdout
    assert python(str(report / check.script), "http://x").returncode == Exit.USAGE


def test_the_command_runs_the_check_again_next_to_the_records(report: Path, bent: str) -> None:
    name = next(iter(FAILING))
    before = (report / "records.jsonl").read_bytes()
    result = python("-m", "nfsproof", "reproduce", name, f"--report={report}")
    assert result.returncode == Exit.FAIL
    assert "1 failed" in result.stdout
    assert check_of(report / "reproduced", name).messages
    assert (report / "records.jsonl").read_bytes() == before
    again = python("-m", "nfsproof", "reproduce", name, f"--report={report}", "--target=embedded")
    assert again.returncode == Exit.OK


def test_the_command_runs_the_script_or_prints_it(report: Path, bent: str) -> None:
    whole = next(iter(FAILING))
    name = whole.lower()[:-3]  # the beginning is enough, in any case
    run = python("-m", "nfsproof", "reproduce", name, f"--report={report}", "--script", f"--target={bent}")
    assert run.returncode == Exit.OK
    assert f"    <-- FAIL {whole}: " in run.stdout
    shown = python("-m", "nfsproof", "reproduce", name, f"--report={report}", "--print")
    assert shown.stdout == (report / check_of(report, whole).script).read_text()


def test_a_rule_of_the_lint_leads_to_the_first_check_that_broke_it(report: Path) -> None:
    with (report / "records.jsonl").open() as lines:
        finding = next(record for record in read_records(lines) if isinstance(record, FindingRecord))
    shown = python("-m", "nfsproof", "reproduce", finding.id, f"--report={report}", "--print")
    assert shown.returncode == Exit.OK
    assert f"check='{finding.check}'" in shown.stdout


@pytest.fixture
def left(tmp_path: Path) -> Callable[..., Path]:
    def write(*records: CheckRecord | RunRecord) -> Path:
        (tmp_path / "records.jsonl").write_text("".join(to_line(record) + "\n" for record in records))
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("nfs3/nothing", "expected the id of a check of this run"),
        ("nfs3/writes/one", "similar: nfs3/write/one"),
        ("nfs3/write", "expected the id of one check"),
        ("nfs3/write/one", "run it again with --evidence=always"),
        ("nfs3/write/two", "which is none"),
    ],
)
def test_what_cannot_be_reproduced_is_said_in_a_line(
    left: Callable[..., Path], capsys: pytest.CaptureFixture[str], name: str, complaint: str
) -> None:
    outside = "../../../etc/passwd"
    checks = CheckRecord("nfs3/write/one", "PASS"), CheckRecord("nfs3/write/two", "PASS", script=outside)
    folder = left(RunRecord("embedded"), *checks)
    assert run_command_line(["reproduce", name, "--report", str(folder), "--print"]) == Exit.USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert complaint in line


def test_without_records_there_is_nothing_to_reproduce(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["reproduce", "x", "--report", str(tmp_path)]) == Exit.USAGE
    assert "expected the records of a run" in capsys.readouterr().err


def test_an_archive_is_taken_out_first_and_its_server_named(
    report: Path, bent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, archive = next(iter(FAILING)), tmp_path / "a.tar.gz"
    pack(report, archive, Wishes("Server A"))
    words = ["reproduce", name, "--script"]
    assert run_command_line([*words, f"--report={archive}"]) == Exit.USAGE
    assert "saw the archive" in capsys.readouterr().err
    folder = unpack(archive, tmp_path / "out").folder
    for more in ([], ["--script"]):
        assert run_command_line(["reproduce", name, *more, f"--report={folder}"]) == Exit.USAGE
        assert "which server 'Server A' is: name it with --target" in capsys.readouterr().err
    assert run_command_line([*words, f"--report={folder}", f"--target={bent}"]) == Exit.USAGE
    assert "comes from an archive, so someone else wrote it" in capsys.readouterr().err
    assert run_command_line([*words, f"--report={folder}", f"--target={bent}", "--trust"]) == Exit.OK
    script = (folder / check_of(folder, name).script).read_text()
    assert script.startswith("# From an archive: somebody else's run wrote this script")
    result = python(str(folder / check_of(folder, name).script))
    assert (result.returncode, len(result.stderr.splitlines())) == (4, 1)
    assert "the first argument names the server" in result.stderr


def test_an_id_in_foreign_records_is_no_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records: list[AnyRecord] = [
        RunRecord("embedded", "embedded", {}, "0.1"),
        CheckRecord(id="--junitxml=x", verdict="FAIL", target="embedded"),
        FindingRecord("lint/nfs3/x", "--junitxml=x", "FAIL"),
    ]
    (tmp_path / "records.jsonl").write_text("".join(to_line(record) + "\n" for record in records))
    assert run_command_line(["reproduce", "lint/nfs3/x", f"--report={tmp_path}"]) == Exit.USAGE
    assert "expected the id of a check, saw '--junitxml=x'" in capsys.readouterr().err


SCRIPT = """
from nfsclient.protocol import nfs3
from nfsclient.replay import Replay, Story
replay = Replay.of_arguments('nfs://h/x', Story(check='a', verdict='FAIL'))
c1 = replay.connect('nfs')
r1 = replay.call(1, c1, nfs3.GETATTR, nfs3.Getattr3Args(object=b'x' * 3 + bytes.fromhex('00')))
replay.end()
"""


def test_a_script_of_nfsproof_is_only_data() -> None:
    assert is_only_data(SCRIPT)


@pytest.mark.parametrize(
    "more",
    [
        "import os",
        "from os import system",
        "from nfsclient.replay import sys",
        "from nfsclient.replay import Replay as replay",
        "replay.loop.close()",
        "replay._print('x')",
        "nfs3.sys.exit()",
        "nfs3.GETATTR.args.unpack_from.__globals__",
        "print('x')",
        "__import__('os').abort()",
        "(lambda: 1)()",
        "[one for one in (1, 2)]",
        "while 1: replay.end()",
        "bytes.fromhex = print",
        "nfs3 = replay",
        "replay.end.__self__",
        "Replay.__init__",
        "r1.__class__.mro()",
        "f'{replay.loop}'",
        "try:\n    replay.end()\nexcept ImportError:\n    replay.end()",
        "x = = y",
    ],
)
def test_a_script_that_does_more_is_not(more: str) -> None:
    assert not is_only_data(f"{SCRIPT}{more}\n")


def test_a_script_that_does_more_runs_only_when_trusted(
    left: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = left(RunRecord("nfs://127.0.0.1:1/x"), CheckRecord("nfs3/a/b", "FAIL", script="s.py"))
    (folder / "s.py").write_text("import sys\nsys.exit(7)\n")
    words = ["reproduce", "nfs3/a/b", "--script", f"--report={folder}"]
    assert run_command_line(words) == Exit.USAGE
    assert "does more than the scripts of nfsproof do" in capsys.readouterr().err
    assert run_command_line([*words, "--trust"]) == 7


def test_a_server_that_was_started_for_the_run_is_started_again(tmp_path: Path) -> None:
    name, mutant = "nfs3/WRITE/count-limit", "write3-reports-more-than-sent"
    run = ["-m", "nfsproof", "run", "embedded", name, f"--mutant={mutant}", f"--report={tmp_path}", "-q"]
    assert python(*run).returncode == Exit.FAIL
    alone = python(str(tmp_path / check_of(tmp_path, name).script))
    assert alone.returncode == Exit.USAGE
    assert "was started for it, and is gone: name one" in alone.stderr
    again = python("-m", "nfsproof", "reproduce", name, "--script", f"--report={tmp_path}")
    assert again.returncode == Exit.OK, again.stderr
    assert f"count: 2    <-- FAIL {name}: " in again.stdout
    assert python("-m", "nfsproof", "reproduce", name, f"--report={tmp_path}").returncode == Exit.FAIL


def test_what_a_check_draws_is_drawn_again(tmp_path: Path) -> None:
    name, mutant = "recovery/consistency/names", "crash-undoes-half-of-rename"
    run = ["-m", "nfsproof", "run", "embedded", name, f"--mutant={mutant}", f"--report={tmp_path}", "-q"]
    assert python(*run, "--seed", "5").returncode == Exit.FAIL
    assert python("-m", "nfsproof", "reproduce", name, f"--report={tmp_path}").returncode == Exit.FAIL
    for folder in (tmp_path, tmp_path / "reproduced"):
        check = check_of(folder, name)
        assert check.observations["seed"] == "5"
        assert {"--seed=5", f"--mutant={mutant}"} <= set(shlex.split(check.rerun))


def test_a_python_without_nfsclient_is_shown_what_to_do(report: Path, tmp_path: Path) -> None:
    script = report / check_of(report, next(iter(FAILING))).script
    alone = subprocess.run(
        [sys.executable, "-I", "-S", str(script)],
        cwd=tmp_path, capture_output=True, text=True, timeout=AT_MOST, check=False,
    )  # fmt: skip
    assert alone.returncode == 1
    assert "nfsclient is a part of nfsproof: run this with the Python that has it" in alone.stderr
    assert "Traceback" not in alone.stderr


def test_a_target_file_says_how_the_check_runs(report: Path, bent: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f'[[target]]\ntarget = "{bent}"\nlabel = "Mine"\nlacks = ["device"]\n')
    name = next(iter(FAILING))
    words = ["-m", "nfsproof", "reproduce", name, f"--report={report}", f"--target={file}"]
    again = python(*words)
    assert again.returncode == Exit.FAIL
    assert "its owner declares it missing" in (report / "reproduced" / "report.txt").read_text()
    assert check_of(report / "reproduced", name).verdict == "FAIL"
    assert python(*words, "--script").returncode == Exit.OK

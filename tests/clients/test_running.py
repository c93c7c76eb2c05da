# SPDX-License-Identifier: MIT
"""`nfsproof clients` as its users meet it: verdicts, records, the board, mistakes."""

from __future__ import annotations

import json
import shlex
import sys
import typing as t
from pathlib import Path

import pytest

from nfsjudge.clients import RIGHT, STUCK, Cell, cell_of, id_of
from nfsproof.cli import run_command_line
from nfsproof.clients import program, running
from nfsproof.clients.plans import PLANS
from nfsproof.clients.subjects import CLIENTS, LibraryClient, NoClient
from nfsproof.clients.trial import Result, Trial
from nfsproof.clients.works import all_works
from nfsproof.exits import Exit
from reports import load
from reports.board.data import build
from reports.clients import client_table, table_of


def test_ids_come_back_from_their_texts() -> None:
    cell = Cell("reply-lost", "write", "4.1")
    assert id_of(cell) == "client/reply-lost/write[4.1]"
    assert cell_of(id_of(cell)) == cell
    assert cell_of("nfs3/WRITE/data") is None


def test_plans_name_works_that_there_are() -> None:
    for plan in PLANS.values():
        assert set(plan.works) <= set(all_works()), plan.name
        assert len(id_of(Cell(plan.name, "attributes", "4.1"))) <= 48


@pytest.mark.parametrize("version", ["3", "4.1", "4.2"])
def test_the_library_comes_through(version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["call-lost", "reply-cut", "fragments", "delay-status", "short-writes", "short-reads", "crash"]
    works = ["write", "read", "names"]
    options = [word for plan in chosen for word in ("--plan", plan)]
    options += [word for work in works for word in ("--work", work)]
    status = run_command_line(
        ["clients", "nfsclient", "--version", version, "--report", str(tmp_path), *options]
    )
    printed = capsys.readouterr().out
    assert status == Exit.OK, printed
    run = load(tmp_path / "nfsclient")
    assert {check.verdict for check in run.checks} == {"PASS"}
    assert not list((tmp_path / "nfsclient" / "evidence").iterdir())
    table = client_table(run)
    assert table.works == works
    assert table.row("crash", version) == ["right", "", ""]
    assert table_of(run) in printed
    data = build([run], [None]).index["clients"]
    (shown,) = data["tables"]
    assert [row[0] for row in shown["rows"]] == ["none", *chosen]
    assert (tmp_path / "report.html").exists()


def test_a_mount_that_fails_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--mount", "false {port}", "--umount", "true", "--plan", "none", "--version", "3"]
    status = run_command_line(["clients", "command", "--report", str(tmp_path), *words])
    assert status == Exit.OK  # NONSTRICT
    out = capsys.readouterr().out
    assert "client/none/write[3]: mounting: false " in out
    assert " ended with 1: " in out
    assert run_command_line(["clients", "--strict", "--report", str(tmp_path), *words]) == Exit.FAIL
    run = load(tmp_path / "command")
    assert {check.verdict for check in run.checks} == {"NONSTRICT"}
    again = shlex.split(run.checks[0].rerun)
    assert again[1:3] == ["clients", "command"]
    assert again[again.index("--mount") + 1] == "false {port}"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["libnsf"], "unknown client 'libnsf'; similar: libnfs"),
        (["--plan", "reply-list"], "unknown plan 'reply-list'; similar: reply-lost"),
        (["--work", "wrte"], "unknown work 'wrte'; similar: write"),
        (["--version", "2"], "unknown version '2'"),
        (["--mount", "true"], "--mount and --umount belong together"),
        (["command"], "the client `command` needs --mount and --umount"),
    ],
)
def test_mistakes_are_refused(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["clients", "--report", str(tmp_path), *words]) == Exit.USAGE
    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_client_that_is_not_there_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "LIBNFS", ("libnfs.so.0",))
    assert run_command_line(["clients", "libnfs", "--report", str(tmp_path)]) == Exit.USAGE
    assert "libnfs: left out: none of libnfs.so.0 is installed; the package is" in capsys.readouterr().out


def test_libnfs_does_its_work_without_faults(tmp_path: Path) -> None:
    try:
        program.find_libnfs()
    except OSError as error:
        pytest.skip(str(error))
    words = ["clients", "libnfs", "--plan", "none", "--report", str(tmp_path)]
    assert run_command_line(words) == Exit.OK


def test_a_client_without_the_version_has_nothing_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CLIENTS, "old", lambda: LibraryClient("old", ("3",)))
    words = ["clients", "old", "nfsclient", "--version", "4.1", "--plan", "none", "--work", "names"]
    assert run_command_line([*words, "--report", str(tmp_path)]) == Exit.OK, capsys.readouterr().out
    assert run_command_line(["clients", "old", "--version", "4.1", "--report", str(tmp_path)]) == Exit.NOTHING


def test_a_plan_ends_at_the_first_work_that_is_stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[tuple[str, list[str]]] = []

    class StuckAtNames(Trial):
        def run(self, capture: t.BinaryIO) -> list[Result]:
            del capture
            tried.append((self.plan.name, [work.name for work in self.works]))
            for work in self.works:
                stuck = work.name == "names"
                self.results.append(Result(work, STUCK if stuck else RIGHT, "rename was not reached in time"))
                if stuck:
                    break
            return self.results

    monkeypatch.setattr(running, "Trial", StuckAtNames)
    monkeypatch.setitem(CLIENTS, "old", lambda: LibraryClient("old", ("3",)))
    works = [word for work in ("write", "read", "names", "attributes") for word in ("--work", work)]
    words = ["clients", "old", "--version", "3", "--plan", "reply-cut", *works, "--report", str(tmp_path)]
    run_command_line(words)
    names = [work for work in all_works() if work in {"write", "read", "names", "attributes"}]
    after = names[names.index("names") + 1 :]
    assert after
    # Under the control, the works after the one that is stuck are tried in another trial.
    assert tried == [("none", names), ("none", after), ("reply-cut", names)]
    checks = {check.id: check for check in load(tmp_path / "old").checks}
    for name in after:
        left = checks[f"client/reply-cut/{name}[3]"]
        assert (left.verdict, left.capture) == ("VOID", "")
        assert left.reason == f"not tried: names is stuck under this plan (--work {name} tries it)"


def test_what_there_is_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["clients", "--list"]) == Exit.OK
    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in (*PLANS, *all_works()))


def test_records_name_the_client(tmp_path: Path) -> None:
    run_command_line(
        [
            "clients",
            "nfsclient",
            "--plan",
            "none",
            "--work",
            "names",
            "--version",
            "3",
            "--report",
            str(tmp_path),
        ]
    )
    lines = (tmp_path / "nfsclient" / "records.jsonl").read_text().splitlines()
    first, check, last = (json.loads(line) for line in lines)
    assert (first["target"], first["lint"]) == ("client:nfsclient", "off")
    assert check["id"] == "client/none/names[3]"
    assert last["exit_code"] == 0
    assert issubclass(NoClient, Exception)


def _tool(folder: Path, text: str) -> str:
    """A client without a mount: a few lines over the library, by path and URL."""
    file = folder / "tool.py"
    file.write_text(f"import sys, nfsclient\nfrom urllib.parse import urlsplit, unquote\n{text}")
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(file))}"


_FILES = """
base, _, parameters = sys.argv[2].partition("?")
path = unquote(urlsplit(base).path).removeprefix("/export")
root = base[: base.index("/export") + len("/export")]
with nfsclient.connect(root + "?" + parameters) as nfs:
    if sys.argv[1] == "read":
        sys.stdout.buffer.write(nfs.read_file(path))
    elif sys.argv[1] == "names":
        print("\\n".join(nfs.listdir(path)))
    elif sys.argv[1] == "mkdir":
        nfs.mkdir(path)
    elif sys.argv[1] == "rename":
        nfs.rename(path, unquote(urlsplit(sys.argv[3]).path).removeprefix("/export"))
    else:
        nfs.write_file(path, open(sys.argv[3], "rb").read()[WRITTEN])
"""


@pytest.mark.parametrize(
    ("written", "verdict"), [(":", "PASS"), (":-1", "FAIL")], ids=["all", "one-byte-is-missing"]
)
def test_a_program_that_mounts_nothing_is_tested(
    written: str, verdict: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = _tool(tmp_path, _FILES.replace("WRITTEN", written))
    steps = {
        "read": "read {url}",
        "write": "write {url} {file}",
        "names": "names {url}",
        "mkdir": "mkdir {url}",
        "rename": "rename {encoded_url} {to_encoded_url}",
    }
    words = [word for step, rest in steps.items() for word in ("--program", f"{step}={tool} {rest}")]
    report = tmp_path / "report"
    status = run_command_line(
        [
            "clients",
            "--report",
            str(report),
            "--version",
            "3",
            "--plan",
            "reply-cut",
            "--work-timeout",
            "300",
            *words,
        ]
    )
    printed = capsys.readouterr().out
    run = load(report / "program")
    works = {str(cell_of(one.id)).split("'")[3]: one.verdict for one in run.checks if "none" in one.id}
    assert works == {"write": verdict, "read": "PASS", "list": "PASS", "names": "PASS"}, printed
    assert status == (Exit.OK if verdict == "PASS" else Exit.FAIL), printed
    again = shlex.split(run.checks[0].rerun)
    assert again[again.index("--program") + 1].startswith("read=")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fetch=x {url}", "expected STEP=COMMAND, where STEP is one of read, write"),
        ("read", "expected STEP=COMMAND"),
        ("read=", "expected a command"),
        ("read=cat {file}", "{file} is not known"),
        ("read='", "No closing quotation"),
        ("read=no-such-program-at-all {url}", "no such program"),
    ],
)
def test_a_program_that_means_nothing_is_refused(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run_command_line(["clients", "program", "--report", str(tmp_path), "--program", text])
    printed = capsys.readouterr()
    assert status == Exit.USAGE
    assert said in printed.out + printed.err

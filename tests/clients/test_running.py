# SPDX-License-Identifier: MIT
"""`nfsproof clients` as its users meet it: verdicts, records, the board, baselines, mistakes."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from nfsjudge.clients import Cell, cell_of
from nfsproof import client_runs
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from nfstargets.clients import program
from nfstargets.clients.drivers import CLIENTS, LibraryClient
from reports import load
from reports.board.data import build
from reports.causes import causes_of
from reports.clients import client_table, table_of
from reports.idlist import known_ids
from suites.clients.plans import PLANS
from suites.clients.works import all_works


def test_ids_say_what_they_are_about() -> None:
    assert cell_of("clients/lost/reply-lost[write-4.1]") == Cell("reply-lost", "write", "4.1")
    assert cell_of("client/reply-lost/write[4.1]") == Cell("reply-lost", "write", "4.1")  # before 0.1.0
    assert cell_of("nfs3/WRITE/data") is None


def test_each_plan_is_a_check() -> None:
    listed = {cell_of(check_id) for check_id in known_ids().promised("client:nfsclient")}
    wanted = {
        Cell(plan.name, work, version)
        for plan in PLANS.values()
        for work in plan.works or all_works()
        for version in ("3", "4.1", "4.2")
        if (work, version) != ("locks", "3")
    }
    assert listed == wanted


def test_plans_name_works_that_there_are() -> None:
    for plan in PLANS.values():
        assert set(plan.works) <= set(all_works()), plan.name


@pytest.mark.parametrize("version", ["3", "4.1", "4.2"])
def test_the_library_comes_through(version: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    chosen = ["call-lost", "reply-cut", "fragments", "delay-status", "short-writes", "short-reads", "crash"]
    works = ["write", "read", "names"]
    options = [word for plan in chosen for word in ("--plan", plan)]
    options += [word for work in works for word in ("--work", work)]
    status = run_command_line(
        ["clients", "nfsclient", "--version", version, "--report", str(tmp_path), *options]
    )
    printed = capfd.readouterr().out
    assert status == Exit.OK, printed
    run = load(tmp_path / "nfsclient")
    assert {check.verdict for check in run.checks} == {"PASS"}
    assert not list((tmp_path / "nfsclient").rglob("*.pcapng"))
    table = client_table(run)
    assert table.works == works
    assert table.row("crash", version) == ["right", "", ""]
    assert table_of(run) in printed
    data = build([run], [None]).index["clients"]
    (shown,) = data["tables"]
    assert [row[0] for row in shown["rows"]] == ["none", *chosen]
    assert (tmp_path / "report.html").exists()


def test_a_mount_that_fails_is_reported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["--mount", "false {port}", "--umount", "true", "--plan", "none", "--version", "3"]
    status = run_command_line(["clients", "command", "--report", str(tmp_path), *words])
    assert status == Exit.OK  # NONSTRICT
    assert "mounting: false " in capfd.readouterr().out
    assert run_command_line(["clients", "--strict", "--report", str(tmp_path), *words]) == Exit.FAIL
    run = load(tmp_path / "command")
    assert {check.verdict for check in run.checks} == {"NONSTRICT"}
    assert {check.observed.partition(" ended with ")[2][:3] for check in run.checks} == {"1: "}
    (cause,) = [cause for cause in causes_of(run) if cause.verdict == "NONSTRICT"]
    assert len(cause.checks) == len(run.checks)
    again = shlex.split(run.checks[0].rerun)
    assert again[1:4] == ["run", "client:command", run.checks[0].id]
    assert "--mount=false {port}" in again
    for check in run.checks:
        assert (tmp_path / "command" / check.capture).stat().st_size
        assert not check.elsewhere  # what is known of servers
    assert (tmp_path / "command" / "junit.xml").exists()


def test_known_failures_of_a_client_are_in_a_baseline(tmp_path: Path) -> None:
    words = ["--mount", "false", "--umount", "true", "--plan", "none", "--version", "3", "--work", "read"]
    report, file = tmp_path / "report", tmp_path / "known.toml"
    command = ["clients", "command", "--strict", "--report", str(report), *words]
    assert run_command_line(command) == Exit.FAIL
    file.write_text(
        """
[baseline]
target = "client:command"
unlisted = ["PASS"]

[[entry]]
id = "clients/control/none[read-3]"
verdict = "NONSTRICT"
reason = "it mounts nothing"
""",
        encoding="utf-8",
    )
    assert run_command_line([*command, "--baseline", str(file)]) == Exit.OK
    file.write_text(file.read_text().replace("[read-3]", "[write-3]"), encoding="utf-8")
    assert run_command_line([*command, "--baseline", str(file)]) == Exit.BASELINE


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["libnsf"], "unknown client 'libnsf'; similar: libnfs"),
        (["--plan", "reply-list"], "unknown plan 'reply-list'; similar: reply-lost"),
        (["--work", "wrte"], "unknown work 'wrte'; similar: write"),
        (["--version", "2"], "unknown version '2'"),
        (["--mount", "true"], "--mount and --umount belong together"),
        (["command"], "the client `command` needs --mount and --umount"),
        (["program"], "the client `program` needs --program"),
    ],
)
def test_mistakes_are_refused(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["clients", "--report", str(tmp_path), *words]) == Exit.USAGE
    assert message in capsys.readouterr().err
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
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CLIENTS, "old", lambda: LibraryClient("old", ("3",)))
    words = ["clients", "old", "nfsclient", "--version", "4.1", "--plan", "none", "--work", "names"]
    assert run_command_line([*words, "--report", str(tmp_path)]) == Exit.OK, capfd.readouterr().out
    assert run_command_line(["clients", "old", "--version", "4.1", "--report", str(tmp_path)]) == Exit.NOTHING
    assert "old: left out: it speaks NFS 3 only" in capfd.readouterr().out


def test_the_checks_of_a_choice_begin_with_the_control() -> None:
    wish = client_runs.Wish(plans=("crash",), versions=("3", "4.1"))
    words = client_runs._words(wish, ("3", "4.1", "4.2"))
    assert words[0].startswith("clients/control/none[")
    assert words[-1] == "clients/server/crash[patch-4.1]"
    every = client_runs._words(client_runs.Wish(plans=("crash",)), ("3", "4.1", "4.2"))
    assert every == ["clients/control/none", "clients/server/crash"]
    assert client_runs._words(client_runs.Wish(), ("3",)) == []


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
    first, check, last = (
        record for line in lines if (record := json.loads(line))["kind"] in {"run", "check", "end"}
    )
    assert (first["target"], first["lint"]) == ("client:nfsclient", "off")
    assert check["id"] == "clients/control/none[names-3]"
    assert check["observations"] == {"outcome": "right"}
    assert last["exit_code"] == 0


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
    written: str, verdict: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
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
    printed = capfd.readouterr().out
    run = load(report / "program")
    works = {
        cell.work: check.verdict
        for check in run.checks
        if (cell := cell_of(check.id)) and cell.plan == "none"
    }
    done = {"write": verdict, "read": "PASS", "list": "PASS", "names": "PASS"}
    assert works == dict.fromkeys(("patch", "append", "attributes"), "UNSUPPORTED") | done, printed
    assert client_table(run).works == list(done)
    assert status == (Exit.OK if verdict == "PASS" else Exit.FAIL), printed
    again = shlex.split(run.checks[0].rerun)
    assert [word for word in again if word.startswith("--program=read=")]


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


def test_a_client_and_a_server_have_different_checks(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def run(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "nfsproof", "run", *words, f"--report={tmp_path}"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    status, said = run("embedded", "clients/lost")
    assert status == Exit.USAGE
    assert "these checks are of a client, and the target embedded is a server" in said
    status, said = run("client:nfsclient", "nfs3/NULL")
    assert status == Exit.USAGE
    assert "these checks are of a server, and the target client:nfsclient is a client" in said
    status, said = run("client:nfsclien")
    assert status == Exit.USAGE
    assert "unknown client 'nfsclien'; similar: nfsclient" in said
    status, said = run("client:libnfs", "--mutant=client-does-nothing", "clients/control")
    assert status == Exit.USAGE
    assert "cannot have the mutants client-does-nothing" in said or "none of libnfs" in said
    del capfd


def test_all_checks_of_servers_are_those_without_clients() -> None:
    words = [sys.executable, "-m", "nfsproof", "run", "--collect-only", "-q", "--progress=off"]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    assert "suites/clients/" not in done.stdout
    assert "suites/nfs3/" in done.stdout
    done = subprocess.run(
        [*words[:4], "client:nfsclient", *words[4:]], check=True, capture_output=True, text=True
    )
    assert "suites/clients/test_lost.py::test_call_lost[write-3]" in done.stdout
    assert "suites/nfs3/" not in done.stdout

# SPDX-License-Identifier: MIT
"""A run from beginning to end: what it prints, leaves, starts, stops, and how it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from nfsjudge.records import CheckRecord, EndRecord, RunRecord
from nfsjudge.verdict import VERDICTS
from reports.folders import chosen_run
from tests.plugin.conftest import Suite
from tests.plugin.test_plugin_verdicts import check

GREEN = check("one", "pass") + check("two", "nfs3.null()", "nfs3")


def test_records_begin_with_the_run_and_end_with_its_exit_code(suite: Suite) -> None:
    suite.write(GREEN + check("three", "expect(1, 'x').equals(2)"))
    first, *checks, last = suite.run().lines
    assert isinstance(first, RunRecord)
    assert first.target == "embedded"
    assert first.capabilities["symlink"] == "yes"
    assert [record.id for record in checks if isinstance(record, CheckRecord)] == [
        "nfs3/fake/one",
        "nfs3/fake/two",
        "nfs3/fake/three",
    ]
    assert isinstance(last, EndRecord)
    assert last.exit_code == 1
    assert last.counts == {"PASS": 2, "FAIL": 1}


def test_header_and_summary(suite: Suite) -> None:
    suite.write(GREEN)
    outcome = suite.run()
    assert "target: embedded" in outcome.text
    assert "capabilities: " in outcome.text
    assert f"report: {suite.report}" in outcome.text
    assert "to test your server: bin/nfsproof run nfs://HOST/EXPORT" in outcome.text
    (row,) = [line.split() for line in outcome.text.splitlines() if line.startswith("nfs3 ")]
    assert row[-2:] == ["2", "2"]


def test_columns_of_the_terminal_are_those_of_the_report(suite: Suite) -> None:
    suite.write(GREEN)
    outcome = suite.run()
    heads = [
        line.split()[1:7]
        for text in (outcome.text, (outcome.report / "report.txt").read_text())
        for line in text.splitlines()
        if line.startswith("protocol ")
    ]
    assert heads == [list(VERDICTS)] * 2


def test_reasons_of_checks_that_did_not_run_are_grouped(suite: Suite) -> None:
    words = "abcdefghijk"
    some = "".join(check(f"other_{word}", f"skip('reason {word}')") for word in words)
    more = "".join(check(f"more_{number}", "unsupported('no links: none at all')") for number in range(2))
    suite.write(GREEN + some + more + check("three", "skip('reason d')"))
    lines = suite.run().text.splitlines()
    first = lines.index("UNSUPPORTED no links: none at all: 2 checks not asked")
    assert lines[first + 1] == "SKIP        reason d: 2 checks not judged"
    assert lines[first + 2] == "SKIP        reason a: nfs3/fake/other-a not judged"
    assert lines[first + 7] == "and 5 other reasons (5 checks): report.txt"


@pytest.mark.parametrize("ci", ["", "true"])
def test_a_red_run_prints_the_first_check_of_each_cause(
    suite: Suite, ci: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", ci)
    rule = "\n@pytest.mark.parametrize('number', range(30))\n@proves(RULE, killed_by=MUTANT)\n"
    body = rule + "def test_red(number):\n    expect(number, 'size').equals(99)\n"
    suite.write(body + check("other", "expect('b', 'word').equals('a')"))
    short = suite.run().text
    assert "FAIL       size: expected 99, got 0 to 29 (RFC 1813 3.3.1): 31 checks" in short
    assert short.count("\nFAIL  nfs3/fake/red[") == 1
    assert "= FAILURES =" not in short
    assert len(short.splitlines()) <= 60
    full = suite.run("--transcript=full").text
    assert "= FAILURES =" in full
    assert full.count("\nFAIL  nfs3/fake/red[") == 30


def test_what_the_target_lacks_is_said_last(suite: Suite) -> None:
    suite.write(check("one", "pass", needs="('symlink',)") + check("two", "pass"))
    outcome = suite.run("--knob=symlinks=false")
    assert [record.id for record in outcome.lines if isinstance(record, CheckRecord)] == [
        "nfs3/fake/two",
        "nfs3/fake/one",
    ]
    assert outcome.verdicts["one"] == "UNSUPPORTED"


def test_the_path_of_the_report_has_no_dots(suite: Suite) -> None:
    suite.write(GREEN)
    dots = suite.report / ".." / "other"
    outcome = suite.run(f"--report={dots}")
    assert f"report: {suite.report.parent / 'other'}\n" in outcome.text + "\n"


URL = "nfs://127.0.0.1/export?nfsport={port}&mountport={port}"


def test_a_target_that_does_not_answer_is_diagnosed_once(suite: Suite) -> None:
    suite.write(GREEN)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    outcome = suite.run(f"--target={URL.format(port=port)}")
    assert outcome.exit_code == 4
    assert (
        f"ERROR: the target does not answer: no connection to port {port}: Connection refused" in outcome.text
    )
    assert outcome.text.count(f"no connection to port {port}: Connection refused") == 2  # of NFS and of MOUNT
    assert outcome.text.count("Connection refused") == 2
    assert f"all steps: bin/nfsproof doctor '{URL.format(port=port)}'" in outcome.text


@pytest.mark.parametrize(
    ("url", "text"),
    [
        (
            "http://h/e",
            "ERROR: expected a URL as in nfs://host/export, saw 'http://h/e'; begin it with nfs://",
        ),
        ("nfs://h/e?version=4.0", "ERROR: expected version=4.1 or 4.2 over tcp, saw nfs://h/e?version=4.0"),
        ("nfs://h/e?nfsprt=1", "saw 'nfsprt' in 'nfs://h/e?nfsprt=1'; similar: nfsport"),
    ],
)
def test_a_wrong_url_is_one_line(suite: Suite, url: str, text: str) -> None:
    suite.write(GREEN)
    outcome = suite.run(f"--target={url}")
    assert outcome.exit_code == 4
    (line,) = filter(None, outcome.text.splitlines())
    assert text in line
    assert not suite.report.exists()


def test_the_report_folder_holds_the_page_as_well(suite: Suite) -> None:
    suite.write(GREEN + check("three", "expect(1, 'x').equals(2)"))
    outcome = suite.run()
    page = (outcome.report / "report.html").read_text()
    assert "nfs3/fake/three" in page
    assert "nfs3/fake/three" in (outcome.report / "report.txt").read_text()


def test_a_failed_check_leaves_a_capture(suite: Suite) -> None:
    suite.write(check("sees", "nfs3.null(); expect(1, 'x').equals(2)", "nfs3") + GREEN)
    outcome = suite.run()
    capture = outcome.report / outcome.checks["sees"].capture
    assert capture.suffix == ".pcapng"
    assert capture.read_bytes().startswith(b"\x0a\x0d\x0d\x0a")
    assert outcome.checks["two"].capture == ""


def test_report_folder_by_default(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    suite.write(GREEN)
    arguments = [arg for arg in suite.arguments() if arg not in {"--report", str(suite.report)}]
    result = suite.pytester.runpytest_inprocess(*arguments)
    assert result.ret == 0
    kept = suite.pytester.path / "nfsproof-report"
    assert (kept / "1" / "records.jsonl").exists()
    first = (kept / "1" / "records.jsonl").read_bytes()
    suite.pytester.runpytest_inprocess(*arguments)
    assert (kept / "1" / "records.jsonl").read_bytes() == first
    assert (kept / "latest").resolve() == kept / "2"
    assert chosen_run(kept) == kept / "2"


def test_a_run_that_does_not_begin_leaves_no_folder(suite: Suite) -> None:
    suite.write(GREEN)
    arguments = [arg for arg in suite.arguments() if arg not in {"--report", str(suite.report)}]
    ended = suite.pytester.runpytest_inprocess(*arguments, "--target=nfs://127.0.0.1/x?nfsport=9&mountport=9")
    assert ended.ret == 4
    assert not (suite.pytester.path / "nfsproof-report").exists()


def test_a_report_is_not_replaced_silently(suite: Suite, capfd: pytest.CaptureFixture[str]) -> None:
    suite.write(GREEN)
    suite.run()
    assert "is replaced" not in capfd.readouterr().err
    suite.run()
    assert f"nfsproof: the report in {suite.report}, of 2" in capfd.readouterr().err


def test_names_of_checks_are_announced_by_the_table_of_requirements(suite: Suite) -> None:
    suite.write(GREEN + "\n@proves(ADVICE, killed_by=MUTANT)\ndef test_three():\n    raise KeyError\n")
    outcome = suite.run("--list-requirements")
    assert outcome.exit_code == 0
    assert "RFC 1813 section 3.3.2 (SHOULD): the advice of this suite" in outcome.text
    assert "    nfs3/fake/one" in outcome.text
    assert "2 requirements" in outcome.text
    assert not outcome.report.exists()


# ---------------------------------------------------------------- targets that are not there


def test_an_unknown_target_is_wrong_usage(suite: Suite) -> None:
    suite.write(GREEN)
    outcome = suite.run("--target", "nosuch")
    assert outcome.exit_code == 4
    assert "one of embedded, " in outcome.text
    assert "Traceback" not in outcome.text


@pytest.mark.parametrize("seconds", ["-1", "0", "nan"])
def test_a_limit_that_is_none_is_wrong_usage(suite: Suite, seconds: str) -> None:
    suite.write(GREEN)
    outcome = suite.run(f"--call-timeout={seconds}")
    assert outcome.exit_code == 4
    assert "expected more than 0 seconds" in outcome.text


def test_an_option_that_a_target_does_not_have_is_wrong_usage(suite: Suite) -> None:
    suite.write(GREEN)
    result = suite.pytester.runpytest_inprocess(*suite.arguments(), "--target", "embedded:x")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*target 'embedded' has no variants*"])


def test_a_target_that_does_not_answer_is_wrong_usage(suite: Suite) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        suite.write(GREEN)
        outcome = suite.run("--target", f"nfs://127.0.0.1/export?nfsport={port}&mountport={port}")
    assert outcome.exit_code == 4
    assert "does not answer" in outcome.text
    assert "Traceback" not in outcome.text


DYING = """
    @proves(RULE, killed_by=MUTANT)
    def test_first(nfs3):
        nfs3.null()

    @proves(RULE, killed_by=MUTANT)
    def test_kills(stage, nfs3):
        stage.target.stop()
        nfs3.null()

    @proves(RULE, killed_by=MUTANT)
    def test_later(nfs3, scratch):
        pass
"""


def test_a_target_that_hangs_costs_no_check_the_timeout_of_a_call_until_it_is_back(suite: Suite) -> None:
    command = [sys.executable, "-m", "nfsproof", "serve", "--port", "0"]
    later = "".join(check(f"later_{number}", "nfs3.null()", "nfs3, scratch") for number in range(6))
    hook = """
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if "back" in item.name:
        os.kill({pid}, {number})
"""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().split()[1]
            stops = check("stops", f"os.kill({server.pid}, {int(signal.SIGSTOP)}); nfs3.null()", "nfs3")
            suite.write(stops + later + check("back", "nfs3.null()", "nfs3, scratch"))
            suite.write(hook.format(pid=server.pid, number=int(signal.SIGCONT)), "conftest.py")
            outcome = suite.run_apart("--target", url, "--call-timeout", "3", "--restart-timeout=1")
        finally:
            server.send_signal(signal.SIGCONT)
            server.terminate()
    assert set(outcome.verdicts.values()) == {"VOID", "PASS"}
    assert outcome.verdicts["back"] == "PASS"
    gone = f"the target is gone since {outcome.checks['stops'].id}"
    assert outcome.checks["later_5"].reason == f"not asked: {gone}"
    assert f"6 checks not asked: {gone}" in outcome.text
    assert all(outcome.checks[f"later_{number}"].duration < 2.5 for number in range(6))


def test_a_target_that_dies_is_void_and_a_finding(suite: Suite) -> None:
    suite.write(DYING)
    outcome = suite.run("--call-timeout", "1")
    assert outcome.verdicts == {"first": "PASS", "kills": "VOID", "later": "VOID"}
    assert "gone" in outcome.checks["kills"].reason
    assert outcome.exit_code == 10
    last = outcome.lines[-1]
    assert isinstance(last, EndRecord)
    assert "down" in last.note
    assert last.note in outcome.text


# ---------------------------------------------------------------- options


def test_require(suite: Suite) -> None:
    suite.write(GREEN)
    suite.pytester.makeconftest("""
        from fixtures.checks.dialects.nfs3 import PROBES
        PROBES.by_name["udp"] = lambda v3: "silence"
    """)
    assert suite.run_apart("--require", "symlink,hardlink").exit_code == 0
    missing = suite.run_apart("--require", "symlink", "--require", "udp")
    assert missing.exit_code == 1
    assert "udp: silence" in missing.text
    (error,) = missing.junit()["is_complete"].iter("error")
    assert "udp: silence" in error.attrib["message"]
    unknown = suite.run_apart("--require", "simlink")
    assert unknown.exit_code == 4
    assert "simlink" in unknown.text


def test_our_tests_need_no_target(suite: Suite) -> None:
    suite.pytester.mkdir("tests").joinpath("test_own.py").write_text("def test_own():\n    pass\n")
    result = suite.pytester.runpytest_inprocess(*suite.arguments()[:-1], "--target", "nosuch", "tests")
    assert result.ret == 0
    assert not suite.report.exists()


def test_nothing_selected(suite: Suite) -> None:
    suite.write(GREEN)
    assert suite.run("-k", "nosuch").exit_code == 5


def test_stop_at_the_first_failure(suite: Suite) -> None:
    suite.write(check("a", "expect(1, 'x').equals(2)") + check("b", "pass"))
    outcome = suite.run("-x")
    assert outcome.verdicts == {"a": "FAIL"}
    assert outcome.exit_code == 1
    assert "NOT RUN    1 check: the run was stopped early: stopping after 1 failures" in outcome.text
    assert "VOID       " not in outcome.text


def test_a_run_whose_last_check_fails_has_left_nothing_out(suite: Suite) -> None:
    suite.write(check("a", "pass") + check("b", "expect(1, 'x').equals(2)"))
    outcome = suite.run("-x")
    assert outcome.exit_code == 1
    assert "stopped early" not in outcome.text


# ---------------------------------------------------------------- ends before the end


WAITING = """
    import pathlib
    import signal
    import time

    @proves(RULE, killed_by=MUTANT)
    def test_a_first():
        pass

    @proves(RULE, killed_by=MUTANT)
    def test_b_last():
        if {in_same_process}:
            # A job that a shell starts in the background has SIGINT ignored.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        records = pathlib.Path({records!r})
        deadline = time.monotonic() + 600
        while "a_first" not in records.read_text() and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill({victim}, {number})
        time.sleep(3)
"""


@pytest.mark.parametrize("workers", [[], ["-p", "xdist.plugin", "-n2"]], ids=["serial", "xdist"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_a_run_in_order(suite: Suite, number: signal.Signals, workers: list[str]) -> None:
    suite.write(
        WAITING.format(
            in_same_process=not workers,
            records=str(suite.report / "records.jsonl"),
            victim="os.getppid()" if workers else "os.getpid()",
            number=int(number),
        )
    )
    outcome = suite.run_apart(*workers)
    assert outcome.exit_code == 2
    assert outcome.verdicts == {"a_first": "PASS"}
    last = outcome.lines[-1]
    assert isinstance(last, EndRecord)
    assert last.exit_code == 2
    assert f"report: {suite.report}" in outcome.text
    assert "nfs3/fake/a-first" in (suite.report / "report.html").read_text()


@pytest.mark.parametrize("workers", [[], ["-p", "xdist.plugin", "-n2"]], ids=["serial", "xdist"])
def test_an_interrupt_ends_with_one_line(suite: Suite, workers: list[str]) -> None:
    suite.write(
        WAITING.format(
            in_same_process=not workers,
            records=str(suite.report / "records.jsonl"),
            victim="os.getppid()" if workers else "os.getpid()",
            number=int(signal.SIGINT),
        )
    )
    outcome = suite.run_apart(*workers)
    assert outcome.exit_code == 2
    assert f"interrupted after 1 of 2 checks; the report in {suite.report} is partial" in outcome.text
    assert "KeyboardInterrupt" not in outcome.text
    assert "!!!" not in outcome.text


LOSING = """
import os, signal
import pytest

class Late:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

@pytest.hookimpl(tryfirst=True)
def {hook}():
    Late()
"""


@pytest.mark.parametrize("hook", ["pytest_sessionstart", "pytest_collection", "pytest_runtest_setup"])
@pytest.mark.parametrize("workers", [[], ["-p", "xdist.plugin", "-n2"]], ids=["alone", "workers"])
def test_an_interrupt_that_python_loses_ends_the_run(suite: Suite, hook: str, workers: list[str]) -> None:
    """Python cannot raise in a callback of the collector, as in ``__del__``: it prints the exception and goes on."""
    suite.write("".join(check(f"passes{number}", "pass") for number in range(3)))
    (suite.pytester.path / "losing.py").write_text(
        LOSING.format(hook=hook) + "\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    )
    if workers and hook == "pytest_runtest_setup":
        return  # in a worker: Ctrl-C of a terminal comes to the controller as well
    # Last in the line, so that the plugin of the run is configured before it.
    outcome = suite.run_apart(*workers, "-p", "losing")
    assert "Exception ignored in" in outcome.text
    assert outcome.exit_code == 2, outcome.text
    assert "interrupted" in outcome.text


def test_an_interrupt_while_options_are_checked(suite: Suite) -> None:
    """-k collects once before the target starts, in another session, which catches Ctrl-C."""
    suite.write(GREEN)
    (suite.pytester.path / "suites" / "conftest.py").write_text(
        "def pytest_collection():\n    raise KeyboardInterrupt\n"
    )
    assert suite.run_apart("-k", "two").exit_code == 2


def test_the_place_of_an_interrupt_is_shown_on_request(suite: Suite) -> None:
    suite.write(check("a", "raise KeyboardInterrupt"))
    assert "KeyboardInterrupt" in suite.run_apart("--full-trace").text
    assert "interrupted before the first check was finished" in suite.run_apart().text


@pytest.mark.parametrize("moment", ["pytest_keyboard_interrupt", "pytest_terminal_summary"])
def test_a_second_interrupt_does_not_make_the_report_say_that_nothing_is_red(
    suite: Suite, moment: str
) -> None:
    suite.write(check("a", "pass") + check("b", "raise KeyboardInterrupt"))
    suite.write(f"def {moment}():\n    raise KeyboardInterrupt\n", "conftest.py")
    outcome = suite.run_apart()
    last = outcome.lines[-1]
    assert isinstance(last, EndRecord)
    assert last.exit_code == 2
    assert "interrupted" in (suite.report / "report.txt").read_text()


FILLING = """
import pathlib
import resource

def fill():
    size = pathlib.Path({records!r}).stat().st_size + 20
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
"""


def test_a_disk_that_fills_up_ends_the_run_in_one_line(suite: Suite) -> None:
    suite.write(
        FILLING.format(records=str(suite.report / "records.jsonl"))
        + check("a", "pass")
        + check("b", "fill()")
        + check("c", "pass")
    )
    outcome = suite.run_apart()
    assert outcome.exit_code == 3
    assert f"ERROR: the report is incomplete: {suite.report}/records.jsonl: " in outcome.text
    assert outcome.text.count("records.jsonl: ") == 1
    assert "Traceback" not in outcome.text
    kept = (suite.report / "records.jsonl").read_text()
    assert "nfs3/fake/a" in kept
    assert "nfs3/fake/c" not in kept


def test_what_was_judged_survives_a_crash_of_the_run(suite: Suite) -> None:
    suite.write(check("a", "pass") + check("b", "os._exit(7)"))
    outcome = suite.run_apart()
    assert outcome.exit_code == 7
    assert outcome.verdicts == {"a": "PASS"}
    assert not isinstance(outcome.lines[-1], EndRecord)


def test_the_handler_of_signals_is_put_back(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    def handler(_number: int, _frame: object) -> None:
        pass

    before = signal.signal(signal.SIGTERM, handler)
    try:
        suite.write(GREEN)
        assert suite.run().exit_code == 0
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_nothing_stays_open(suite: Suite) -> None:
    def open_files() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir()) if Path("/proc/self/fd").exists() else 0

    suite.write(GREEN)
    suite.run()
    before = open_files()
    suite.run()
    assert open_files() == before


def test_a_second_run_keeps_what_is_not_its_own(suite: Suite) -> None:
    suite.write(check("sees", "nfs3.null(); expect(1, 'x').equals(2)", "nfs3"))
    first = suite.run()
    capture = first.report / first.checks["sees"].capture
    foreign = capture.with_name("mine.pcapng")
    foreign.write_bytes(b"")
    suite.write(GREEN)
    suite.run()
    assert not capture.exists()
    assert foreign.exists()


LOGGING = """
    import nfstargets
    from nfstargets.embedded import EmbeddedTarget

    class LoggingTarget(EmbeddedTarget):
        name = log_name = "logging:kind"

        def start(self):
            super().start()
            self.log_path.write_text("started")

        def describe(self):
            return "a server that keeps a log"

    nfstargets.TARGETS["logging"] = "logging_target:LoggingTarget"
"""


@pytest.mark.parametrize("workers", [[], ["-p", "xdist.plugin", "-n2"]], ids=["serial", "xdist"])
def test_the_log_of_a_started_server_is_kept_with_the_report(suite: Suite, workers: list[str]) -> None:
    suite.pytester.makepyfile(logging_target=LOGGING)
    suite.write(GREEN)
    stale = suite.report / "logs" / "other.log"
    stale.parent.mkdir(parents=True)
    stale.write_text("of another run")
    os.utime(stale, (1.0, 1.0))
    outcome = suite.run_apart("-p", "logging_target", "--target", "logging", *workers)
    last = outcome.lines[-1]
    assert isinstance(last, EndRecord)
    own = ["logs/logging-kind.log"]
    assert last.logs == (["logs/logging-kind-gw0.log", "logs/logging-kind-gw1.log", *own] if workers else own)
    assert f"server log: {suite.report}/logs/logging-kind.log" in outcome.text
    assert stale.exists()

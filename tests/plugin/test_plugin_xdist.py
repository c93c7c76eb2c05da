# SPDX-License-Identifier: MIT
"""Runs with several workers: the same verdicts, nothing lost, exclusive checks alone."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from fixtures.stage.lock import TargetLock
from nfsjudge.records import RunRecord
from tests.plugin.conftest import Suite
from tests.plugin.test_plugin_verdicts import ENDINGS, check

TWO = ("-p", "xdist.plugin", "-n2")


def test_the_same_verdicts_with_workers(suite: Suite) -> None:
    suite.write("".join(check(f"ends_{name}", body, "nfs3, scratch") for name, body in ENDINGS.items()))
    outcome = suite.run_apart(*TWO)
    assert outcome.verdicts == {f"ends_{name}": name for name in ENDINGS}
    assert outcome.exit_code == 1
    assert {record.worker for record in outcome.checks.values()} <= {"gw0", "gw1"}
    (first, *_) = outcome.lines
    assert isinstance(first, RunRecord)
    assert first.capabilities["symlink"] == "yes"
    failed = outcome.checks["ends_FAIL"]
    assert (outcome.report / failed.capture).exists()
    assert set(outcome.junit()) == {f"ends-{name}" for name in ENDINGS}


def test_a_worker_that_dies_is_void_and_the_rest_goes_on(suite: Suite) -> None:
    suite.write(check("a_dies", "os._exit(9)") + "".join(check(f"b{number}", "pass") for number in range(6)))
    outcome = suite.run_apart(*TWO)
    assert outcome.verdicts == {"a_dies": "VOID", **{f"b{number}": "PASS" for number in range(6)}}
    assert outcome.exit_code == 10


BROKEN = """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    raise OSError("a part of pytest is broken")
    yield
"""


def test_an_internal_error_of_a_worker_is_not_green(suite: Suite) -> None:
    suite.write(check("one", "pass"))
    (suite.pytester.path / "broken.py").write_text(BROKEN)
    outcome = suite.run_apart("-p", "broken", *TWO)
    assert outcome.exit_code == 3
    assert "a part of pytest is broken" in outcome.text


def test_a_run_that_x_ends_is_red_and_not_interrupted(suite: Suite) -> None:
    suite.write("".join(check(f"fails{number}", ENDINGS["FAIL"], "nfs3, scratch") for number in range(4)))
    outcome = suite.run_apart("-x", *TWO)
    assert outcome.exit_code == 1
    left = 4 - len(outcome.verdicts)
    assert ("NOT RUN" in outcome.text) is (left > 0)
    assert not left or f"NOT RUN    {left} check" in outcome.text


SHARED = """
    import pathlib
    import time

    PLACE = pathlib.Path({place!r})

    def stay(name):
        # Each check leaves a file while it runs, and notes whom it has seen.
        own = PLACE / f"{{name}}.here"
        own.touch()
        deadline = time.monotonic() + 0.1
        seen = set()
        while time.monotonic() < deadline:
            seen |= {{file.stem for file in PLACE.glob("*.here")}}
        own.unlink()
        (PLACE / f"{{name}}.saw").write_text(" ".join(sorted(seen - {{name}})))

    @pytest.mark.parametrize("number", range(2))
    @pytest.mark.exclusive
    @proves(RULE, killed_by=MUTANT)
    def test_alone(number):
        stay(f"alone{{number}}")

    @pytest.mark.parametrize("number", range(8))
    @proves(RULE, killed_by=MUTANT)
    def test_together(number):
        stay(f"together{{number}}")
"""


def test_exclusive_checks_run_alone_and_last(suite: Suite, tmp_path: Path) -> None:
    suite.write(SHARED.format(place=str(tmp_path)))
    outcome = suite.run_apart(*TWO)
    assert set(outcome.verdicts.values()) == {"PASS"}
    saw = {file.stem: file.read_text() for file in tmp_path.glob("*.saw")}
    assert len(saw) == 10
    assert [saw["alone0"], saw["alone1"]] == ["", ""]
    assert any(saw[f"together{number}"] for number in range(8))


def test_a_turnstile_can_be_discarded(tmp_path: Path) -> None:
    lock = TargetLock.make()
    assert lock.path is not None
    assert Path(lock.path).exists()
    with lock.hold(alone=True):
        pass
    lock.discard()
    assert not Path(lock.path).exists()


def test_files_of_killed_runs_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ours, killed = TargetLock.make(), TargetLock.make()
    assert ours.path is not None
    assert killed.path is not None
    killed._owned.close()  # type: ignore[union-attr]  # as the kernel does it
    other = TargetLock.make()
    assert not Path(killed.path).exists()
    assert Path(ours.path).exists()
    ours.discard()
    other.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_becomes_exclusive_and_shared_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    lock = TargetLock.make()
    assert lock.path is not None

    def others_may_enter() -> bool:
        with Path(lock.path or "").open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

    with lock.hold(alone=False):
        assert others_may_enter()
        with lock.alone(), lock.alone():
            assert not others_may_enter()
        assert others_may_enter()
    with lock.hold(alone=True), lock.alone():
        assert not others_may_enter()
    assert lock.restarts() == 0
    lock.note_restart()
    assert lock.restarts() == 1
    lock.discard()


def test_a_required_capability_and_workers(suite: Suite) -> None:
    suite.write(check("one", "pass", needs="'symlink'"))
    assert suite.run_apart(*TWO, "--require", "symlink").exit_code == 0


@pytest.mark.parametrize("target", ["nosuch"])
def test_no_target_no_workers(suite: Suite, target: str) -> None:
    suite.write(check("one", "pass"))
    outcome = suite.run_apart(*TWO, "--target", target)
    assert outcome.exit_code == 4
    assert "Traceback" not in outcome.text

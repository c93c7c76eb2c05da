# SPDX-License-Identifier: MIT
"""Control of a server of somebody else: commands, a person at the terminal, and what is believed of them."""

from __future__ import annotations

import math
import os
import pty
import subprocess
import threading
import typing as t
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from nfsclient.highlevel import connect
from nfstargets.base import ControlDeclined, ControlFailed
from nfstargets.control import BadControl, ControlledTarget, Controls, parse_controls
from nfstargets.control.commands import run_command
from nfstargets.control.manual import Person
from nfstargets.control.trial import Trial
from nfstargets.diagnosis.report import Outcome
from tests.nfstargets.controlled_server import ACTIONS, command, controlled
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "control"
    place.mkdir()
    return place


@pytest.fixture
def url(folder: Path) -> Iterator[str]:
    """A server that carries out what it finds in `folder`."""
    with controlled(folder) as found:
        yield found


def _all_controls(folder: Path, **other: str) -> Controls:
    commands = {name: command(folder, name) for name in ACTIONS} | other
    return parse_controls([f"{name}={text}" for name, text in commands.items()])


@pytest.fixture
def started(url: str, folder: Path) -> Iterator[t.Callable[..., ControlledTarget]]:
    targets = []

    def start(**other: str) -> ControlledTarget:
        target = ControlledTarget(url, _all_controls(folder, **other), sleep=lambda _: None)
        target.start()
        targets.append(target)
        return target

    yield start
    for target in targets:
        target.stop()


# ---------------------------------------------------------------- texts


def test_controls_are_read_from_texts() -> None:
    controls = parse_controls(["crash=virsh reset box", "stop=a", "start=b"])
    assert controls.commands == {"crash": "virsh reset box", "stop": "a", "start": "b"}
    assert controls.offered == {"crash", "restart"}


def test_a_person_can_crash_and_restart_but_not_touch_files() -> None:
    assert parse_controls(["manual"]).offered == {"crash", "restart"}


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["crahs=x"], "similar: crash"),
        (["crash"], "expected crash=COMMAND"),
        (["crash= "], "expected crash=COMMAND"),
        (["crash=a", "crash=b"], "expected one command, got two"),
        (["stop=a"], "stop requires start"),
        (["fill_disk=a"], "fill_disk requires free_disk"),
    ],
)
def test_what_is_no_control_is_refused(texts: list[str], said: str) -> None:
    with pytest.raises(BadControl, match=said):
        parse_controls(texts)


# ---------------------------------------------------------------- commands


def test_a_command_that_fails_is_reported_with_its_output(tmp_path: Path) -> None:
    with pytest.raises(
        ControlFailed, match=r"(?s)crash: the command ended with exit status 3.*no such machine"
    ):
        run_command("crash", "echo no such machine; exit 3", 60, tmp_path / "log")


def test_a_command_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with pytest.raises(ControlFailed, match=r"did not end within 0\.2 s"):
        run_command("restart", "echo started; sleep 1000 & sleep 1000", 0.2, log)
    assert "--- killed after" in log.read_text()


def test_the_log_has_commands_and_output(tmp_path: Path) -> None:
    log = tmp_path / "log"
    run_command("touch_locally", 'echo "$NFSPROOF_PATH"', 60, log, {"NFSPROOF_PATH": "/export/f"})
    assert log.read_text().startswith(
        '--- touch_locally: echo "$NFSPROOF_PATH"\n/export/f\n--- exit status 0'
    )


# ---------------------------------------------------------------- a person


def _typing(answer: bytes) -> tuple[str, threading.Thread, list[bytes]]:
    """A terminal at which somebody types when asked."""
    mine, theirs = pty.openpty()
    seen: list[bytes] = []

    def person() -> None:
        with suppress(OSError):
            while b"Then press Enter" not in b"".join(seen):
                seen.append(os.read(mine, 1000))
            os.write(mine, answer)

    thread = threading.Thread(target=person, daemon=True)
    thread.start()
    return os.ttyname(theirs), thread, seen


def test_a_person_is_shown_what_to_do_and_waited_for() -> None:
    terminal, thread, seen = _typing(b"\n")
    Person(terminal).ask("crash", "Switch the server off.", 60, "nfs3/A/b and 2 more")
    thread.join(AT_MOST)
    shown = b"".join(seen)
    assert b"Switch the server off." in shown
    assert b"for nfs3/A/b and 2 more:" in shown


def test_a_person_who_declines_is_not_asked_again() -> None:
    terminal, thread, _ = _typing(b"n\n")
    person = Person(terminal)
    with pytest.raises(ControlDeclined):
        person.ask("crash", "Switch the server off.", 60)
    thread.join(AT_MOST)
    with pytest.raises(ControlDeclined):
        Person.ask(person, "restart", "Restart it.", 60)


def test_nobody_at_the_terminal_is_a_failed_control() -> None:
    mine, theirs = pty.openpty()
    with pytest.raises(ControlFailed, match=r"nobody pressed Enter within 0\.1 s"):
        Person(os.ttyname(theirs)).ask("crash", "Switch the server off.", 0.1)
    os.close(mine)


def test_nobody_gets_another_question_after_three_prompts_without_an_answer() -> None:
    mine, theirs = pty.openpty()
    person = Person(os.ttyname(theirs))
    for _ in range(3):
        with pytest.raises(ControlFailed, match="nobody pressed Enter within"):
            person.ask("crash", "Switch the server off.", 0.01)
    with pytest.raises(ControlFailed, match="nobody pressed Enter at 3 prompts, so nfsproof prompts no more"):
        person.ask("restart", "Restart it.", 60)
    os.close(mine)


def test_no_terminal_is_a_failed_control() -> None:
    with pytest.raises(ControlFailed, match="manual control needs a terminal"):
        Person("/nowhere/tty").ask("crash", "Switch the server off.", 1)


# ---------------------------------------------------------------- a server


def test_a_crash_loses_what_was_unstable_and_the_server_answers_again(
    started: t.Callable[..., ControlledTarget], url: str
) -> None:
    target = started()
    assert target.controls == set(ACTIONS) - {"stop", "start", "remove_locally", "free_disk"}
    with connect(url) as client:
        client.write_file("kept", b"data")
    target.crash()
    target.restart()
    with connect(url) as client:
        assert client.read_file("kept") == b"data"


def test_the_lease_time_is_given_to_the_command(url: str, tmp_path: Path) -> None:
    written = tmp_path / "written"
    controls = parse_controls([f'set_lease=echo "<$NFSPROOF_SECONDS>" >> {written}'])
    target = ControlledTarget(url, controls)
    target.start()
    assert target.controls == {"set_lease"}
    target.set_lease(30)
    target.set_lease(None)
    target.stop()
    assert written.read_text().split() == ["<30>", "<>"]


def test_the_trial_tells_which_of_the_hooks_fails(url: str) -> None:
    hooks = ("end_grace", "drop_caches", "set_lease")
    controls = parse_controls([f"{name}=echo no such option; exit 1" for name in hooks])
    target = ControlledTarget(url, controls)
    target.start()
    steps = {step.name: step for step in Trial(target, controls).steps()}
    target.stop()
    for name in hooks:
        assert steps[name].outcome is Outcome.FAILED
        assert "no such option" in steps[name].output


def test_a_command_that_does_nothing_is_found_out(started: t.Callable[..., ControlledTarget]) -> None:
    target = started(crash="true")
    target._clock = iter(range(0, 10_000, 10)).__next__
    with pytest.raises(ControlFailed, match="the server did not go down"):
        target.crash()


def test_a_server_that_stays_down_is_a_failed_control(
    started: t.Callable[..., ControlledTarget], folder: Path
) -> None:
    target = started(crash=command(folder, "stop"))
    target._clock = iter(range(0, 10_000, 10)).__next__
    with pytest.raises(ControlFailed, match="did not answer again within 120 s"):
        target.crash()
    target.restart()
    assert target.answers()


def test_the_trial_tries_each_control_and_looks_at_its_effect(url: str, folder: Path) -> None:
    controls = _all_controls(folder)
    target = ControlledTarget(url, controls)
    target.start()
    steps = list(Trial(target, controls).steps())
    target.stop()
    assert {step.outcome for step in steps} == {Outcome.OK}, steps
    seen = {step.name: step.seen for step in steps}
    assert "the file grew from 4096 to" in seen["touch_locally"]
    assert "NFS3ERR_NOSPC" in seen["fill_disk"]
    assert "lost data that was UNSTABLE" in seen["crash"]
    assert "NFSv3 does not show its effect" in seen["set_lease"]
    assert "data are as they were" in seen["drop_caches"]
    with connect(url) as client:
        assert client.listdir() == []


def test_the_trial_says_that_a_crash_loses_what_was_committed(url: str, folder: Path) -> None:
    stable = f"/export/nfsproof-control-{os.getpid()}-stable"
    lossy = f"{command(folder, 'crash')}; NFSPROOF_PATH={stable}; {command(folder, 'remove_locally')}"
    controls = _all_controls(folder, crash=lossy)
    target = ControlledTarget(url, controls)
    target.start()
    steps = {step.name: step for step in Trial(target, controls).steps()}
    target.stop()
    assert "lost data that it had committed" in steps["crash"].seen


def test_the_trial_says_which_command_does_nothing(url: str, folder: Path) -> None:
    controls = _all_controls(folder, touch_locally="true", remove_locally="true", fill_disk="true")
    target = ControlledTarget(url, controls)
    target.start()
    passing = _Passing()
    steps = {step.name: step for step in Trial(target, controls, passing, passing.sleep).steps()}
    target.stop()
    failed = {name for name, step in steps.items() if step.outcome is Outcome.FAILED}
    assert failed == {"touch_locally", "remove_locally", "fill_disk"}
    assert steps["touch_locally"].seen.endswith("seen 4096 bytes by GETATTR, for 65 s")


class _Passing:
    """A clock that only moves when somebody sleeps; what is to happen then is done at its time."""

    def __init__(self, at: float = math.inf, what: str = "") -> None:
        self._now, self._at, self._what = 0.0, at, what

    def __call__(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += seconds
        if self._now >= self._at:
            self._at = math.inf
            subprocess.run(["/bin/sh", "-c", self._what], check=True)


@pytest.mark.parametrize("shows", ["later", "when the caches are dropped"])
def test_a_server_that_caches_attributes_is_waited_for(url: str, folder: Path, shows: str) -> None:
    """The command changes nothing yet: as if the server went on to answer from its cache for a minute."""
    path = f"NFSPROOF_PATH=/export/nfsproof-control-{os.getpid()}"
    late = f"{path}; export NFSPROOF_PATH; {command(folder, 'touch_locally')}"
    others: dict[str, str] = {} if shows == "later" else {"drop_caches": late}
    controls = parse_controls(
        [f"{name}={text}" for name, text in {"touch_locally": "true", **others}.items()]
    )
    target = ControlledTarget(url, controls)
    target.start()
    passing = _Passing(60, late if shows == "later" else "false")
    steps = {step.name: step for step in Trial(target, controls, passing, passing.sleep).steps()}
    target.stop()
    seen = steps["touch_locally"].seen
    assert steps["touch_locally"].outcome is Outcome.OK, seen
    message = "NFS showed it 60 s later" if shows == "later" else "NFS showed it when the caches were dropped"
    assert message in seen


def test_after_an_interrupt_a_command_that_hangs_ends(started: t.Callable[..., ControlledTarget]) -> None:
    """The disk may stay full then: who owns the server must know."""
    target = started(free_disk="sleep 3000", fill_disk="true")
    target.fill_disk()
    target.hurry(0.0)
    target.stop()
    assert (
        "the disk of the server was not freed: control free_disk: the command did not end within"
        in target.undone
    )

# SPDX-License-Identifier: MIT
"""`nfsproof target check`: the steps that a target file makes possible, each tried once."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nfsproof.events.file import TargetEntry
from nfstargets import TargetError, make_target
from nfstargets.clients.target import ClientTarget
from nfstargets.control import ControlledTarget, parse_controls
from nfstargets.control.actions import USUAL_SECONDS
from nfstargets.control.trial import Trial
from nfstargets.diagnosis import diagnose
from nfstargets.diagnosis.report import Outcome, Step


def try_out(entry: TargetEntry, say: Callable[[str], None]) -> bool:
    """Try out what a target file says of a server; print each step when it is over; whether all worked."""
    if "://" not in entry.target:
        return _say_all([_start(entry)], say)
    diagnosis = diagnose(entry.target)
    say(diagnosis.render())
    if not diagnosis.healthy:
        return False
    if not entry.control:
        say("There is no [target.control]: checks that need a crash or a restart will be SKIP.")
        return True
    controls = parse_controls(entry.control, entry.control_timeout or USUAL_SECONDS)
    target = ControlledTarget(entry.target, controls)
    try:
        target.start()
        return _say_all(Trial(target, controls).steps(), say)
    except TargetError as error:
        return _say_all([Step("start", Outcome.FAILED, str(error))], say)
    finally:
        target.stop()


def _start(entry: TargetEntry) -> Step:
    """The step of a server that nfsproof starts, which needs no control, or of a client."""
    target = make_target(entry.target)
    if isinstance(target, ClientTarget):
        target.commands = entry.of_client.commands
    try:
        target.start()
        return Step("start", Outcome.OK, target.describe())
    except TargetError as error:
        return Step("start", Outcome.FAILED, str(error))
    finally:
        target.stop()


def _say_all(steps: Iterable[Step], say: Callable[[str], None]) -> bool:
    worked = True
    for step in steps:
        say("\n".join(f"  {line}" for line in step.lines()))
        worked = worked and step.outcome is not Outcome.FAILED
    say("All steps worked." if worked else "Not all steps worked: checks that need the others will be VOID.")
    return worked

# SPDX-License-Identifier: MIT
"""How a client came through a plan: what its program said, compared with what the server has afterwards.

Wrong data break the clause of the plan. An error, or no end, is honest: it breaks a claim of level SHOULD. What happens
without faults, too, and a plan that never acted, say nothing.
"""

from __future__ import annotations

import json
import typing as t
from dataclasses import dataclass

import pytest

from fixtures.clients.trial import Client, ClientTrials, Conditions, Ended, NotJudgeable, NotMounted
from nfsclient import NfsClient, NfsClientError
from nfsjudge import observe, unsupported
from nfsjudge.clients import ERROR, KEY, RIGHT, SILENT, STUCK, UNTOUCHED, WRONG
from nfsjudge.deviation import Deviation, OutcomeRecord
from nfsjudge.expect import fail
from nfsjudge.wording import NEEDS_CLIENT
from suites.clients.clauses import without_errors
from suites.clients.plans import NOTHING, ClientPlan
from suites.clients.works import Work, all_works

VERSIONS: t.Final = ("3", "4.1", "4.2")
_MOST_ERRORS: t.Final = 3


@dataclass(frozen=True, slots=True)
class Result:
    """How a client came through one work."""

    outcome: str
    """One of `nfsjudge.clients.OUTCOMES`; empty: not judged, for `observed`."""
    observed: str = ""


def works_of(plan: ClientPlan) -> pytest.MarkDecorator:
    """Parameters of a check: each work that can meet the plan, in each version of NFS."""
    names = plan.works or tuple(all_works())
    cases = [
        pytest.param(name, version, id=f"{name}-{version}")
        for name in names
        for version in VERSIONS
        if version != "3" or all_works()[name].needs != "locks"  # the server has no NLM
    ]
    return pytest.mark.parametrize(("work", "version"), cases)


def come_through(trials: ClientTrials, plan: ClientPlan, name: str, version: str) -> None:
    """Let the client do a work under a plan, and judge what it left."""
    work = _possible(trials.client, name, version)
    place = ("stuck", trials.mutant, plan.name, version)
    if stuck := trials.known.get(place, ""):
        # Each might take as long. The reason is the same for all, so that they are one cause.
        raise NotJudgeable(
            f"not tried: {stuck} is stuck under this plan (the command after rerun: tries this work alone)"
        )
    result = attempt(trials, plan, work, version)
    if plan is NOTHING:
        trials.known["control", trials.mutant, name, version] = result
    elif result.outcome == STUCK:
        trials.known[place] = name
    if result.outcome == RIGHT:
        observe(KEY, RIGHT)
        return
    if plan is not NOTHING and result.outcome not in {"", UNTOUCHED}:
        _compare_with_control(trials, work, version)
    if result.outcome in {"", UNTOUCHED}:
        raise NotJudgeable(result.observed)
    observe(KEY, result.outcome)
    is_wrong = result.outcome == WRONG
    fail(
        "files of the server" if is_wrong else "work",
        ("what the client promised" if is_wrong else "an end without an error",),
        result.observed,
        plan.clause if is_wrong else without_errors(plan.clause),
        outcome=OutcomeRecord(str(Deviation.DATA if is_wrong else Deviation.OTHER), seen=result.outcome),
    )


def _possible(client: Client, name: str, version: str) -> Work:
    """The work, with the steps that the client can do. UNSUPPORTED if there are none."""
    if version not in client.versions:
        unsupported(f"{NEEDS_CLIENT}does not speak NFSv{version}")
    work = all_works()[name]
    if work.needs == "locks" and not client.has_locks:
        unsupported(f"{NEEDS_CLIENT}has no locks")
    possible = work.of_steps(client.does)
    if not possible.steps:
        needed = sorted({step.do for step in work.steps})
        unsupported(f"{NEEDS_CLIENT}has no command for {' or '.join(needed)}")
    return possible


def _compare_with_control(trials: ClientTrials, work: Work, version: str) -> None:
    """VOID if the client does not come through without faults either."""
    place = ("control", trials.mutant, work.name, version)
    if place not in trials.known:
        trials.known[place] = attempt(trials, NOTHING, work, version)
    control: Result = trials.known[place]
    if control.outcome != RIGHT:
        raise NotJudgeable(f"without faults, too: {control.observed}")


def attempt(trials: ClientTrials, plan: ClientPlan, work: Work, version: str) -> Result:
    """One trial."""
    conditions: Conditions = plan.conditions
    try:
        with trials.mounted(conditions, version, work.prepare) as mounted:
            ended = mounted.work([step.order for step in work.steps], trials.seconds * plan.patience)
            acted = mounted.acted > 0 or plan is NOTHING
            with mounted.files() as nfs:
                result = judge(work, ended, nfs)
    except NotMounted as error:
        return Result(ERROR, f"mounting: {error}")
    except NfsClientError as error:  # such as a delegation that the client does not return
        return Result("", f"the files cannot be read: {error}")
    if result.outcome == RIGHT and not acted:
        return Result(UNTOUCHED, "no rule of the plan acted meanwhile")
    return result


def judge(work: Work, ended: Ended, nfs: NfsClient) -> Result:
    """How a program came through that did a work.

    A step that ended without an error must have left what it promises, whatever happened to others. Raises
    `NfsClientError` if the server does not show what is there: that says nothing about the client.
    """
    lines = _lines_of(ended)
    errors: list[str] = []
    for number, step in enumerate(work.steps):
        line = lines.get(number)
        if line is None:
            continue
        if "error" in line:
            errors.append(f"{step} ended with {line['error']}")
            continue
        wrong = step.wrong(nfs, line.get("value"))
        if wrong:
            return Result(WRONG, f"{step} ended without an error, but {wrong}")
    begun = next((str(step) for number, step in enumerate(work.steps) if number not in lines), "")
    if ended.is_late:
        return Result(STUCK, f"{begun or 'the end'} was not reached in time")
    if -1 in lines:
        why = lines[-1].get("why") or lines[-1].get("error")
        return Result(ERROR, f"the client could not begin: {why}")
    if errors:
        more = len(errors) - _MOST_ERRORS
        return Result(ERROR, "; ".join([*errors[:_MOST_ERRORS], *([f"{more} more"] if more > 0 else [])]))
    if begun:
        said = ended.errors.strip()[-300:] or "it said nothing"
        return Result(SILENT, f"the program ended at {begun}: {said}")
    return Result(RIGHT)


def _lines_of(ended: Ended) -> dict[int, dict[str, t.Any]]:
    """Number of a step -> what it said. A line that is none of `program` is left out."""
    found: dict[int, dict[str, t.Any]] = {}
    for text in ended.output.splitlines():
        try:
            line = json.loads(text)
            found[int(line["step"])] = line
        except (ValueError, KeyError, TypeError):
            continue
    return found

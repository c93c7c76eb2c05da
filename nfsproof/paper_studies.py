# SPDX-License-Identifier: MIT
"""Studies for the tables of `nfsproof workload paper sensitivity`: what a column needs as a wish, and what came out.

A study has a folder of its results, as with `nfsproof sensitivity --out`, and goes on there point by point.
"""

from __future__ import annotations

import contextlib
import tempfile
import typing as t
from collections.abc import Callable
from pathlib import Path

from nfsproof import sensing, study_planning, workloading
from nfsproof.exits import Exit, Trouble
from workloads.papers.model import StudyPlan
from workloads.papers.sensitivity import Studied, times_on
from workloads.safety import Limits
from workloads.sensitivity import study as studies
from workloads.sensitivity.study import Setting, Study
from workloads.trouble import Refused

Say: t.TypeAlias = Callable[[str], None]
Measure: t.TypeAlias = Callable[[StudyPlan, str, int, Path], tuple[Study, Exit]]
"""(plan, target, repeats, folder): measures what the folder does not have. Raises Trouble."""
_SEED: t.Final = 1
_LIMIT: t.Final = 256 << 20
_NOT_RUN: t.Final = "not run"
_OF_PLAN: t.Final = (
    "version",
    "transport",
    "queue",
    "callers",
    "packet",
    "resend",
    "bytes",
    "shares",
    "seconds",
)
"""What a kept study has in common with its plan, where that says it."""
_NOT_HERE: t.Final = {
    "embedded": "only the embedded server can have the times of this server",
    "others": "the embedded server stands in the other columns, with times",
}


def folder_of(plan: StudyPlan) -> str:
    """The name of its folder."""
    return f"study-{plan.name}"


def why_not(plan: StudyPlan, target: str) -> str:
    """Why a plan is not for a target; empty if it is."""
    is_for = plan.only_on in {"", target} or (plan.only_on == "others" and target != "embedded")
    return "" if is_for else _NOT_HERE[plan.only_on]


def wish_of(plan: StudyPlan, target: str, repeats: int, out: Path | None) -> study_planning.Wish:
    """The study as `nfsproof sensitivity` measures it."""
    return study_planning.Wish(
        target=target,
        version=plan.version or None,
        transport=plan.transport or None,
        settings=tuple(Setting(knob, value) for knob, value in plan.settings),
        shares=plan.shares,
        repeats=repeats,
        seconds=plan.seconds,
        longest=plan.longest,
        callers=plan.callers,
        seed=_SEED,
        limits=Limits(bytes=_LIMIT, seconds=3600.0),
        out=out,
        label="",
        queue=times_on(plan, target),
        packet=plan.packet,
        resend=plan.resend,
        bytes=plan.bytes,
    )


def measurer(say: Say) -> Measure:
    """Measures studies on real targets."""

    def measure(plan: StudyPlan, target: str, repeats: int, folder: Path) -> tuple[Study, Exit]:
        say(f"study {plan.name}")
        return sensing.run(wish_of(plan, target, repeats, folder), say=say, progress=lambda _text: None)

    return measure


def studied(
    plan: StudyPlan, target: str, measure: Measure | None, *, repeats: int, out: Path | None
) -> tuple[Studied, bool]:
    """The study of a plan, and whether the server was wrong. `measure` None: what `out` has. Raises Trouble."""
    if measure is None:
        return Studied(plan, _kept(plan, target, out)), False
    if out is not None:
        folder = out / folder_of(plan)
        workloading.make_folder(folder)
        return _fresh(plan, target, measure, repeats, folder)
    with tempfile.TemporaryDirectory() as name:
        return _fresh(plan, target, measure, repeats, Path(name))


def _fresh(
    plan: StudyPlan, target: str, measure: Measure, repeats: int, folder: Path
) -> tuple[Studied, bool]:
    if (folder / studies.FILE).exists():
        with contextlib.suppress(Trouble):
            known = _kept(plan, target, folder.parent)
            if known.repeats >= repeats:
                return Studied(plan, known), False  # whole, and of this plan
    study, status = measure(plan, target, repeats, folder)
    if status is Exit.INTERRUPTED:
        raise KeyboardInterrupt
    if status is not Exit.FAIL:
        _require_whole(plan, target, study)
    return Studied(plan, study), status is Exit.FAIL


def _kept(plan: StudyPlan, target: str, out: Path | None) -> Study:
    path = Path() if out is None else out / folder_of(plan) / studies.FILE
    if out is None or not path.exists():
        raise Trouble(_NOT_RUN)
    try:
        study = studies.read(path)
    except Refused as error:
        raise Trouble(str(error)) from error
    wish = wish_of(plan, target, study.repeats, None)
    for name in _OF_PLAN:
        kept, wanted = getattr(study, name), getattr(wish, name)
        if wanted not in {kept, None} and (name, wanted) != ("bytes", 0):
            raise Trouble(f"{_NOT_RUN} as it is planned now: what is kept has {name} {kept}, not {wanted}")
    _require_whole(plan, target, study)
    return study


def _require_whole(plan: StudyPlan, target: str, study: Study) -> None:
    """Raise `Trouble` if points are missing, but for the loads of settings whose peak could not be measured."""
    wish = wish_of(plan, target, study.repeats, None)
    known = {each.task for each in study.points}
    wanted = [
        task
        for setting in (Setting(), *wish.settings)
        for task in studies.tasks(setting, wish.shares, study.repeats, study.seed)
        if not task.share or study.peaks(setting)
    ]
    missing = sum(task not in known for task in wanted)
    if missing:
        raise Trouble(f"{_NOT_RUN} to the end: {missing} of {len(wanted)} points are missing")

# SPDX-License-Identifier: MIT
"""`nfsproof workload paper`: runs what the tables of a paper need, and prints them with our numbers."""

from __future__ import annotations

import contextlib
import functools
import re
import typing as t
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nfsjudge.verdict import Verdict
from nfsproof import workloading
from nfsproof.exits import Exit, Trouble
from nfsproof.paper_studies import Measure, measurer, studied, why_not
from nfsproof.paper_studies import folder_of as study_folder
from nfsserver import parse_setting
from nfstargets import make_target
from nfstargets.base import TargetError
from nfstargets.knfsd.client import ClientUnavailable, LinuxClient
from reports.workloads.paper_pages import merged
from reports.workloads.papers import paper_markdown, table_text
from workloads import catalog, result
from workloads.papers import PAPERS
from workloads.papers.filling import Filled, fill
from workloads.papers.model import AnyPlan, Paper, Plan, StudyPlan
from workloads.result import Result, ResultError
from workloads.spec import title_of
from workloads.trouble import Refused

Say = Callable[[str], None]
Run = Callable[[Plan, str], Result]
"""Carries a plan out on a target. Raises Trouble."""
_LACKS = re.compile(r"\bPRO[CG]_?(?:UNAVAIL|MISMATCH)")
_OURS = "nfsproof does not have"
_NOT_RUN = "not run"
_CANNOT_BOOT = "no guest of Linux can be started here"
_WHY = "no-result.txt"
_PICTURED = "embedded"
"""The target that figures over time are of."""
_IMAGES = "images"
"""The folder next to a page that has its pictures."""
_SOME_REPEATED = (
    "- Each column is one run, or has the medians of several. "
    "Times of one run say little: `--repeat 5` makes medians.\n"
)
"""Of a page whose tables were not all made together."""
_INTRODUCTION = """\
# Tables of the papers

`bin/nfsproof workload paper` has written this page. Each table has the numbers of the paper, those of nfsproof, and how
many times ours are the paper's.

- Calls and bytes are compared as they are. Where a count or a share of calls differs by more than 2 %, the reason
  is below the table.
- Seconds and throughput are of other machines, so both sides are divided by their base column: "v2 = 1" says that all
  numbers of the row are parts of those of v2 in the same run. Do not compare seconds of two servers on this page.
- A server that breaks a rule of the lint is red, and has counts in these tables but no times. Wrong data leaves no
  number.
- The embedded server shares a process with the client, and has no disk: its times say what calls cost a processor.
  In the tables of curves it is another process, with times of a processor and disks where the column says so.
- `knfsd` is a kernel in User-Mode Linux, where what the kernel asks of its host costs more than on a machine; QEMU
  emulates the processor of `knfsd:qemu`. Their times say less than those of the others.
- Where the client of the Linux kernel is compared with a policy, the reasons are inferred from its calls.
- [workloads.md](workloads.md) describes the workloads and the policies: what a client sends for each call of a program.
"""


@dataclass
class Made:
    """What was run on a target."""

    results: dict[AnyPlan, list[t.Any]] = field(default_factory=dict)
    """Results of runs, or studies."""
    lacking: dict[AnyPlan, str] = field(default_factory=dict)
    """Why a plan has no result."""
    is_wrong: bool = False
    """Whether a result is FAIL."""
    has_run: bool = False
    """Whether there is any result."""

    def measured(self) -> Mapping[AnyPlan, Sequence[t.Any] | str]:
        """As `fill` reads it."""
        return {**self.results, **self.lacking}


def find(name: str) -> Paper:
    """A paper by its name. Raises Trouble."""
    if name not in PAPERS:
        raise Trouble(f"expected a paper of {', '.join(PAPERS)}, got {name!r}")
    return PAPERS[name]


class Runner:
    """Carries plans out. A guest that one of them has needed serves the others, too, until `close`."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._guest: LinuxClient | None = None
        self._no_guest = ""
        self._stack = contextlib.ExitStack()

    def __call__(self, plan: Plan, target: str) -> Result:
        """One run. Raises Trouble."""
        if not plan.client:
            return run_plan(plan, target, say=self._say)
        from nfsproof import workload_guest  # needs the server and threads, which other runs do not

        if self._no_guest:
            raise Trouble(self._no_guest)
        wish = wish_of(plan, target)
        self._say(f"{plan.workload}, {title_of(plan.version)}: the client of Linux")
        try:
            order = workloading.guest_order(wish)
            if self._guest is None:
                self._guest = self._stack.enter_context(workload_guest.guest())
            return workload_guest.run_in(self._guest, order, wish.knobs).result
        except ClientUnavailable as error:
            self._no_guest = f"{_CANNOT_BOOT}: {error}"
            raise Trouble(self._no_guest) from error
        except (Refused, TargetError) as error:
            raise Trouble(str(error)) from error

    def close(self) -> None:
        """End the guest."""
        self._stack.close()


def wish_of(plan: Plan, target: str) -> workloading.Wish:
    """The wish for a run."""
    return workloading.Wish(
        workload=plan.workload,
        target=target,
        client=plan.client,
        version=plan.version,
        transport=plan.transport,
        policy=None if plan.client else plan.policy,
        rsize=plan.size,
        wsize=plan.size,
        page=plan.page,
        stable=plan.stable,
        plus=plan.plus,
        window=plan.window,
        clients=plan.clients,
        lint=plan.lint,
        parameters=plan.parameters,
        knobs=dict(parse_setting(f"{name}={value}") for name, value in plan.knobs.items()),
    )


def run_plan(plan: Plan, target: str, *, say: Say) -> Result:
    """One run. Raises Trouble."""
    wish = wish_of(plan, target)
    outcome = workloading.run(wish, say=say)
    for left in outcome.left:
        say(f"could not be removed: {left}")
    if outcome.interrupted:
        raise KeyboardInterrupt
    return outcome.result


def carry_out(
    paper: Paper,
    target: str,
    run: Run,
    *,
    repeat: int = 1,
    out: Path | None = None,
    say: Say = lambda _text: None,
    measure: Measure | None = None,
) -> Made:
    """All plans of a paper, `repeat` times in turn. Results that `out` already has are not measured again.

    A plan that the server cannot carry out has its reason in the table; `say` gets the whole of it. `measure` is for
    studies, whose points have the repeats; None: they come from `out`. Raises Trouble if nothing can be carried out.
    """
    made = Made()
    for study in paper.studies():
        _study(made, study, target, measure, repeat=repeat, out=out, say=say)
    for number in range(repeat):
        for plan in paper.plans():
            if plan in made.lacking:
                continue
            folder = None if out is None else out / folder_of(plan, number)
            try:
                measured = _kept(folder) or _fresh(plan, target, run, folder)
            except Trouble as error:
                say(f"{plan.workload}, {title_of(plan.version)}: {error}")
                made.lacking[plan] = _noted(folder, _why(plan, str(error)))
                made.results.pop(plan, None)
                continue
            made.has_run = True
            made.is_wrong |= measured.verdict is Verdict.FAIL
            if not measured.is_complete:
                made.lacking[plan] = f"{measured.verdict}: {'; '.join(measured.reasons)}"
                made.results.pop(plan, None)
                continue
            made.results.setdefault(plan, []).append(measured)
    whys = [
        why
        for plan, why in made.lacking.items()
        if not isinstance(plan, StudyPlan) or not why_not(plan, target)
    ]
    if not made.has_run and set(whys) != {_NOT_RUN}:
        raise Trouble(f"nothing of {paper.name} can be run on {target}: {'; '.join(dict.fromkeys(whys))}")
    return made


def _study(
    made: Made,
    plan: StudyPlan,
    target: str,
    measure: Measure | None,
    *,
    repeat: int,
    out: Path | None,
    say: Say,
) -> None:
    """Add the study of a plan, or why there is none."""
    if why := why_not(plan, target):
        made.lacking[plan] = why
        return
    folder = None if out is None else out / study_folder(plan)
    try:
        found, is_wrong = studied(plan, target, measure, repeats=repeat, out=out)
    except Trouble as error:
        say(f"study {plan.name}: {error}")
        made.lacking[plan] = _noted(folder, _why(plan, str(error)))
        return
    made.has_run = True
    made.is_wrong |= is_wrong
    if is_wrong:
        made.lacking[plan] = "FAIL: wrong data, or a rule of the lint is broken"
    else:
        made.results[plan] = [found]


def _why(plan: AnyPlan, error: str) -> str:
    """What a table says of a plan that was not carried out; without addresses, because the page is for others."""
    if _LACKS.search(error):
        return f"the server does not have {title_of(plan.version)}"
    if error.startswith(_CANNOT_BOOT):
        return _CANNOT_BOOT
    if " is a study " in error:
        return f"{_NOT_RUN}: what is in --out is a study with other options"
    with_version = f" with {title_of(plan.version)}" if plan.version else ""
    return error if error.startswith((_OURS, _NOT_RUN)) else f"could not be run{with_version}"


def _noted(folder: Path | None, why: str) -> str:
    """Keeps why there is no result; if nothing was run now, what was noted when it was."""
    if folder is None:
        return why
    path = folder / _WHY
    try:
        if why == _NOT_RUN:
            return path.read_text(encoding="utf-8")[:200].strip() if path.exists() else why
        workloading.make_folder(folder)
        path.write_text(why + "\n", encoding="utf-8")
    except (OSError, ValueError):
        pass  # a note is a help, no result
    return why


def _kept(folder: Path | None) -> Result | None:
    if folder is None or not (folder / result.FILE).exists():
        return None
    try:
        return result.read(folder)
    except (OSError, ResultError) as error:
        raise Trouble(str(error)) from error


def _fresh(plan: Plan, target: str, run: Run, folder: Path | None) -> Result:
    try:
        catalog.find(plan.workload)
    except Refused:
        raise Trouble(f"{_OURS} the workload {plan.workload} yet") from None
    measured = run(plan, target)
    if folder is not None:
        workloading.make_folder(folder)
        workloading.write(measured, folder)
    return measured


def folder_of(plan: Plan, number: int) -> str:
    """The name of the folder of a run of a plan."""
    parts = [
        plan.workload,
        f"v{plan.version}",
        *([plan.transport] if plan.transport != "tcp" else []),
        plan.policy,
        str(plan.size),
        plan.stable,
        *([] if plan.plus else ["no-plus"]),
        *([f"window{plan.window}"] if plan.window else []),
        *([f"client-{plan.client}"] if plan.client else []),
        *(f"{name}-{value}" for name, value in sorted(plan.knobs.items())),
        *(f"{name}{value}" for name, value in sorted(plan.parameters.items())),
        str(number + 1),
    ]
    return re.sub(r"[^\w.-]", "_", "-".join(parts))


def filled(paper: Paper, made: Made) -> list[Filled]:
    """The tables of a paper with what was measured."""
    return [fill(table, made.measured()) for table in paper.tables]


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user wants."""

    papers: Sequence[str]
    targets: Sequence[str]
    repeat: int = 1
    out: Path | None = None
    """A folder for all results; those that are there are used."""
    markdown: Path | None = None
    kept_only: bool = False
    """Run nothing: the tables of the results in `out`."""


def run(wish: Wish, *, say: Say, progress: Say, runner: Run | None = None) -> int:
    """Run the papers on the targets and print their tables; the exit status. Raises Trouble."""
    if wish.kept_only and wish.out is None:
        raise Trouble("--kept needs --out: the folder of the results")
    for target in () if wish.kept_only or runner else wish.targets:
        try:
            make_target(target)  # a name that means nothing is no reason to try each column
        except TargetError as error:
            raise Trouble(str(error)) from error
    with contextlib.ExitStack() as stack:
        measure = None if wish.kept_only or runner else measurer(progress)
        if runner is None:
            runner = _none if wish.kept_only else stack.enter_context(contextlib.closing(Runner(progress)))
        return _run(wish, runner, measure, say=say, progress=progress)


def _run(wish: Wish, runner: Run, measure: Measure | None, *, say: Say, progress: Say) -> int:
    parts, is_wrong = [_INTRODUCTION + _runs(wish.repeat)], False
    for paper in map(find, wish.papers):
        by_target: dict[str, list[Filled]] = {}
        for target in wish.targets:
            if paper.only_on not in {"", target}:
                progress(f"{paper.name}: only on {paper.only_on}, not on {target}")
                continue
            out = None if wish.out is None else wish.out / re.sub(r"[^\w.-]", "_", target)
            made = carry_out(
                paper, target, runner, repeat=wish.repeat, out=out, say=progress, measure=measure
            )
            is_wrong |= made.is_wrong
            name = "URL" if "://" in target else target
            by_target[name] = filled(paper, made)
            for line in _lines(paper, name, by_target[name]):
                say(line)
        pictures = _pictures(paper, wish, say=say, progress=progress) if paper.figures else {}
        if by_target:
            parts.append(paper_markdown(paper, by_target, pictures))
    if wish.markdown is not None:
        _write(wish.markdown, _with_older(wish.markdown, "\n".join(parts), wish.repeat))
    return int(Exit.FAIL if is_wrong else Exit.OK)


def _pictures(paper: Paper, wish: Wish, *, say: Say, progress: Say) -> Mapping[str, str]:
    """Where the pictures of a paper are, as its page names them. They are of runs on the embedded server.

    They are drawn if that is among the targets. What the folder of the page has already stays.
    """
    from nfsproof import workload_figures  # starts a server; most papers have no pictures

    files = {each.name: f"{workload_figures.name_of(each)}.svg" for each in paper.figures}
    if _PICTURED not in wish.targets:
        progress(f"{', '.join(files)}: only on {_PICTURED}")
    elif wish.out is None:
        say(
            f"{', '.join(files)}: pictures of runs over time; --out DIR writes DIR/{', DIR/'.join(files.values())}"
        )
    else:
        measure = None if wish.kept_only else functools.partial(workload_figures.measured, wish_of=wish_of)
        for path in workload_figures.draw(paper.figures, wish.out, measure, say=progress):
            say(f"picture: {path}")
            if wish.markdown is not None:
                workloading.make_folder(wish.markdown.parent / _IMAGES)
                _write(_image(wish.markdown, paper, path.name), path.read_text(encoding="utf-8"))
    if wish.markdown is None:
        return {}
    images = {name: _image(wish.markdown, paper, file) for name, file in files.items()}
    return {name: f"{_IMAGES}/{image.name}" for name, image in images.items() if image.exists()}


def _image(page: Path, paper: Paper, file: str) -> Path:
    return page.parent / _IMAGES / f"{paper.name}-{file}"


def _with_older(path: Path, page: str, repeat: int) -> str:
    """The page, with the tables of other papers and targets that the file has already."""
    try:
        older = path.read_text(encoding="utf-8")
    except OSError:
        return page
    if not older.startswith(_INTRODUCTION[: _INTRODUCTION.index("\n")]):
        return page
    if _runs(repeat) not in older:
        page = page.replace(_runs(repeat), _SOME_REPEATED)
    return merged(older, page)


def _none(_plan: Plan, _target: str) -> Result:
    raise Trouble(_NOT_RUN)


def _runs(repeat: int) -> str:
    if repeat == 1:
        return "- Each column is one run. Times of one run say little: `--repeat 5` makes medians of them.\n"
    return f"- Times are medians of {repeat} runs of each column, made in turn.\n"


def _lines(paper: Paper, target: str, tables: Sequence[Filled]) -> Iterator[str]:
    yield f"{paper.title}, on {target}"
    for each in tables:
        yield ""
        yield table_text(each).rstrip("\n")
    yield ""


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Trouble(f"cannot write {path}: {error.strerror}") from error

# SPDX-License-Identifier: MIT
"""`nfsproof clients`: each client under each plan, as a run with records, and one board for all."""

from __future__ import annotations

import contextlib
import datetime as dt
import shlex
import sys
import time
import typing as t
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fixtures.plugin.evidence import launcher, requirement_record
from fixtures.plugin.recorder import BadFolder, Recorder, replaced_report, report_folder
from fixtures.plugin.suite_version import suite_version
from nfsclient.protocol.registry import titles
from nfsclient.similar import similar_text
from nfsjudge.clients import KEY, OUTCOMES, RIGHT, STUCK, UNTOUCHED, VERDICTS, Cell, id_of
from nfsjudge.records import CheckRecord, RunRecord
from nfsjudge.verdict import Verdict
from nfsproof.clients.plans import CONTROL, PLANS, ClientPlan
from nfsproof.clients.programs import BadProgram, ProgramClient, parse_programs
from nfsproof.clients.subjects import CLIENTS, Client, CommandClient, NoClient
from nfsproof.clients.trial import Result, Trial
from nfsproof.clients.works import Work, all_works
from nfsproof.exits import Exit
from reports import Run, load, render_board
from reports.clients import table_of

VERSIONS: t.Final = ("3", "4.1", "4.2")
OF_COMMANDS: t.Final = ("command", "program")
"""The clients that need commands of the user."""
_WORST_FIRST: t.Final = (
    *(Exit.INTERRUPTED, Exit.INTERNAL, Exit.FAIL, Exit.USAGE, Exit.VOID, Exit.OK, Exit.NOTHING),
)
"""Of several clients the worst counts; one that has nothing to do, such as libnfs with NFSv4.1, says nothing."""


class BadWish(Exception):
    """A word of the command line means nothing; the text names what is near."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the user wants; empty: all."""

    clients: tuple[str, ...] = ()
    plans: tuple[str, ...] = ()
    works: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    mount: str = ""
    umount: str = ""
    programs: tuple[str, ...] = ()
    """STEP=COMMAND, as `clients.programs` reads it."""
    seconds: float = 30.0
    seed: int = 1
    strict: bool = False
    report: Path = Path("nfsproof-clients")


Say: t.TypeAlias = Callable[[str], None]


def run(wish: Wish, say: Say) -> int:
    """Test clients; the exit status. Raises `BadWish`, and `BadFolder` for the report."""
    _check(wish)
    folder = report_folder(wish.report)
    runs: list[Run] = []
    statuses: list[Exit] = []
    for client in _chosen(wish):
        try:
            one = _OfClient(client, wish, folder / client.name, say)
        except NoClient as error:
            say(f"{client.name}: left out: {error}")
            if wish.clients:
                statuses.append(Exit.USAGE)
            continue
        try:
            statuses.append(one.run())
        finally:
            runs.append(load(one.folder))
        if statuses[-1] is Exit.INTERRUPTED:
            break
    with contextlib.suppress(OSError):
        (folder / "evidence").rmdir()  # each client has its own
    if not runs:
        return int(min(statuses, key=_WORST_FIRST.index, default=Exit.NOTHING))
    (folder / "report.html").write_text(render_board(runs, at=folder / "report.html"), encoding="utf-8")
    for found in runs:
        say(f"\n{table_of(found)}")
    say(f"\nreport: {folder}")
    return int(min(statuses, key=_WORST_FIRST.index))


def _check(wish: Wish) -> None:
    """Raises BadWish."""
    for what, words, known in (
        ("client", wish.clients, (*CLIENTS, *OF_COMMANDS)),
        ("plan", wish.plans, tuple(PLANS)),
        ("work", wish.works, tuple(all_works())),
        ("version", wish.versions, VERSIONS),
    ):
        for word in words:
            if word not in known:
                near = similar_text(word, known, f"there are {', '.join(known)}")
                raise BadWish(f"unknown {what} {word!r}{near}")
    if bool(wish.mount) != bool(wish.umount):
        raise BadWish("--mount and --umount belong together")
    if "command" in wish.clients and not wish.mount:
        raise BadWish("the client `command` needs --mount and --umount")
    if "program" in wish.clients and not wish.programs:
        raise BadWish("the client `program` needs --program, such as --program \"read=nfs-cat '{url}'\"")
    try:
        parse_programs(wish.programs)
    except BadProgram as error:
        raise BadWish(str(error)) from error


def _chosen(wish: Wish) -> Iterator[Client]:
    given = ("command",) * bool(wish.mount) + ("program",) * bool(wish.programs)
    names = wish.clients or given or tuple(CLIENTS)
    # Last, since a process that is not root does not come back from the network of its guest.
    for name in sorted(dict.fromkeys(names), key=lambda one: one == "linux"):
        if name == "command":
            yield CommandClient(wish.mount, wish.umount, wish.versions or VERSIONS)
        elif name == "program":
            yield ProgramClient(parse_programs(wish.programs), wish.versions or VERSIONS)
        else:
            yield CLIENTS[name]()


class _OfClient:
    """The run of one client."""

    def __init__(self, client: Client, wish: Wish, folder: Path, say: Say) -> None:
        """Starts the client. Raises NoClient, BadFolder."""
        client.start()
        self.client = client
        self.folder = report_folder(folder)
        self._wish = wish
        self._say = say
        self._began = time.monotonic()
        if told := replaced_report(self.folder):
            say(told)
        self._recorder = Recorder(self.folder, time.time())
        self._recorder.begin(
            RunRecord(
                f"client:{client.name}",
                client.description,
                version=suite_version(),
                started=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
                strict=wish.strict,
                lint="off",
                environment={"python": sys.version.split()[0], "server": "embedded"},
                is_partial=bool(wish.plans or wish.works or wish.versions),
                seed=wish.seed,
                protocols=titles(),
            )
        )

    def run(self) -> Exit:
        """All versions and plans; the exit status."""
        status = Exit.INTERNAL
        try:
            for version in self.client.versions:
                if not self._wish.versions or version in self._wish.versions:
                    self._of_version(version)
        except KeyboardInterrupt:
            status = Exit.INTERRUPTED
            self._say("interrupted: the report contains what was judged")
        except NoClient as error:
            status = Exit.USAGE
            self._recorder.note = str(error)
            self._say(f"{self.client.name}: {error}")
        else:
            status = self._status()
        finally:
            self.client.stop()
            self._recorder.end(status, round(time.monotonic() - self._began, 3))
            self._recorder.write_reports()
        return status

    def _status(self) -> Exit:
        counts = self._recorder.counts()
        if counts[Verdict.FAIL] or (self._wish.strict and counts[Verdict.NONSTRICT]):
            return Exit.FAIL
        if not counts.total():
            return Exit.NOTHING
        return Exit.VOID if counts[Verdict.VOID] else Exit.OK

    def _of_version(self, version: str) -> None:
        """The control first: what is not right there says nothing under the other plans."""
        failed: dict[str, Result] = {}
        for plan in PLANS.values():
            if self._wish.plans and plan.name not in (*self._wish.plans, CONTROL):
                continue
            works = [one for one in self._works(version) if not plan.works or one.name in plan.works]
            if not works:
                continue
            results = self._tried(plan, version, works, failed)
            if plan.name == CONTROL:
                failed = {one.work.name: one for one in results if one.outcome != RIGHT}

    def _tried(
        self, plan: ClientPlan, version: str, works: Sequence[Work], failed: Mapping[str, Result]
    ) -> list[Result]:
        """The results of all works under a plan. Those after one that is stuck are not tried: each might take as long.

        Under the control they are, in separate trials: what is not right there says nothing under other plans.
        """
        all_results: list[Result] = []
        while len(all_results) < len(works):
            stuck = next((one.work.name for one in all_results if one.outcome == STUCK), "")
            if stuck and plan.name != CONTROL:
                why = f"not tried: {stuck} is stuck under this plan (--work {{}} tries it)"
                left = [Result(one, "", reason=why.format(one.name)) for one in works[len(all_results) :]]
                for result in left:
                    self._add(plan, version, result, "")
                return [*all_results, *left]
            path = self.folder / "evidence" / f"{plan.name}-{version}-{len(all_results)}.pcapng"
            with path.open("wb") as file:
                results = self._trial(plan, version, works[len(all_results) :]).run(file)
            is_kept = any(one.outcome != RIGHT for one in results)
            for result in results:
                judged = self._compared(result, failed.get(result.work.name))
                self._add(plan, version, judged, path.name if is_kept else "")
            if not is_kept:
                path.unlink()
            all_results += results
        return all_results

    def _works(self, version: str) -> list[Work]:
        has_locks = self.client.has_locks and version != "3"
        possible = [
            work.of_steps(self.client.does)
            for work in all_works().values()
            if (not self._wish.works or work.name in self._wish.works)
            and (has_locks or work.needs != "locks")
        ]
        return [work for work in possible if work.steps]

    def _trial(self, plan: ClientPlan, version: str, works: Sequence[Work]) -> Trial:
        wish = self._wish
        return Trial(self.client, plan, version, works, wish.seconds, wish.seed, time.monotonic)

    @staticmethod
    def _compared(result: Result, control: Result | None) -> Result:
        if control is None or result.outcome in {"", RIGHT}:
            return result
        return replace(
            result, outcome="", reason=f"without faults, too: {control.observed or control.reason}"
        )

    def _add(self, plan: ClientPlan, version: str, result: Result, capture: str) -> None:
        cell = Cell(plan.name, result.work.name, version)
        verdict = VERDICTS[result.outcome] if result.outcome else Verdict.VOID
        again = [launcher(), "clients", self.client.name, "--plan", plan.name, "--work", cell.work]
        if self._wish.mount and self.client.name == "command":
            again += ["--mount", self._wish.mount, "--umount", self._wish.umount]
        if self.client.name == "program":
            again += [word for text in self._wish.programs for word in ("--program", text)]
        clause = requirement_record(plan.clause(version))
        is_judged = verdict in {Verdict.FAIL, Verdict.NONSTRICT}
        record = CheckRecord(
            id_of(cell),
            str(verdict),
            clause,
            expected=[OUTCOMES[RIGHT]] if is_judged else [],
            observed=result.observed if is_judged else "",
            reason=result.reason,
            observations={KEY: result.outcome} if result.outcome and result.outcome != UNTOUCHED else {},
            duration=round(result.seconds, 3),
            began=round(time.monotonic() - self._began, 3),
            capture=f"evidence/{capture}" if capture and verdict is not Verdict.PASS else "",
            requirements=[clause],
            target=f"client:{self.client.name}",
            rerun=shlex.join([*again, "--version", version, "--seed", str(self._wish.seed)]),
            title=f"{plan.gist}: {result.work.gist}",
        )
        self._recorder.add(record)
        what = result.observed or result.reason
        self._say(f"{verdict:<10} {self.client.name} {record.id}" + (f": {what}" if what else ""))


__all__ = ["BadFolder", "BadWish", "Wish", "run"]

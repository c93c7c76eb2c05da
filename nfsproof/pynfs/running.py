# SPDX-License-Identifier: MIT
"""`nfsproof pynfs`: runs the tests of a checkout on a target, and leaves their records.

pynfs has no time limit for a test: one that waits for ever, or for 100 seconds, would end the run with it. So its tests
run in processes (*segments*) of all that is left. One test that is late ends its process, and the next process goes on
after it, in another directory, because the server may keep the state of the client that was killed.

    a segment ends because              the test that ran          then
    pynfs is done                       -                          done
    a test has no time left             VOID: cut                  the next segment, without it
    pynfs itself ended in a test        VOID                       the next segment, without it
    pynfs ended before its first test   -                          all that is left is VOID
    the run has no time left            VOID, and all that is left done
    the user interrupts                 not recorded               done

Each segment asks pynfs to run what a test depends on (`--rundeps`). What it has run before is not recorded again. If a
segment brings nothing new, such a dependency hangs: from then on the dependencies are ignored (`--force`).
"""

from __future__ import annotations

import contextlib
import datetime as dt
import platform
import shlex
import sys
import typing as t
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from fixtures.plugin.evidence import launcher
from fixtures.plugin.recorder import BadFolder, Recorder, replaced_report, report_folder
from fixtures.plugin.suite_version import suite_version
from fixtures.stage.life import LOGS
from nfsclient.rpc.loop import Loop
from nfsjudge.records import CheckRecord, RunRecord, deviation
from nfsjudge.verdict import Verdict
from nfsjudge.wording import count
from nfsproof.exits import Exit, Trouble
from nfsproof.pynfs.checkout import REBOOT, Checkout, environment
from nfsproof.pynfs.output import Ended, Follower
from nfsproof.pynfs.scratch import Scratch
from nfsproof.pynfs.segment import Detail, Segment, read_details
from nfsproof.pynfs.verdicts import Naming, not_judged, record_of, text
from nfsproof.signals import interruptible
from nfsserver.knobs import BadKnob, Knob, parse_setting
from nfstargets import Target, TargetAddress, TargetError, make_target
from nfstargets.embedded import EmbeddedTarget
from nfstargets.machine import allowed
from nfstargets.spelling import as_url

Say: t.TypeAlias = Callable[[str], None]
ALL: t.Final = "all"
"""The flag of pynfs for its usual tests."""
EVERYTHING: t.Final = "everything"
"""The flag that each of its tests has."""
USUAL_LIMIT: t.Final = 60.0
"""Seconds for a test, besides twice the lease time: some wait for one lease, and some for two."""
LEASE: t.Final = 10.0
"""The lease time of the embedded server in such a run: tests of pynfs wait for it."""
_TITLES: t.Final = {"pynfs40": "pynfs, NFSv4.0", "pynfs41": "pynfs, NFSv4.1"}
_RESULTS: t.Final = "results.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the user wants."""

    target: str
    words: tuple[str, ...] = ()
    """Codes and flags; empty: `all`."""
    knobs: tuple[str, ...] = ()
    """Of the embedded server, as NAME=VALUE."""
    mutants: frozenset[str] = frozenset()
    """Of the embedded server: the rules that it breaks."""
    helper: tuple[str, str] = ("", "")
    """The program of the user that restarts the server, and its argument: --serverhelper of pynfs."""
    test_limit: float | None = None
    """Seconds; None: the usual ones."""
    run_limit: float | None = None
    counts: bool = False
    """Whether failures decide the exit status."""
    label: str = ""
    report: Path = Path("nfsproof-pynfs")


@dataclass(slots=True)
class _Left:
    """What is still to be run."""

    codes: list[str]
    done: dict[str, str] = field(default_factory=dict)
    """Code -> the verdict of its record."""
    ignores_dependencies: bool = False
    number: int = 0
    """Of the segment."""

    @property
    def now(self) -> list[str]:
        return [code for code in self.codes if code not in self.done]


def run(wish: Wish, checkout: Checkout, say: Say) -> int:
    """Run the tests; the exit status. Raises `Trouble`."""
    codes = checkout.select(wish.words or (ALL,))
    if not codes:
        say(f"pynfs: no test was selected by {' '.join(wish.words)}")
        return int(Exit.NOTHING)
    try:
        folder = report_folder(wish.report)
    except BadFolder as error:
        raise Trouble(str(error)) from error
    if notice := replaced_report(folder):
        say(f"nfsproof: {notice}")
    with closing(Loop()) as loop, _target(wish, loop, folder) as target, interruptible():
        return _Run(wish, checkout, loop, target, folder, say).carry_out(codes)


@contextlib.contextmanager
def _target(wish: Wish, loop: Loop, folder: Path) -> Iterator[Target]:
    """The target, started; its log goes to the folder. Raises `Trouble`."""
    try:
        target = make_target(as_url(wish.target))
        knobs = dict(parse_setting(setting) for setting in wish.knobs)
        _require_mutants(wish.mutants)
    except (TargetError, BadKnob) as error:
        raise Trouble(str(error)) from error
    if not target.serves:
        raise Trouble(f"{wish.target} is a client; pynfs tests servers")
    if isinstance(target, EmbeddedTarget):
        target.loop, target.knobs, target.broken = loop, {"lease_time": LEASE} | knobs, wish.mutants
    elif knobs or wish.mutants:
        names = ", ".join([*knobs, *sorted(wish.mutants)])
        raise Trouble(f"only the embedded server has knobs and mutants ({names}), not {wish.target}")
    if target.log_name is not None:
        target.log_path = folder / LOGS / f"{target.log_name.replace(':', '-')}.log"
        target.log_path.parent.mkdir(exist_ok=True)
        target.log_path.unlink(missing_ok=True)
    try:
        target.start()
        yield target
    except TargetError as error:
        raise Trouble(str(error)) from error
    finally:
        target.stop()


def _require_mutants(names: Iterable[str]) -> None:
    """Raise `Trouble` for a mutant that does not exist."""
    for name in names:
        from nfsmutants.form import UnknownMutant, find_mutant  # most runs have none, and there are hundreds

        try:
            find_mutant(name)
        except UnknownMutant as error:
            raise Trouble(str(error)) from error


class _Run:
    """One run."""

    def __init__(
        self, wish: Wish, checkout: Checkout, loop: Loop, target: Target, folder: Path, say: Say
    ) -> None:
        self._wish, self._checkout, self._loop = wish, checkout, loop
        self._target, self._folder, self._say = target, folder, say
        self._began = loop.clock()
        self._until = float("inf") if wish.run_limit is None else self._began + wish.run_limit
        self._naming = Naming(checkout.protocol, wish.target, self._rerun, str(checkout.folder))
        self._recorder = Recorder(folder, dt.datetime.now(dt.UTC).timestamp())
        self._lease = 0.0
        self._names: dict[str, str] = {}
        """Code -> its function, of the tests that began."""
        self._fresh: set[str] = set()
        """Codes whose record is of the present segment."""

    def carry_out(self, codes: Sequence[str]) -> int:
        """Run the codes; the exit status."""
        left = _Left(list(codes))
        self._recorder.begin(self._about())
        status, why = Exit.OK, ""
        scratch: Scratch | None = None
        try:
            self._leave_out_restarts(left)
            if left.now:
                scratch = self._scratch()
                if scratch is None:
                    self._say(
                        "no NFSv4.1 here to make a directory: pynfs works in tmp and tree of the export itself"
                    )
                self._say(self._header(len(left.now)))
                why = self._run_all(left, scratch)
            self._give_up(left, why)
        except KeyboardInterrupt:
            status = Exit.INTERRUPTED
        finally:
            if scratch is not None and not isinstance(self._target, EmbeddedTarget):
                with contextlib.suppress(KeyboardInterrupt):
                    self._recorder.note = scratch.remove()
        return int(self._end(left, status))

    # ------------------------------------------------------------ before and after

    def _about(self) -> RunRecord:
        checkout, wish = self._checkout, self._wish
        version = suite_version()
        known = {
            "pynfs": checkout.commit or "unknown commit",
            "opinion": f"second, by pynfs with minor version {checkout.minor}",
        }
        turned = (
            [f"{name}={Knob.spell(value)}" for name, value in self._target.knobs.items()]
            if isinstance(self._target, EmbeddedTarget)
            else []
        )
        return RunRecord(
            wish.target,
            self._target.describe(),
            version=version,
            started=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            label=wish.label,
            lint="off",
            environment={
                "python": f"{platform.python_implementation()} {platform.python_version()}",
                "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
                "nfsproof": version,
            }
            | known,
            is_partial=bool(set(wish.words) - {ALL, EVERYTHING}),
            mutants=sorted(wish.mutants),
            knobs=turned,
            protocols={checkout.protocol: _TITLES[checkout.protocol]},
        )

    def _header(self, number: int) -> str:
        commit = f" {self._checkout.commit}" if self._checkout.commit else ""
        shown = self._wish.label or self._target.describe()
        return (
            f"pynfs{commit}, NFSv4.{self._checkout.minor}, on {shown}: {count(number, 'test')}, "
            f"each cut after {self._limit():.0f} s"
        )

    def _scratch(self) -> Scratch | None:
        """The directory for pynfs; None where nfsproof speaks no version that the server has. Raises `Trouble`."""
        try:
            scratch = Scratch(self._target.address(), max(self._checkout.minor, 1), self._loop)
        except Trouble:
            if self._checkout.minor:
                raise
            return None
        self._lease = scratch.lease
        return scratch

    def _leave_out_restarts(self, left: _Left) -> None:
        """Tests that need somebody to restart the server wait for ENTER where nobody is."""
        if self._wish.helper[0]:
            return
        for code in left.now:
            if REBOOT in self._checkout.codes[code]:
                why = "the test asks a person to restart the server: give a program that does it, --serverhelper"
                self._record(left, code, not_judged(code, "reboot", self._naming, why, "SKIP"))

    def _give_up(self, left: _Left, why: str) -> None:
        """What pynfs never began, though nothing kept it: a test of another minor version. All else is VOID."""
        rest = left.now
        if why:
            for code in rest:
                record = not_judged(code, self._subject(code), self._naming, why)
                self._record(left, code, record, is_said=False)
            if rest:
                self._say(f"VOID {count(len(rest), 'test')}: {text(why, 300)}")
        elif rest:
            shown = ", ".join(rest[:8]) + (", ..." if len(rest) > 8 else "")
            self._say(f"not for minor version {self._checkout.minor}, says pynfs: {shown}")

    def _end(self, left: _Left, status: Exit) -> Exit:
        counts = self._recorder.counts()
        if status is Exit.OK:
            status = self._status(counts)
        self._recorder.end(int(status), self._loop.clock() - self._began)
        self._recorder.write_reports()
        for line in _summary(self._recorder, left, self._wish.counts, status, self._folder):
            self._say(line)
        return status

    def _status(self, counts: Mapping[Verdict, int]) -> Exit:
        """A second opinion decides nothing, unless the user wants it to; but one that says nothing at all is no run."""
        judged = counts[Verdict.PASS] + counts[Verdict.FAIL] + counts[Verdict.NONSTRICT]
        if not sum(counts.values()):
            return Exit.NOTHING
        if self._wish.counts and counts[Verdict.FAIL]:
            return Exit.FAIL
        if counts[Verdict.VOID] and (self._wish.counts or not judged):
            return Exit.VOID
        return Exit.OK

    # ------------------------------------------------------------ segments

    def _run_all(self, left: _Left, scratch: Scratch | None) -> str:
        """Run segments until nothing is left; why there is something left nevertheless, empty if nothing hinders it."""
        while left.now:
            before = len(left.done)
            left.number += 1
            is_last, why = self._segment(left, scratch)
            if is_last:
                return why
            if len(left.done) == before:
                if left.ignores_dependencies:
                    return "pynfs brings no results any more"
                left.ignores_dependencies = True
        return ""

    def _segment(self, left: _Left, scratch: Scratch | None) -> tuple[bool, str]:
        """One process. Whether it was the last one, and why what is left cannot be run."""
        follower = Follower(self._checkout.codes, self._loop.clock)
        logs = self._folder / LOGS
        logs.mkdir(exist_ok=True)
        results = self._folder / _RESULTS
        results.unlink(missing_ok=True)
        self._fresh.clear()

        def on_ended(ended: Ended) -> None:
            self._take(left, ended)

        with (logs / f"pynfs-{left.number}.log").open("wb", buffering=0) as log:
            try:
                segment = Segment(
                    self._command(left, scratch, results),
                    folder=self._checkout.tree,
                    environment=environment(),
                    follower=follower,
                    log=log,
                )
            except OSError as error:
                return True, f"pynfs cannot be started: {error.strerror or error}"
            try:
                is_over = segment.follow(self._loop, lambda: self._deadline(follower), on_ended)
            finally:
                how = segment.kill()
                segment.pass_on(on_ended)
        self._correct(left, read_details(results))
        results.unlink(missing_ok=True)
        return self._after(left, follower, is_over=is_over, how=how)

    def _after(self, left: _Left, follower: Follower, *, is_over: bool, how: str) -> tuple[bool, str]:
        code = follower.running
        self._names[code] = follower.name
        if not is_over and self._loop.clock() >= self._until:
            why = f"the time limit of the run ({self._wish.run_limit:g} s) was over"
            if code and code not in left.done:
                self._record(left, code, self._void(code, follower, f"{why} while the test ran"))
            return True, f"not reached: {why}"
        if not is_over:
            if not code:
                return True, f"pynfs did not begin, or go on, for {self._limit():.0f} s{_last(follower)}"
            if code not in left.done:
                why = f"cut: the test had no result after {self._limit():.0f} s, and pynfs has no limit"
                self._record(left, code, self._void(code, follower, why))
            return False, ""
        if code:
            if code not in left.done:
                self._record(
                    left,
                    code,
                    self._void(code, follower, f"pynfs ended in this test ({how}){_last(follower)}"),
                )
            return False, ""
        if how != "exit status 0" and left.now:
            return True, f"pynfs ended ({how}){_last(follower)}"
        return True, ""

    def _void(self, code: str, follower: Follower, why: str) -> CheckRecord:
        record = not_judged(code, follower.name, self._naming, why)
        record.duration = max(0.0, self._loop.clock() - follower.since)
        record.transcript = [text(line, 400) for line in follower.output]
        return record

    def _limit(self) -> float:
        limit = self._wish.test_limit
        return allowed(USUAL_LIMIT + 2 * self._lease) if limit is None else limit

    def _deadline(self, follower: Follower) -> float:
        """When the test that runs is late; between tests, as long: pynfs cleans up there."""
        return min(self._until, follower.since + self._limit())

    def _command(self, left: _Left, scratch: Scratch | None, results: Path) -> list[str]:
        address, checkout = self._target.address(), self._checkout
        place = where(address, [] if scratch is None else [scratch.name, str(left.number)])
        helper, argument = self._wish.helper
        return [
            *checkout.command,
            place,
            *("--maketree", "-v", "--showomit", f"--minorversion={checkout.minor}"),
            *(f"--uid={address.uid}", f"--gid={address.gid}", f"--json={results}"),
            "--force" if left.ignores_dependencies else "--rundeps",
            *(["--secure"] if address.privileged else []),
            *([f"--serverhelper={helper}"] if helper else []),
            *([f"--serverhelperarg={argument}"] if argument else []),
            *left.now,
        ]

    # ------------------------------------------------------------ records

    def _take(self, left: _Left, ended: Ended) -> None:
        self._names[ended.code] = ended.name
        if ended.code in left.codes and ended.code not in left.done:
            self._fresh.add(ended.code)
            began = self._loop.clock() - self._began - ended.seconds
            self._record(left, ended.code, record_of(ended, self._naming, None, began))

    def _correct(self, left: _Left, details: Mapping[str, Detail]) -> None:
        """The file of results has the tracebacks, and says surely what failed, and what is a crash of the test."""
        records = self._recorder.records
        for place, record in enumerate(records):
            code = record.id.rpartition("/")[2]
            if code in self._fresh and code in details:
                ended = Ended(code, self._names[code], "FAILURE", details[code].words, [], record.duration)
                records[place] = record_of(ended, self._naming, details[code], record.began)
                left.done[code] = records[place].verdict
        if self._fresh & details.keys():
            self._recorder.begin_again()

    def _record(self, left: _Left, code: str, record: CheckRecord, *, is_said: bool = True) -> None:
        left.done[code] = record.verdict
        self._recorder.add(record)
        if is_said and record.verdict in {"FAIL", "VOID"}:
            self._say(f"{record.verdict:5}{code:10} {text(deviation(record), 160)}")

    def _subject(self, code: str) -> str:
        return self._names.get(code, "not_begun")

    def _rerun(self, code: str) -> str:
        checkout = self._checkout
        words = [
            launcher(),
            "pynfs",
            str(checkout.folder),
            self._wish.target,
            f"--minor={checkout.minor}",
            *(f"--knob={knob}" for knob in self._wish.knobs),
            *(f"--mutant={mutant}" for mutant in sorted(self._wish.mutants)),
            code,
        ]
        return shlex.join(words)


def where(address: TargetAddress, names: Iterable[str]) -> str:
    """How pynfs wants a directory of the export named: ``[::1]:2049/export/a/b``."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    path = "/".join(part.strip("/") for part in [address.export, address.inside, *names] if part.strip("/"))
    return f"{host}:{address.nfs_port}/{path}"


def _last(follower: Follower) -> str:
    """The last thing that pynfs said."""
    last = follower.last[-1] if follower.last else ""
    return f": {text(last, 300)}" if last else ""


def _summary(recorder: Recorder, left: _Left, counts: bool, status: Exit, folder: Path) -> Iterator[str]:
    yield ""
    yield recorder.table(100, colour=sys.stdout.isatty())
    if recorder.note:
        yield text(recorder.note)
    if status is Exit.INTERRUPTED:
        yield f"interrupted after {len(left.done)} of {len(left.codes)} tests: the report has these"
    elif not counts:
        yield "a second opinion: its failures do not decide the exit status (--pynfs-counts: they do)"
    yield f"report: {folder}"

# SPDX-License-Identifier: MIT
"""`nfsproof clients`: the checks of clients on each client, a run of the plugin for each, and one board for all."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import typing as t
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fixtures.plugin.recorder import BadFolder, report_folder
from nfsclient.similar import similar_text
from nfsjudge.clients import Cell, cell_of
from nfsjudge.records import BadRecord
from nfsproof import starter
from nfsproof.exits import Exit
from nfstargets import TargetError
from nfstargets.clients import KIND
from nfstargets.clients.commands import BadCommand, ClientCommands
from nfstargets.clients.drivers import CLIENTS, VERSIONS
from nfstargets.clients.target import OF_COMMANDS, ClientTarget
from reports import Run, load, render_board
from reports.clients import table_of
from reports.folders import RECORDS
from reports.idlist import function_of, known_ids
from suites.clients.plans import NOTHING, PLANS
from suites.clients.works import all_works

_WORST_FIRST: t.Final = (
    Exit.INTERRUPTED,
    Exit.INTERNAL,
    Exit.FAIL,
    Exit.BASELINE,
    Exit.USAGE,
    Exit.VOID,
    Exit.OK,
    Exit.NOTHING,
)
"""Of several clients the worst counts; one that has nothing to do, such as libnfs with NFSv4.1, says nothing."""
_SIGNALS: t.Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class BadWish(Exception):
    """A word of the command line means nothing; the text names what is near."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the user wants, empty: all."""

    clients: tuple[str, ...] = ()
    plans: tuple[str, ...] = ()
    works: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    mount: str = ""
    umount: str = ""
    programs: tuple[str, ...] = ()
    """STEP=COMMAND, as `nfstargets.clients.programs` reads it."""
    seconds: float = 30.0
    seed: int = 1
    strict: bool = False
    baseline: str = ""
    report: Path = Path("nfsproof-clients")

    @property
    def is_partial(self) -> bool:
        """Whether it leaves out checks."""
        return bool(self.plans or self.works or self.versions)

    def holds(self, cell: Cell) -> bool:
        """Whether the user wants a check. The control is part of each choice of plans."""
        return (
            (not self.plans or cell.plan in {*self.plans, NOTHING.name})
            and (not self.works or cell.work in self.works)
            and (not self.versions or cell.version in self.versions)
        )


Say: t.TypeAlias = Callable[[str], None]


def run(wish: Wish, say: Say) -> int:
    """Test clients; the exit status. Raises `BadWish`, and `BadFolder` for the report."""
    commands = _check(wish)
    folder = report_folder(wish.report)
    runs: list[Run] = []
    statuses: list[Exit] = []
    for name in _chosen(wish):
        target = ClientTarget(name)
        target.commands = commands
        versions = _versions_of(target)
        if isinstance(versions, TargetError):
            say(f"{name}: left out: {versions}")
            if wish.clients:
                statuses.append(Exit.USAGE)
            continue
        checks = _words(wish, versions)
        if wish.is_partial and not checks:
            say(f"{name}: left out: it speaks NFS {', '.join(versions)} only")
            statuses.append(Exit.NOTHING)
            continue
        statuses.append(_run_wish(target.name, wish, checks, folder / name))
        with contextlib.suppress(OSError, BadRecord):
            runs.append(load(folder / name / RECORDS))
        if statuses[-1] is Exit.INTERRUPTED:
            break
    with contextlib.suppress(OSError):
        (folder / "evidence").rmdir()  # each client has its own
    _report(runs, folder, say)
    return int(min(statuses, key=_WORST_FIRST.index, default=Exit.NOTHING))


def _report(runs: Sequence[Run], folder: Path, say: Say) -> None:
    """The board of all clients, and a table for each."""
    if not runs:
        return
    page = folder / "report.html"
    page.write_text(render_board(runs, at=page), encoding="utf-8")
    for found in runs:
        say(f"\n{table_of(found)}")
    say(f"\nreport: {folder}")


def _check(wish: Wish) -> ClientCommands:
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
    for name, is_given in (("command", bool(wish.mount)), ("program", bool(wish.programs))):
        if name in wish.clients and not is_given:
            raise BadWish(f"the client `{name}` needs {OF_COMMANDS[name]}")
    try:
        return ClientCommands.of(wish.mount, wish.umount, wish.programs)
    except BadCommand as error:
        raise BadWish(str(error)) from error


def _chosen(wish: Wish) -> Iterator[str]:
    given = ("command",) * bool(wish.mount) + ("program",) * bool(wish.programs)
    yield from dict.fromkeys(wish.clients or given or tuple(CLIENTS))


def _versions_of(target: ClientTarget) -> Sequence[str] | TargetError:
    """The versions of NFS that a client speaks, or why it cannot be tested here."""
    try:
        target.start()
    except TargetError as error:
        return error
    versions = target.client.versions
    target.stop()
    return versions


def _words(wish: Wish, versions: Sequence[str]) -> list[str]:
    """The checks that the user wants of a client, the control first, as words of the command line; none: all."""
    if not wish.is_partial:
        return []
    wanted: defaultdict[str, list[tuple[Cell, str]]] = defaultdict(list)
    listed: Counter[str] = Counter()
    for name in sorted(known_ids().promised(f"{KIND}:")):
        cell = cell_of(name)
        assert cell is not None
        listed[function_of(name)] += 1
        if cell.version in versions and wish.holds(cell):
            wanted[function_of(name)].append((cell, name))
    places = {name: place for place, name in enumerate((*PLANS, *all_works()))}
    found: list[str] = []
    for function, rows in sorted(wanted.items(), key=lambda item: places[item[1][0][0].plan]):
        ids = [name for _, name in sorted(rows, key=lambda row: places[row[0].work])]
        found += [function] if len(ids) == listed[function] else ids
    return found


def _run_wish(target: str, wish: Wish, checks: Sequence[str], folder: Path) -> Exit:
    """A run of one client, in a process: pytest begins only once in each, and a guest ends with it."""
    options = [
        *(f"--report={folder}", f"--seed={wish.seed}", f"--work-timeout={wish.seconds:g}"),
        *(["--strict"] if wish.strict else []),
        *([f"--baseline={wish.baseline}"] if wish.baseline else []),
    ]
    if target == f"{KIND}:command":
        options += [f"--mount={wish.mount}", f"--umount={wish.umount}"]
    if target == f"{KIND}:program":
        options += [f"--program={text}" for text in wish.programs]
    command = [sys.executable, "-m", "nfsproof", "run", target, *checks, *options]
    environment = os.environ | {"PYTHONPATH": str(starter.home())}
    # Its own session: Ctrl-C comes once, from here.
    with subprocess.Popen(command, env=environment, start_new_session=True) as process, _passing_on(process):
        status = process.wait()
    try:
        return Exit(status)
    except ValueError:  # killed
        return Exit.INTERNAL


@contextlib.contextmanager
def _passing_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Let the process have the signals that end a run."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = {
        number: signal.signal(number, lambda number, _: process.send_signal(number)) for number in _SIGNALS
    }
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


__all__ = ["BadFolder", "BadWish", "Wish", "run"]

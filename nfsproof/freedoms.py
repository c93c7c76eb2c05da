# SPDX-License-Identifier: MIT
"""`nfsproof selftest --knobs`: the suite on the embedded server with each legal freedom taken.

No check and no rule of the lint may fail for a legal choice of a server: a red run here shows a bug of the suite, or
of the embedded server.

A first run, with all knobs at their defaults, notes what knobs would have decided for each check
(`nfsserver.consulted`). With a setting, only those checks run that can tell it from the defaults; `--knobs=all` runs
every check with every setting.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nfsjudge.wording import count
from nfsproof import starter
from nfsproof.exits import Exit
from nfsserver.knobs import KNOBS, draw

SETTINGS: tuple[tuple[str, ...], ...] = (
    ("write_accepts=333", "read_returns=37", "readdir_page=1"),
    ("write_accepts=4096", "read_returns=100", "readdir_page=3"),
    ("write_accepts_random=7",),
    ("jukebox_calls=1",),
    ("jukebox_calls=3",),
    ("jukebox_seconds=0.01",),
    ("jukebox_calls=2", "jukebox_names=f*"),
    ("delegated_names=one", "--call-timeout=1"),
    ("withhold_pre_op=yes", "withhold_handles=yes"),
    ("withhold_post_op=yes",),
    ("withhold_pre_op=yes", "withhold_post_op=yes", "withhold_handles=yes"),
    ("time_granularity=0.000001", "dtmax=512"),
    ("time_granularity=0.01", "dtmax=4096"),
    ("time_granularity=2", "wtmax=8192"),
    ("hard_links=no",),
    ("symlinks=no",),
    ("max_file_size=4294967295", "rtmax=512", "wtmax=512"),
    ("max_file_size=1000000", "name_max=64", "path_max=1023"),
    ("max_file_size=100",),
    ("name_max=25",),
    ("path_max=10",),
    ("free_bytes=0",),
    ("free_bytes=20000",),
    ("free_files=0",),
    ("free_files=3",),
    ("quota_bytes=0",),
    ("quota_bytes=20000",),
    ("read_only=yes",),
    ("root_squash=yes",),
    ("all_squash=yes",),
    ("read_only_names=f",),
    ("read_only_names=*",),
    ("offline_names=*",),
    ("rtmax=64", "wtmax=64"),
    ("case_insensitive=yes", "stale_on_remove=no"),
    ("write_accepts=100", "read_returns=100", "readdir_page=2", "withhold_pre_op=yes", "time_granularity=1"),
    ("jukebox_calls=1", "withhold_post_op=yes", "withhold_handles=yes", "stale_on_remove=no"),
    ("root_squash=yes", "symlinks=no", "hard_links=no", "case_insensitive=yes", "rtmax=4096", "wtmax=4096"),
    ("all_squash=yes", "withhold_post_op=yes", "write_accepts_random=1"),
)
"""What is tried: each knob at several values, some together; words with ``--`` are options of the run."""

ALL = "all"
"""Instead of a text that chooses settings: all of them, with every check."""
DRAWN = "drawn"
"""The same: settings that are drawn at random (`nfsserver.knobs.draw`), with every check. See `drawn_settings`."""
_USUAL_DRAWS = 20
_NOT_WANTED = ("FAIL", "NONSTRICT", "VOID")
_PATIENCE = 900.0
"""Seconds for one run."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run with one setting ended: its exit status, its verdicts, and what it printed."""

    setting: tuple[str, ...]
    status: int
    verdicts: Counter[str]
    output: str

    @property
    def is_good(self) -> bool:
        """Nothing was red, broken, or could not be judged, and something was judged."""
        wrong = sum(self.verdicts[name] for name in _NOT_WANTED)
        return self.status == Exit.OK and not wrong and self.verdicts["PASS"] > 0

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self.verdicts.items()))
        word = "ok " if self.is_good else "RED"
        return (
            f"{word} {' '.join(self.setting) or 'no knob turned'}: {counts or f'exit status {self.status}'}"
        )


@dataclass(slots=True)
class _Run:
    setting: tuple[str, ...]
    process: subprocess.Popen[bytes]
    folder: Path

    def finish(self) -> Outcome:
        """Wait for its end; a run that takes too long is red."""
        try:
            status = self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        output = (self.folder / "output").read_text(errors="replace")
        return Outcome(self.setting, status, _verdicts(self.folder), output)


def _verdicts(folder: Path) -> Counter[str]:
    from reports import load

    try:
        run = load(folder)
    except (OSError, ValueError):
        return Counter()
    return run.counts() + Counter(one.verdict for one in run.findings)


def _start(setting: tuple[str, ...], arguments: Sequence[str], folder: Path) -> _Run:
    folder.mkdir()
    knobs = [one if one.startswith("--") else f"--knob={one}" for one in setting]
    command = [
        *(sys.executable, "-m", "nfsproof", "run", "embedded", "--strict", *knobs),
        *(f"--report={folder}", "-q", *arguments),
    ]
    environment = os.environ | {"PYTHONPATH": str(starter.home())}
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
    return _Run(setting, process, folder)


def outcomes(settings: Sequence[tuple[str, ...]], arguments: Sequence[str], place: Path) -> Iterator[Outcome]:
    """The suite with each setting, one run more at a time than there are processors: those with JUKEBOX mostly wait."""
    running: list[_Run] = []
    try:
        for number, setting in enumerate(settings):
            if len(running) > (os.cpu_count() or 1):
                yield running.pop(0).finish()
            running.append(_start(setting, arguments, place / str(number)))
        while running:
            yield running.pop(0).finish()
    finally:
        for run in running:
            run.process.kill()
            run.process.wait()


def drawn_settings(only: str) -> list[tuple[str, ...]]:
    """The settings of ``drawn`` (seeds 1 to 20), ``drawn:7`` (one seed), or ``drawn:1-200``. Raises ValueError."""
    first, _, last = only.removeprefix(DRAWN).removeprefix(":").partition("-")
    seeds = range(int(first), int(last or first) + 1) if first else range(1, _USUAL_DRAWS + 1)
    if not seeds:
        raise ValueError(f"no seed in {only!r}")
    return [
        tuple(f"{name}={KNOBS[name].spell(value)}" for name, value in draw(seed).items()) for seed in seeds
    ]


def _interrupt(_number: int, _frame: object) -> None:
    """SIGTERM ends this as Ctrl-C does: with its runs."""
    raise KeyboardInterrupt


def try_all(arguments: Sequence[str], say: Callable[[str], None], only: str = "") -> int:
    """Runs those whose text holds `only`, or `ALL`; prints a line each, and in full what was red; the exit status."""
    is_drawn = only.startswith(DRAWN)
    if is_drawn:
        chosen = drawn_settings(only)
    else:
        chosen = [setting for setting in SETTINGS if only == ALL or only in " ".join(setting)]
    signal.signal(signal.SIGTERM, _interrupt)
    with tempfile.TemporaryDirectory(prefix="nfsproof-knobs-") as folder:
        place = Path(folder)
        traced: list[str] = []
        if only != ALL and not is_drawn:
            trace = place / "trace"
            workers = ["-n", str(os.cpu_count() or 1)]
            writing = [*workers, "--write-knob-trace", str(trace), *arguments]
            if not _tell(_start((), writing, place / "usual").finish(), say):
                return int(Exit.FAIL)
            traced = ["--knob-trace", str(trace)]
        good = [_tell(outcome, say) for outcome in outcomes(chosen, [*traced, *arguments], place)]
    say(f"{count(len(chosen), 'setting')}, {good.count(False)} red")
    return int(Exit.OK if good and all(good) else Exit.FAIL)


def _tell(outcome: Outcome, say: Callable[[str], None]) -> bool:
    """Prints how a run ended, and in full if it is red; whether it is good."""
    say(str(outcome))
    if not outcome.is_good:
        say(outcome.output)
    return outcome.is_good

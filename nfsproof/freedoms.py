# SPDX-License-Identifier: MIT
"""`nfsproof selftest --knobs`: the suite on embedded servers that take the legal freedoms.

No check and no rule of the lint may fail for a legal choice of a server: a red run here shows a bug of the suite, or
of the embedded server. NONSTRICT is right only where a knob says that the server then does not follow that SHOULD.

There are two kinds of settings. *Drawn* ones set a random part of all knobs, by a seed, so that choices meet that
nobody thought of together. *Single* ones set one knob. Those that refuse much would hide the others in a draw, so
they are tried alone: a first run, with all knobs at their defaults, notes what knobs would have decided for each check
(`nfsserver.consulted`), and with such a setting only those checks run that can tell it from the defaults. If these are
most of the suite, a part of them runs, another part with the next setting.
"""

from __future__ import annotations

import json
import os
import tempfile
import typing as t
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from nfsclient.similar import similar_text
from nfsproof.exits import Exit, Trouble
from nfsproof.selector import Selector, UnknownCheck
from nfsproof.starter import home
from nfsproof.trials import Ended, Trials, let_sigterm_interrupt, seeds_of
from nfsserver.consulted import Consulted
from nfsserver.knobs import KNOBS, BadKnob, Knob, draw, parse_setting
from nfsserver.services import freedoms
from nfsserver.settings import Settings

if t.TYPE_CHECKING:
    from nfsjudge.records import CheckRecord, FindingRecord

ALL = "all"
"""Instead of a text that chooses settings: all single ones, with every check."""
DRAWN = "drawn"
"""Instead of one: drawn settings. With seeds (``drawn:7``, ``drawn:1-200``) each runs every check."""
USUAL_DRAWS = 9
PARTS = 3
"""Without seeds, each draw runs one of this many parts of the checks."""
_SMALL = ("max_file_size=100", "name_max=25", "path_max=10")
"""Values so small that few checks can run. `draw` uses larger ones."""
_OPTIONS = {"delegated_names": "--call-timeout=2"}
"""Knobs with which calls wait for as long as a call may take."""
_MANY = 1 / 3
"""Where more than this share of the checks can see a rarely drawn setting, one of `PARTS` of these runs: most of them
end alike, as SKIP. ``--knobs=NAME`` runs them all."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Values of knobs, as one types them, and which checks run with them."""

    values: tuple[str, ...]
    name: str = ""
    arguments: tuple[str, ...] = ()

    @property
    def knobs(self) -> list[Knob]:
        """The knobs that differ from their defaults."""
        return [KNOBS[parse_setting(text)[0]] for text in self.values]

    @property
    def options(self) -> list[str]:
        """For `nfsproof run embedded`."""
        waiting = [_OPTIONS[knob.name] for knob in self.knobs if knob.name in _OPTIONS]
        return [*(f"--knob={text}" for text in self.values), *waiting, *self.arguments]

    def __str__(self) -> str:
        return ": ".join(filter(None, [self.name, " ".join(self.values) or "no knob turned"]))


def drawn(seed: int) -> tuple[str, ...]:
    """The values that a seed draws."""
    return tuple(f"{name}={KNOBS[name].spell(value)}" for name, value in draw(seed).items())


def drawn_settings(text: str) -> list[Setting]:
    """The settings of ``drawn``, each with a part of the checks, or of ``drawn:A-B``. Raises `Trouble`."""
    parts = 1 if ":" in text else PARTS
    return [
        Setting(drawn(seed), f"seed {seed}", () if parts == 1 else (f"--part={seed % parts + 1}/{parts}",))
        for seed in seeds_of(text, DRAWN, USUAL_DRAWS)
    ]


def single_settings(*, rarely: bool = False) -> list[Setting]:
    """Each knob at each of the values that are drawn, and at the smallest; or only what is rarely drawn."""
    settings = [
        Setting((f"{knob.name}={knob.spell(value)}",))
        for knob in KNOBS.values()
        for value in knob.draws
        if knob.rarely or not rarely
    ]
    return [*settings, *(Setting((text,)) for text in _SMALL)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run with one setting ended, and what is wrong about it."""

    setting: Setting
    ended: Ended
    wrong: list[str] = field(default_factory=list)
    """A line for each check and finding that blames the server."""

    @property
    def is_good(self) -> bool:
        """Nothing was red, or could not be judged, and something was judged."""
        return self.ended.status == Exit.OK and not self.wrong and self.ended.verdicts["PASS"] > 0

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self.ended.verdicts.items()))
        word = "ok " if self.is_good else "RED"
        return f"{word} {self.setting}: {counts or f'exit status {self.ended.status}'}"


def judge(setting: Setting, ended: Ended) -> Outcome:
    """What of a run is wrong: FAIL, VOID, and NONSTRICT that no knob of the setting excuses."""
    run = ended.run
    wrong = []
    records: list[CheckRecord | FindingRecord] = [] if run is None else [*run.checks, *run.findings]
    for record in records:
        clause = record.requirement
        excused = clause is not None and any(
            knob.excuses(clause.citation, clause.gist) for knob in setting.knobs
        )
        if record.verdict in {"FAIL", "VOID"} or (record.verdict == "NONSTRICT" and not excused):
            wrong.append(f"    {record.verdict} {record.id}" + (f" ({clause.citation})" if clause else ""))
    return Outcome(setting, ended, wrong)


def _containing(text: str) -> list[Setting]:
    """The single settings with this text, or `Trouble`: no run would look as if all were well."""
    found = [setting for setting in single_settings() if text in str(setting)]
    if not found:
        name, equals, _ = text.partition("=")
        if equals and name in KNOBS:
            try:
                parse_setting(text)
            except BadKnob as error:
                raise Trouble(f"--knobs={text}: {error}") from error
            return [Setting((text,))]
        near = similar_text(name, KNOBS, f"expected {DRAWN}, {ALL}, or a part of NAME=VALUE")
        raise Trouble(f"--knobs={text}: no choice contains this text{near}")
    return found


def in_parts(settings: Sequence[Setting], consulted: Sequence[Consulted]) -> list[Setting]:
    """The settings; those that many checks can see with a part of the checks, each with the next one.

    `consulted` is what knobs would have decided for each check (`--write-knob-trace`).
    """
    shortened: list[Setting] = []
    number = 0
    for setting in settings:
        values = replace(Settings(), **t.cast("t.Any", dict(parse_setting(text) for text in setting.values)))
        seeing = sum(knob.may_differ(values, freedoms()) for knob in consulted)
        if seeing > _MANY * len(consulted):
            setting = replace(setting, arguments=(f"--part={number % PARTS + 1}/{PARTS}",))
            number += 1
        shortened.append(setting)
    return shortened


def names_checks(text: str) -> bool:
    """Whether a text chooses checks, as it does for `nfsproof run`, and no settings."""
    if not text or text == ALL or text.startswith(DRAWN) or "=" in text:
        return False
    if "/" in text:
        return True
    if any(text in str(setting) for setting in single_settings()):
        return False
    try:
        return bool(Selector(home() / "suites").translate(text))
    except UnknownCheck:
        return False


def chosen_settings(text: str) -> tuple[list[Setting], list[Setting]]:
    """The settings for a text: those that run only the checks that can see them, and the others. Raises `Trouble`."""
    if text.startswith(DRAWN):
        return [], drawn_settings(text)
    if text == ALL:
        return [], single_settings()
    if text:
        return _containing(text), []
    return single_settings(rarely=True), drawn_settings(DRAWN)


def try_all(arguments: Sequence[str], say: Callable[[str], None], text: str = "") -> int:
    """Run the suite with the settings of `text`; print a line each, and in full what is red; the exit status."""
    seeing, whole = chosen_settings(text)
    let_sigterm_interrupt()
    trials = Trials()
    with tempfile.TemporaryDirectory(prefix="nfsproof-knobs-") as folder:
        place = Path(folder)
        traced: list[str] = []
        if seeing:
            trace = place / "trace"
            workers = ["-n", str(os.cpu_count() or 1)]
            writing = [*workers, "--write-knob-trace", str(trace), *arguments]
            usual = Setting(())
            if not _tell(judge(usual, trials.run(writing, place / "usual")), say):
                return int(Exit.FAIL)
            traced = ["--knob-trace", str(trace)]
            if not text:
                found = json.loads(trace.read_text(encoding="utf-8"))
                seeing = in_parts(seeing, [Consulted.from_plain(plain) for plain in found.values()])

        def run(setting: Setting, more: list[str], folder: Path) -> Outcome:
            return judge(setting, trials.run([*setting.options, *more, *arguments], folder))

        jobs = [partial(run, setting, []) for setting in whole] + [
            partial(run, setting, traced) for setting in seeing
        ]
        good = [_tell(outcome, say) for outcome in trials.several(jobs, place)]
    say(f"{len(good)} settings, {good.count(False)} red")
    return int(Exit.OK if good and all(good) else Exit.FAIL)


def _tell(outcome: Outcome, say: Callable[[str], None]) -> bool:
    """Prints how a run ended, and in full if it is red; whether it is good."""
    say(str(outcome))
    if not outcome.is_good:
        say(outcome.ended.output)
        say("\n".join(outcome.wrong))
    return outcome.is_good

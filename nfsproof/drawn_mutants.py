# SPDX-License-Identifier: MIT
"""`nfsproof selftest --mutants=drawn`: broken servers that also take legal freedoms never end green.

A seed draws a setting of the knobs, as `selftest --knobs=drawn` does, and three mutants. Each of these is named by a
check that passes on the server with these knobs: what the server lacks or refuses does not hide it. All three are on
throughout the run, also while fixtures arrange and clean up, as the faults of a real server are. First only the checks
run that name one of the three. If that is green, the whole suite decides.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nfsproof.exits import Exit
from nfsproof.freedoms import Setting, drawn
from nfsproof.proofs import checks_by_mutant
from nfsproof.trials import Ended, Trials, let_sigterm_interrupt, seeds_of

DRAWN = "drawn"
USUAL_DRAWS = 6
AT_ONCE = 3
_CANDIDATES = 9
"""This many mutants are drawn at a time, to find three of which a check passes with the knobs."""
_RED = {Exit.FAIL, Exit.VOID}


@dataclass(frozen=True, slots=True)
class Broken:
    """What a seed showed."""

    setting: Setting
    mutants: tuple[str, ...]
    ended: Ended
    is_whole: bool
    """Whether the whole suite ran."""

    @property
    def is_seen(self) -> bool:
        """Whether the run on the broken server was red."""
        return len(self.mutants) == AT_ONCE and self.ended.status in _RED

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self.ended.verdicts.items()))
        word = "ok " if self.is_seen else "RED"
        kind = "all checks" if self.is_whole else "their checks"
        end = counts or f"exit status {self.ended.status}"
        return f"{word} {self.setting.name}: {' '.join(self.mutants)}: {kind}: {end}"


def _draw_mutants(
    setting: Setting, chance: random.Random, named: Mapping[str, frozenset[str]], trials: Trials, folder: Path
) -> tuple[str, ...]:
    """Three mutants of which a check passes with these knobs; fewer if there are no three."""
    names = sorted(named)
    chance.shuffle(names)
    chosen: list[str] = []
    for start in range(0, len(names), _CANDIDATES):
        candidates = names[start : start + _CANDIDATES]
        ids = sorted({check_id for mutant in candidates for check_id in named[mutant]})
        run = trials.run([*setting.options, *ids], folder / f"clean-{start}").run
        passed = (
            {check.id.partition("[")[0] for check in run.checks if check.verdict == "PASS"} if run else set()
        )
        chosen += [mutant for mutant in candidates if not passed.isdisjoint(named[mutant])]
        if len(chosen) >= AT_ONCE:
            break
    return tuple(chosen[:AT_ONCE])


def _try(seed: int, named: Mapping[str, frozenset[str]], trials: Trials, folder: Path) -> Broken:
    """Draw by this seed, and run what must not be green."""
    setting = Setting(drawn(seed), f"seed {seed}")
    mutants = _draw_mutants(setting, random.Random(f"mutants {seed}"), named, trials, folder)
    options = [*setting.options, "--strict", *(f"--mutant={mutant}" for mutant in mutants)]
    ids = sorted({check_id for mutant in mutants for check_id in named[mutant]})
    first = Broken(setting, mutants, trials.run([*options, *ids], folder / "broken"), is_whole=False)
    if first.is_seen or len(mutants) < AT_ONCE:
        return first
    return Broken(setting, mutants, trials.run(options, folder / "whole"), is_whole=True)


def try_drawn(text: str, say: Callable[[str], None]) -> int:
    """Try the seeds of ``drawn`` or ``drawn:A-B``; print a line each; the exit status."""
    let_sigterm_interrupt()
    named = checks_by_mutant()
    trials = Trials()
    with tempfile.TemporaryDirectory(prefix="nfsproof-mutants-") as folder:
        jobs = [partial(_try, seed, named, trials) for seed in seeds_of(text, DRAWN, USUAL_DRAWS)]
        good = [_tell(broken, say) for broken in trials.several(jobs, Path(folder))]
    say(f"{len(good)} broken servers, {good.count(False)} not seen")
    return int(Exit.OK if good and all(good) else Exit.FAIL)


def _tell(broken: Broken, say: Callable[[str], None]) -> bool:
    """Print what a seed showed, and in full if it is wrong; whether the broken server was seen."""
    say(str(broken))
    if not broken.is_seen:
        say(" ".join(broken.setting.options))
        say(broken.ended.output)
    return broken.is_seen

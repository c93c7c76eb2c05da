# SPDX-License-Identifier: MIT
"""Sequences for recovery/consistency: each step is possible, the same seed makes the same ones, shorter ones end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfsjudge.survival import Level
from suites.recovery.players import Player2, Player3
from suites.recovery.sequences import AT_ONCE, ROUNDS, sequences
from suites.recovery.steps import EMPHASIS, LONGEST, Script, Step, Verb, draw_script, possible, shorter


@pytest.mark.parametrize("kind", [Player2, Player3])
@pytest.mark.parametrize("emphasis", EMPHASIS)
def test_the_same_seed_makes_the_same_sequences_and_leaves_no_files(
    kind: type, emphasis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    player = kind(None, None)
    made = [sequences(EMPHASIS[emphasis], player, seed, ROUNDS) for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]
    assert AT_ONCE <= len(made[0]) <= AT_ONCE * ROUNDS
    assert {step.client for script in made[0] for step in script} == {1, 2}
    assert {step.verb for script in made[0] for step in script} >= {*EMPHASIS[emphasis]} - {"COMMIT"}
    assert not [*tmp_path.iterdir()]


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([*EMPHASIS.values()]), st.booleans())
def test_each_step_is_possible_and_shorter_sequences_are_simpler(
    draw: Random, verbs: Sequence[Verb], is_lossy: bool
) -> None:
    script: Script = draw_script(draw, verbs, is_lossy=is_lossy, limit=8192)
    assert 1 <= len(script) <= LONGEST
    assert possible(script, is_lossy=is_lossy) == script
    for each in shorter(script, is_lossy=is_lossy):
        assert possible(each, is_lossy=is_lossy) == each
        assert each != script
        assert len(each) <= len(script)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Step(1, "CREATE", "a/b"), "client 1: CREATE a/b"),
        (Step(2, "RENAME", "a", "b/c"), "client 2: RENAME a to b/c"),
        (Step(1, "LINK", "a", "b"), "client 1: LINK b to a"),
        (
            Step(1, "WRITE", "a", offset=4096, size=100, level=Level.UNSTABLE),
            "client 1: WRITE 100 bytes at 4096 of a, UNSTABLE",
        ),
        (Step(1, "COMMIT", "a"), "client 1: COMMIT all of a"),
        (Step(1, "COMMIT", "a", offset=5, size=7), "client 1: COMMIT 7 bytes at 5 of a"),
        (Step(1, "SIZE", "a", size=7), "client 1: SETATTR size 7 of a"),
        (Step(2, "MODE", "a", mode=0o640), "client 2: SETATTR mode 0640 of a"),
    ],
)
def test_words(step: Step, words: str) -> None:
    assert step.words() == words

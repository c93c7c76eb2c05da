# SPDX-License-Identifier: MIT
"""`selftest --knobs` and `--mutants=drawn`: which runs there are, and what of them is wrong."""

from __future__ import annotations

import importlib
import threading
from pathlib import Path

import pytest

from nfsjudge import Level, Requirement, Verdict, proof_of
from nfsjudge.records import CheckRecord, EndRecord, FindingRecord, RequirementRecord
from nfsproof.drawn_mutants import AT_ONCE, Broken
from nfsproof.exits import Exit, Trouble
from nfsproof.freedoms import (
    PARTS,
    USUAL_DRAWS,
    Setting,
    chosen_settings,
    drawn,
    drawn_settings,
    judge,
    names_checks,
    single_settings,
)
from nfsproof.proofs import checks_by_mutant
from nfsproof.trials import Ended, Trials, seeds_of
from nfsserver import KNOBS
from reports import Run
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
MOUNT_LIST = RequirementRecord("RFC 1813", "5.2.1", "", "SHOULD", "MNT adds to the list that DUMP returns")
OTHER = RequirementRecord("RFC 1813", "5.2.1", "", "SHOULD", "something else")


def _run(*verdicts: tuple[str, RequirementRecord | None], findings: tuple[str, ...] = ()) -> Run:
    checks = [
        CheckRecord(f"mount/DUMP/c{n}", verdict, clause) for n, (verdict, clause) in enumerate(verdicts)
    ]
    found = [FindingRecord(f"lint/nfs3/f{n}", "c", verdict, OTHER) for n, verdict in enumerate(findings)]
    return Run(checks=checks, findings=found, end=EndRecord(exit_code=0))


PASSED = ("PASS", MOUNT_LIST)


# ---------------------------------------------------------------- which settings


def test_each_check_runs_with_several_draws() -> None:
    settings = drawn_settings("drawn")
    assert len(settings) == USUAL_DRAWS
    parts = [setting.arguments for setting in settings]
    assert {parts.count((f"--part={number}/{PARTS}",)) for number in range(1, PARTS + 1)} == {
        USUAL_DRAWS // PARTS
    }


def test_seeds_that_are_named_run_everything() -> None:
    assert [(setting.name, setting.arguments) for setting in drawn_settings("drawn:5-6")] == [
        ("seed 5", ()),
        ("seed 6", ()),
    ]
    assert drawn_settings("drawn:5")[0].values == drawn(5)


@pytest.mark.parametrize("text", ["drawn:x", "drawn:5-", "drawn:9-1", "drawnx", "drawn:"])
def test_wrong_seeds_are_trouble(text: str) -> None:
    with pytest.raises(Trouble, match="expected drawn, drawn:7 or drawn:1-99"):
        seeds_of(text, "drawn", 20)


def test_what_refuses_much_is_tried_alone() -> None:
    seeing, whole = chosen_settings("")
    names = {knob.name for setting in seeing for knob in setting.knobs}
    assert names == {knob.name for knob in KNOBS.values() if knob.rarely} | {
        "max_file_size",
        "name_max",
        "path_max",
    }
    assert whole == drawn_settings("drawn")


def test_text_chooses_single_settings() -> None:
    seeing, whole = chosen_settings("rtmax=")
    assert [setting.values for setting in seeing] == [(f"rtmax={value}",) for value in KNOBS["rtmax"].draws]
    assert not whole
    assert chosen_settings("all") == ([], single_settings())


def test_a_value_that_is_not_drawn_can_be_tried() -> None:
    seeing, _ = chosen_settings("rtmax=77")
    assert [setting.values for setting in seeing] == [("rtmax=77",)]


@pytest.mark.parametrize(
    ("text", "message"),
    [("rtmaxx", "no choice contains this text; similar: rtmax"), ("rtmax=many", "not 'many'")],
)
def test_a_text_that_chooses_nothing_is_trouble(text: str, message: str) -> None:
    with pytest.raises(Trouble, match=message):
        chosen_settings(text)


@pytest.mark.parametrize("text", ["nfs4", "nfs3/WRITE", "nfs3/WRITE*", "NFS3", "portmap"])
def test_a_word_after_the_option_may_name_checks(text: str) -> None:
    assert names_checks(text)


@pytest.mark.parametrize(
    "text", ["", "all", "drawn", "drawn:1-9", "rtmax", "rtmax=7", "mount_list", "rtmaxx"]
)
def test_other_words_choose_settings(text: str) -> None:
    assert not names_checks(text)


def test_knobs_with_which_calls_wait_get_a_short_timeout() -> None:
    assert Setting(("delegated_names=one",)).options == ["--knob=delegated_names=one", "--call-timeout=2"]


# ---------------------------------------------------------------- what is wrong


def test_nothing_is_wrong() -> None:
    outcome = judge(Setting(()), Ended(Exit.OK, _run(PASSED, ("SKIP", None), ("UNSUPPORTED", None)), ""))
    assert outcome.is_good
    assert str(outcome) == "ok  no knob turned: 1 PASS, 1 SKIP, 1 UNSUPPORTED"


@pytest.mark.parametrize("verdict", ["FAIL", "VOID", "NONSTRICT"])
def test_what_blames_the_server_is_wrong(verdict: str) -> None:
    outcome = judge(Setting(("rtmax=64",)), Ended(Exit.OK, _run(PASSED, (verdict, MOUNT_LIST)), ""))
    assert not outcome.is_good
    assert outcome.wrong == [f"    {verdict} mount/DUMP/c1 (RFC 1813 section 5.2.1)"]


def test_findings_of_the_lint_are_wrong() -> None:
    outcome = judge(Setting(()), Ended(Exit.OK, _run(PASSED, findings=("INFO", "NONSTRICT")), ""))
    assert outcome.wrong == ["    NONSTRICT lint/nfs3/f1 (RFC 1813 section 5.2.1)"]


def test_a_knob_excuses_its_own_clause_only() -> None:
    setting = Setting(("mount_list=no",))
    assert judge(setting, Ended(Exit.OK, _run(PASSED, ("NONSTRICT", MOUNT_LIST)), "")).is_good
    assert not judge(setting, Ended(Exit.OK, _run(PASSED, ("NONSTRICT", OTHER)), "")).is_good
    assert not judge(setting, Ended(Exit.OK, _run(PASSED, ("FAIL", MOUNT_LIST)), "")).is_good


@pytest.mark.parametrize("ended", [Ended(Exit.INTERNAL, _run(PASSED), ""), Ended(Exit.OK, None, "")])
def test_a_run_that_breaks_is_wrong(ended: Ended) -> None:
    assert not judge(Setting(()), ended).is_good


def _requirements() -> set[Requirement]:
    found: set[Requirement] = set()
    for path in (ROOT / "suites").rglob("*.py"):
        module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        found |= {value for value in vars(module).values() if isinstance(value, Requirement)}
        for value in vars(module).values():
            proof = proof_of(value)
            found |= set(proof.requirements) if proof is not None else set()
    return {requirement.of(version) for requirement in found for version in ("", *requirement.also)}


def test_what_knobs_excuse_are_requirements_of_level_should() -> None:
    requirements = _requirements()
    for knob in KNOBS.values():
        for clause in knob.nonstrict:
            citation, _, words = clause.partition(": ")
            excused = [each for each in requirements if each.citation == citation and words in each.gist]
            assert excused, clause
            assert {each.level for each in excused} == {Level.SHOULD}, clause
            assert {each.harm for each in excused} == {None}, f"{clause}: a legal choice would be FAIL"


# ---------------------------------------------------------------- mutants


def test_every_check_that_names_a_mutant_is_known() -> None:
    named = checks_by_mutant()
    assert "mount/DUMP/lists-mount" in {check_id for ids in named.values() for check_id in ids}
    assert len(named) > 500


@pytest.mark.parametrize(
    ("mutants", "status", "is_seen"),
    [
        (AT_ONCE, Exit.FAIL, True),
        (AT_ONCE, Exit.VOID, True),
        (AT_ONCE, Exit.OK, False),
        (AT_ONCE, Exit.USAGE, False),
        (2, Exit.FAIL, False),
    ],
)
def test_a_broken_server_must_be_red(mutants: int, status: int, is_seen: bool) -> None:
    broken = Broken(Setting((), "seed 1"), ("m",) * mutants, Ended(status, None, ""), is_whole=False)
    assert broken.is_seen is is_seen


# ---------------------------------------------------------------- processes


def test_a_run_ends_with_its_records(tmp_path: Path) -> None:
    ended = Trials().run(["--knob=rtmax=512", "rpc/null/over-tcp", "-k", "nothing"], tmp_path / "run")
    assert ended.status in {Exit.NOTHING, Exit.USAGE}
    assert ended.verdicts[Verdict.PASS] == 0


def test_jobs_keep_their_order(tmp_path: Path) -> None:
    second = threading.Event()

    def slow(_folder: Path) -> str:
        assert second.wait(AT_MOST)
        return "slow"

    def fast(_folder: Path) -> str:
        second.set()
        return "fast"

    assert list(Trials().several([slow, fast], tmp_path)) == ["slow", "fast"]


def test_stopped_trials_start_nothing_that_lasts(tmp_path: Path) -> None:
    trials = Trials()
    trials.stop()
    assert trials.run([], tmp_path / "run").status != Exit.OK

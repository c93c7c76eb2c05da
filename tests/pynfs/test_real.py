# SPDX-License-Identifier: MIT
"""A real checkout of pynfs, that of NFSPROOF_PYNFS: its codes are in the mapping, and the embedded server passes."""

from __future__ import annotations

import os
import typing as t
from pathlib import Path

import pytest

from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from nfsproof.proofs import checks_by_mutant
from nfsproof.pynfs.checkout import open_checkout
from nfsproof.pynfs.mapping import Absence, mapping_of
from nfsproof.pynfs.running import Wish, run
from reports import load
from reports.idlist import function_of
from tests.needs import PYNFS, needs

CHECKOUT: t.Final = os.environ.get(PYNFS, "")
NOT_OWED: t.Final = {"CSESS29", "DELEG24", "DELEG25"}
"""The embedded server does otherwise, as it may: the mapping has the reasons."""

pytestmark = needs("pynfs-checkout")


def test_the_mapping_has_its_codes() -> None:
    codes = set(open_checkout(Path(CHECKOUT).absolute(), 1).codes)
    known = mapping_of("pynfs41")
    assert not codes - set(known), "tests of a later pynfs"
    run = {code for code, each in known.items() if each.absence is not Absence.UNUSED}
    assert not run - codes


def test_the_embedded_server_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All of NFSv4.1 that applies. Its tests wait for leases."""
    assert run_command_line(["pynfs", CHECKOUT, "embedded", "all", f"--report={tmp_path / 'r'}"]) == Exit.OK
    verdicts = {check.id.rpartition("/")[2]: check.verdict for check in load(tmp_path / "r").checks}
    assert {code for code, verdict in verdicts.items() if verdict != "PASS"} <= NOT_OWED, (
        capsys.readouterr().out
    )
    assert len(verdicts) > 150


def test_pynfs_sees_what_our_checks_see(tmp_path: Path) -> None:
    """The mapping is right: under a mutant that a check must detect, most tests that test the same are red.

    Not all: some of pynfs look at the status only.
    """
    checkout = open_checkout(Path(CHECKOUT).absolute(), 1)
    mutants: dict[str, list[str]] = {}
    for mutant, checks in sorted(checks_by_mutant().items()):
        for code, known in mapping_of("pynfs41").items():
            names = {function_of(check_id) for check_id in known.ids}
            if (
                names & checks
                and not known.part
                and "all" in checkout.codes.get(code, ())
                and "DELEG" not in code
            ):
                mutants.setdefault(code, []).append(mutant)
    by_mutant: dict[str, list[str]] = {}
    for code, its in mutants.items():
        for mutant in its:
            by_mutant.setdefault(mutant, []).append(code)
    red: set[str] = set()
    for number, (mutant, codes) in enumerate(by_mutant.items()):
        left = tuple(code for code in codes if code not in red)
        if left:
            folder = tmp_path / str(number)
            wish = Wish(
                target="embedded", words=left, mutants=frozenset({mutant}), test_limit=40.0, report=folder
            )
            run(wish, checkout, print)
            checks_of_run = load(folder).checks
            red |= {
                check.id.rpartition("/")[2] for check in checks_of_run if check.verdict in {"FAIL", "VOID"}
            }
    assert len(red) >= 0.7 * len(mutants), sorted(mutants.keys() - red)


def test_its_crashes_and_unsupported_tests(tmp_path: Path) -> None:
    """With minor version 2: what NFSv4.2 servers may lack."""
    words = ["xattr", "sparse", "EID4", "--minor=2", f"--report={tmp_path / 'r'}"]
    assert run_command_line(["pynfs", CHECKOUT, "embedded", *words]) == Exit.OK
    verdicts = {check.id.rpartition("/")[2]: check.verdict for check in load(tmp_path / "r").checks}
    assert {code for code, verdict in verdicts.items() if verdict != "PASS"} == {
        "ALLOC1",
        "ALLOC2",
        "ALLOC3",
        "EID4",
    }


def test_its_tree_of_nfs40(tmp_path: Path) -> None:
    """The embedded server has no NFSv4.0: what pynfs cannot begin is VOID."""
    words = ["MKDIR", "--minor=0", f"--report={tmp_path / 'r'}"]
    assert run_command_line(["pynfs", CHECKOUT, "embedded", *words]) in {Exit.VOID, Exit.USAGE}

# SPDX-License-Identifier: MIT
"""Where mutants stand: in the file that has the name of the suite file whose check catches them.

`suites/nfs3/test_readdir_cookies.py` and `nfsmutants/nfs3/readdir_cookies.py`: who reads one finds the other.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from pathlib import Path

import nfsmutants
from nfsjudge import proof_of
from nfsjudge.lint import all_rules
from nfsmutants import Mutant, all_mutants

ROOT = Path(__file__).resolve().parents[2]
HELPERS = {"bending", "calls", "headers", "with_stateid"}
"""Modules of a protocol's folder that declare no mutants."""


def _place(mutant: Mutant) -> str:
    declared = mutant.on_call or mutant.on_message or mutant.transport
    assert declared is not None
    return declared.__module__.removeprefix("nfsmutants.").replace(".", "/")


def _named_by_checks() -> dict[str, set[str]]:
    """Mutant -> "nfs3/readdir_cookies" of each suite file that names it."""
    named: dict[str, set[str]] = defaultdict(set)
    for path in sorted((ROOT / "suites").glob("*/test_*.py")):
        module = importlib.import_module(f"suites.{path.parent.name}.{path.stem}")
        for value in vars(module).values():
            proof = proof_of(value)
            for name in proof.killed_by if proof is not None else ():
                named[name].add(f"{path.parent.name}/{path.stem.removeprefix('test_')}")
    return named


def test_a_mutant_stands_in_the_file_that_mirrors_the_suite() -> None:
    named = _named_by_checks()
    for rule in all_rules():
        protocol = rule.name.partition("/")[0]
        for name in rule.killed_by:
            named.setdefault(name, {"lint/mount" if protocol == "mount3" else f"lint/{protocol}"})
    allowed: dict[object, set[str]] = defaultdict(set)
    for mutant in all_mutants():  # one function may declare a mutant of each of several procedures
        allowed[mutant.on_call or mutant.on_message or mutant.transport] |= named[mutant.name]
    misplaced = {
        mutant.name: f"stands in {_place(mutant)}, belongs into {' or '.join(sorted(places))}"
        for mutant in all_mutants()
        if _place(mutant) not in (places := allowed[mutant.on_call or mutant.on_message or mutant.transport])
    }
    assert misplaced == {}


def test_every_file_mirrors_a_suite_file() -> None:
    room = Path(nfsmutants.__file__).parent
    files = {path for path in room.glob("*/*.py") if path.stem not in {"__init__", *HELPERS}}
    strangers = {
        str(path.relative_to(room))
        for path in files
        if path.parent.name != "lint"
        and not (ROOT / "suites" / path.parent.name / f"test_{path.stem}.py").exists()
    }
    assert strangers == set()

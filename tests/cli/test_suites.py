# SPDX-License-Identifier: MIT
"""The suites as a whole: every check says what it proves, by which mutant it is proved, and lies where it should."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from fixtures.checks.capabilities import KNOWN
from nfsjudge import Level, Proof, proof_of
from nfsmutants import all_mutants
from nfstargets.clients.mutants import MUTANTS as MUTANTS_OF_CLIENTS

SUITES = Path(__file__).resolve().parents[2] / "suites"
MUTANTS = {mutant.name for mutant in all_mutants()} | set(MUTANTS_OF_CLIENTS)


def checks() -> Iterator[tuple[str, Callable[..., object], Proof | None]]:
    """(module:function, the function, its proof) of every test function in the suites."""
    for path in sorted(SUITES.rglob("test_*.py")):
        name = ".".join(path.relative_to(SUITES.parent).with_suffix("").parts)
        module = import_module(name)
        for word, function in inspect.getmembers(module, inspect.isfunction):
            if word.startswith("test_") and function.__module__ == name:
                yield f"{name}:{word}", function, proof_of(function)


CHECKS = [pytest.param(function, proof, id=name) for name, function, proof in checks()]


@pytest.mark.parametrize(("function", "proof"), CHECKS)
def test_a_check_is_complete(function: Callable[..., object], proof: Proof | None) -> None:
    assert proof is not None, "it has no @proves"
    assert set(proof.killed_by) <= MUTANTS, "its mutant is not registered"
    assert proof.killed_by, "it names no mutant"
    assert set(proof.needs) <= set(KNOWN), "it needs what is no capability"
    assert all(clause.level is not Level.MAY for clause in proof.requirements), "a MAY cannot be broken"


def test_every_folder_is_a_package_without_a_conftest() -> None:
    """The starter reads no conftest, so that none of the user's can be read in its place."""
    folders = {path.parent for path in SUITES.rglob("test_*.py")}
    assert all((folder / "__init__.py").is_file() for folder in folders)
    assert list(SUITES.rglob("conftest.py")) == []

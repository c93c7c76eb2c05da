# SPDX-License-Identifier: MIT
"""Each check of clients passes on a right client, and fails on the misbehaving client that it names."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from nfsjudge import proof_of
from nfstargets.clients.mutants import MUTANTS
from reports.idlist import function_of, known_ids
from suites.clients.plans import PLANS
from tests.waiting import AT_MOST

SUITE = Path(importlib.import_module("suites.clients").__file__ or "").parent


def _named() -> set[str]:
    modules = [importlib.import_module(f"suites.clients.{path.stem}") for path in SUITE.glob("test_*.py")]
    proofs = [proof_of(value) for module in modules for value in vars(module).values()]
    return {name for proof in proofs if proof is not None for name in proof.killed_by}


def test_checks_name_mutants_that_there_are_and_all_of_them() -> None:
    assert _named() == set(MUTANTS)


def _chosen(version: str) -> list[str]:
    """One work of each check: a few minutes would pass for all."""
    of_version = sorted(
        check_id for check_id in known_ids().promised("client:") if check_id.endswith(f"-{version}]")
    )
    first: dict[str, str] = {}
    for name in of_version:
        if "[read-" in name or "[write-" in name:
            first.setdefault(function_of(name), name)
    assert len(first) == len(PLANS)
    return list(first.values())


@pytest.mark.parametrize("version", ["3", "4.2"])
def test_each_check_fails_on_its_mutant(version: str, tmp_path: Path) -> None:
    words = [*_chosen(version), "--mutants=pairs", f"--report={tmp_path}", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "nfsproof", "run", "client:nfsclient", *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=AT_MOST)
    assert done.returncode == 0, done.stdout
    table = json.loads((tmp_path / "mutants.json").read_text())
    assert set(table["killers"]) == set(MUTANTS)
    assert (table["survived"], table["not_clean"]) == ([], [])
    assert {name for names in table["killers"].values() for name in names} == set(_chosen(version))

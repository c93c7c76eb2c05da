# SPDX-License-Identifier: MIT
"""Which checks name which mutants, and the clauses that mutants break: those of the checks that must fail on them."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from fixtures.ids import SUITES, id_of
from nfsjudge import Proof, Requirement, proof_of
from nfsjudge.lint import all_rules
from nfsmutants import Mutant, all_mutants
from nfsproof import starter


def proofs() -> Iterator[tuple[str, Proof]]:
    """Every check, without its parameters: its id, and what `@proves` says of it. Imports all suites."""
    home = starter.home()
    for path in sorted((home / SUITES).rglob("test_*.py")):
        place = path.relative_to(home)
        module = importlib.import_module(".".join(place.with_suffix("").parts))
        for name, value in vars(module).items():
            proof = proof_of(value) if name.startswith("test_") else None
            if proof is not None:
                yield id_of(f"{place.as_posix()}::{name}"), proof


def checks_by_mutant() -> Mapping[str, frozenset[str]]:
    """Mutant -> the ids, without parameters, of the checks that name it."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for check_id, proof in proofs():
        for mutant in proof.killed_by:
            found[mutant].add(check_id)
    return {mutant: frozenset(ids) for mutant, ids in found.items()}


def broken_clauses() -> dict[str, tuple[str, ...]]:
    """Mutant -> citations of what it breaks: the clause that it declares, or else those of the checks that name it.

    Of a check that proves several clauses nobody knows which one the mutant breaks. A mutant that only such checks
    name has to declare its clause; without one it has none here.
    """
    named: defaultdict[str, list[tuple[Requirement, ...]]] = defaultdict(list)
    for _, proof in proofs():
        for name in proof.killed_by:
            named[name].append(proof.requirements)
    for rule in all_rules():
        for name in rule.killed_by:
            named[name].append((rule.requirement,))
    return {
        mutant.name: (mutant.breaks,) if mutant.breaks else tuple(_broken(mutant, named[mutant.name]))
        for mutant in all_mutants()
    }


def _broken(mutant: Mutant, claimed: Iterable[tuple[Requirement, ...]]) -> list[str]:
    """The citations in the versions of its operations, each once, of checks that prove one clause only."""
    versions = {str(operation.version) for operation in mutant.operations} or {""}
    cited = [
        {requirement.of(version).citation for requirement in each} for each in claimed for version in versions
    ]
    return sorted(set().union(*(citations for citations in cited if len(citations) == 1)))

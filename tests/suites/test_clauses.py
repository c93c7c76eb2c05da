# SPDX-License-Identifier: MIT
"""Clauses: each has one level wherever it stands, and a mutant that breaks it."""

from __future__ import annotations

import dataclasses
import typing as t
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

from nfsjudge import Level, Proof, Requirement
from nfsjudge.lint import all_rules
from nfsmutants import all_mutants
from nfsproof import proofs
from reports.coverage.tables import read_tables
from tests.cli.test_suites import checks

ROOT = Path(__file__).resolve().parents[2]
BROKEN = proofs.broken_clauses()
PROOFS = [(name, proof) for name, _, proof in checks() if proof is not None]

OTHER_LEVEL = {
    "nfs3/ctime-stands": "it also judges a size that SETATTR changes, of which the text says nothing",
    "nfs3/not-sync-unguarded": "it judges a status alone, also that of other procedures",
    "nfs3/readdir-progress": "a last page without eof may be followed by an empty one: it is about progress",
    "nfs3/write-verifier": "a capture does not show whether the server was restarted",
}
"""Rules of the lint that are milder than a check with the same mutant and section, and why."""
WITHOUT_MUTANT = {
    "MODIFY is the permission to modify": "the error is the same, ACCESS has granted another right",
    "NFS3ERR_ACCES or NFS3ERR_PERM reports": "other errors of the same refusal",
    "NFS3ERR_TOOSMALL reports that the buffer": "other errors of the same refusal",
    "a name that the server cannot store": "the mutant refuses; a server that accepts does the same to the name",
    "a new entry has exactly the given name": "the same mutant, for names that are no text",
    "CREATE creates a file: it neither": "the same mutant, for CREATE in place of MKDIR, SYMLINK and LINK",
    "RENAME does not replace a directory": "the mutant answers success, and the first clause is broken too",
    "maxfilesize is the maximum size of a file on the file": "the same mutant, for files of 2 GiB",
    "names with a special meaning are not": "the same mutant, where the server answers success",
    "the attributes in the arguments of MKDIR": "the same mutant, for MKDIR in place of CREATE",
    "the attributes in the arguments of MKNOD": "the same mutant, for MKNOD in place of CREATE",
    "no_trunc is one answer for all": "the same mutant: a name is cut that another procedure refuses",
    "the data of a symbolic link is stored": "the same mutant, for data that is no text",
    "size and nlink of a directory should": "the milder clause for directories, the same mutant",
    "UMNT requires AUTH_UNIX": "the same mutant, for UMNT in place of MNT",
    "UMNTALL requires AUTH_UNIX": "the same mutant, for UMNTALL in place of MNT",
    "MNT3ERR_NAMETOOLONG reports that": "its mutant answers another error, which breaks the first clause too",
    "a universal address of IPv6": "the same mutant, where the server has addresses of IPv6",
    "a program should register only": "the same mutant, in the older version of the port mapper",
}
"""Beginnings of gists that are the first of no check, and that a mutant of another clause breaks, and why."""
OF_SEVERAL = {
    "suites.clients.": "one mutant loses data in all versions; a client that says so breaks the claim of level SHOULD",
    "suites.nfs4.test_delegation:": "one answer stands for another: a recall, or a revocation in its place",
    "suites.faults.test_backchannel:": "as test_delegation",
    "suites.nfs4.test_local_changes:": "as test_delegation",
    "suites.nfs4.test_free_stateid:test_delegation": "as test_delegation",
    "suites.nfs4.test_open_claims:test_read_delegation": "as test_delegation",
    "suites.nfs4.test_stateids:test_delegation_out_of_place": "as test_delegation",
    "suites.nfs4.test_test_stateid:test_delegation": "as test_delegation",
    "suites.nfs4.test_expiry:": "what SEQUENCE reports decides which clause is judged",
    "suites.nfs4.test_grants:": "one mutant denies each operation, also those for which ACCESS is only advice",
    "suites.nfs4.test_names:test_dots": "the same mutant shows by operations that change names, and by others",
    "suites.nfs4.test_names:test_slash": "as test_dots",
    "suites.nfs4.test_names:test_no_utf8": "two clauses are of servers that list the name with other bytes",
    "suites.nfs4.test_write_again:test_second_unstable_time": "one mutant; change is judged by test_local_changes, too",
    "suites.nfs4.test_model:": "a machine compares all that clients see with a model",
    "suites.nfs4.test_state_model:": "as test_model",
    "suites.nfs4.test_create:test_device": "the mutant of CREATE shows in the attribute of the second clause",
    "suites.nfs4.test_dropped_caches:": "the mutant of READ shows that what WRITE had acknowledged is gone",
    "suites.nfs4.test_limits:": "the limit is granted by CREATE_SESSION, which the mutant ignores",
    "suites.nfs4.test_sequence_slots:": "the mutant moves the slot, or leaves it, in both cases",
    "suites.nfs4.test_setattr:test_owners": "attrsset and the attribute contradict each other",
    "suites.nfs4.test_setattr:test_acl": "as test_owners",
    "suites.nfs4.test_setattr:test_both_times": "as test_owners",
    "suites.nfs4.test_setattr:test_time_create": "as test_owners",
    "suites.nfs4.test_lock:test_gap": "one mutant for each side of the gap",
    "suites.nfs4.test_lock:test_upgrade_denied": "the mutant breaks the clause of the upgrade or of the denial",
    "suites.nfs4.test_sequence:test_sessions_are_separate": "a reply of another session is sent",
    "suites.nfs4.test_types:": "one status a type, and one mutant for all",
}
"""Beginnings of names of NFSv4 checks with fewer mutants than clauses, or with mutants of other sections, and why."""


UNTABLED = {"RFC 1122"}
"""RFCs whose sections the tables of coverage do not have."""
STATED_BY = {
    "1": ("RFC 1094",),
    "2": ("RFC 1094", "RFC 1833"),
    "3": ("RFC 1813",),
    "4.0": ("RFC 7530",),
}
"""The versions that `also` names, and the RFCs that state them."""
DISTINGUISHED = {
    "LINK increases nlink by one": "IMPLEMENTATION in RFC 1813 only",
    "MNT adds an entry for the directory to the list that DUMP returns": "IMPLEMENTATION in RFC 1813 only",
}
"""Gists that are declared for each RFC, and why."""


def _requirements() -> t.Iterator[tuple[str, Requirement]]:
    for path in [*(ROOT / "suites").rglob("*.py"), *(ROOT / "nfsjudge" / "lint").glob("*.py")]:
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for value in vars(import_module(name)).values():
            if isinstance(value, Requirement):
                yield name, value


def test_a_clause_has_one_level_and_one_harm_wherever_it_stands() -> None:
    found = defaultdict(set)
    for _, requirement in _requirements():
        found[requirement.rfc, requirement.section, requirement.gist].add(
            (requirement.level, requirement.part, requirement.harm)
        )
    assert {clause: kinds for clause, kinds in found.items() if len(kinds) > 1} == {}


def test_each_section_that_is_cited_exists() -> None:
    tables = read_tables()
    there = {(listed.rfc, listed.number) for document in tables.documents for listed in document.sections}
    known = {document.name for document in tables.documents}
    cited = {tables.place_of(*where) for _, requirement in _requirements() for where in requirement.citations}
    assert {where for where in cited - there if where[0] in known} == set()
    assert {rfc for rfc, _ in cited} - known == UNTABLED


def test_a_version_is_cited_by_its_rfc() -> None:
    cited = {
        (version, where.rfc)
        for _, requirement in _requirements()
        for version, where in requirement.also.items()
    }
    assert cited == {(version, rfc) for version, rfcs in STATED_BY.items() for rfc in rfcs}


def test_a_claim_of_several_versions_is_declared_once() -> None:
    found: dict[str, set[Requirement]] = defaultdict(set)
    for name, requirement in _requirements():
        if name.startswith("suites."):
            found[requirement.gist].add(requirement)
    several = {gist for gist, claims in found.items() if len({claim.rfc for claim in claims}) > 1}
    assert several == set(DISTINGUISHED)


def test_the_lint_judges_as_the_checks_do() -> None:
    """A rule and a check that see the same mutant, and cite the same section, make the same of it."""
    milder = set()
    for rule in all_rules():
        for name, proof in PROOFS:
            if not set(rule.killed_by) & set(proof.killed_by):
                continue
            same = [clause for clause in proof.requirements if clause.citation == rule.requirement.citation]
            if same and all(_is_red(clause) != _is_red(rule.requirement) for clause in same):
                milder.add(rule.name)
                assert rule.name in OTHER_LEVEL, f"{rule.name}: another level than {name}"
    assert milder == set(OTHER_LEVEL)


def test_a_rule_of_the_lint_with_harm_is_binding() -> None:
    """It does not know what a check expected, so a refusal would be red as well."""
    assert [
        rule.name for rule in all_rules() if rule.requirement.harm and not rule.requirement.is_binding
    ] == []


def _is_red(requirement: Requirement) -> bool:
    return requirement.is_binding or requirement.harm is not None


def test_before_of_change_info_is_a_should_in_the_lint_and_in_checks() -> None:
    """A directory may get another value by itself between a GETATTR and the operation."""
    levels = {
        requirement.level
        for _, requirement in _requirements()
        if requirement.citation == "RFC 5661 section 3.3.8"
    }
    assert len(levels) == 1
    (rule,) = (rule for rule in all_rules() if rule.name == "nfs4/change-info-before")
    assert rule.severity == "NONSTRICT"


def test_a_check_of_nfs4_has_a_mutant_for_each_clause() -> None:
    few = [
        name
        for name, proof in PROOFS
        if name.startswith(("suites.nfs4.", "suites.faults."))
        and len(proof.killed_by) < len(proof.requirements)
    ]
    assert [name for name in few if not name.startswith(tuple(OF_SEVERAL))] == []
    elsewhere = [
        (name, str(clause))
        for name, proof in PROOFS
        if name.startswith("suites.nfs4.") and len(proof.requirements) > 1
        for clause in proof.requirements
        if not any(
            _is_near(clause.citation, broken) for mutant in proof.killed_by for broken in BROKEN[mutant]
        )
    ]
    assert [name for name, _ in elsewhere if not name.startswith(tuple(OF_SEVERAL))] == []


def _is_near(citation: str, broken: str) -> bool:
    """Whether one section is the other, or contains it."""
    return f"{citation}.".startswith(f"{broken}.") or f"{broken}.".startswith(f"{citation}.")


def test_each_mutant_breaks_a_clause() -> None:
    """That of a check that proves one clause only, or the one that it declares."""
    assert [name for name, clauses in BROKEN.items() if not clauses] == []


def test_a_mutant_declares_no_clause_that_its_check_has(monkeypatch: pytest.MonkeyPatch) -> None:
    undeclared = tuple(dataclasses.replace(mutant, breaks="") for mutant in all_mutants())
    monkeypatch.setattr(proofs, "all_mutants", lambda: undeclared)
    derived = proofs.broken_clauses()
    assert [mutant.name for mutant in all_mutants() if mutant.breaks and derived[mutant.name]] == []


def test_each_clause_is_broken_by_a_mutant() -> None:
    """It is the first of some check, or of one with as many mutants as clauses; or it says the same in another RFC."""
    mains = {proof.main for _, proof in PROOFS}
    unproved = {
        clause
        for name, proof in PROOFS
        for clause in proof.requirements
        if not name.startswith(tuple(OF_SEVERAL))
        and clause not in mains
        and len(proof.killed_by) < len(proof.requirements)
        and not _is_stated_twice(clause, proof)
    }
    proved = {
        clause
        for _, proof in PROOFS
        if len(proof.killed_by) >= len(proof.requirements)
        for clause in proof.requirements
    }
    missing = [unnamed for unnamed in unproved - proved if not unnamed.gist.startswith(tuple(WITHOUT_MUTANT))]
    assert missing == []


def _is_stated_twice(clause: Requirement, proof: Proof) -> bool:
    """Whether the check proves what two documents, or two sections, say of two versions of a protocol."""
    others = [other for other in proof.requirements if other is not clause]
    return any(other.rfc != clause.rfc or other.gist == clause.gist for other in others)


def test_reasons_are_of_clauses_that_exist() -> None:
    gists = {clause.gist for _, proof in PROOFS for clause in proof.requirements}
    stale = [start for start in WITHOUT_MUTANT if not any(gist.startswith(start) for gist in gists)]
    assert stale == []
    assert [start for start in OF_SEVERAL if not any(name.startswith(start) for name, _ in PROOFS)] == []


def test_the_longest_name_is_as_binding_in_version_3_as_in_version_4() -> None:
    """It is the same fact: PATHCONF (RFC 1813 section 3.3.20) and maxname (RFC 5661 sections 5.2 and 5.8.2.19)."""
    gists = ("name_max is the maximum", "maxname is the maximum")
    levels = [requirement.level for _, requirement in _requirements() if requirement.gist.startswith(gists)]
    assert len(levels) > 1
    assert set(levels) == {Level.SHOULD}


_ALIKE: t.Final[dict[str, tuple[Level, str, str]]] = {
    "large files": (
        Level.SHOULD,
        "suites.nfs3.clauses.MAXFILESIZE_IS_LIMIT",
        "test_limits.FILES_AS_LARGE_AS_SAID",
    ),
    "2 GiB": (
        Level.STATED,
        "suites.nfs3.clauses.TWO_GIB_FIT_BELOW_MAXFILESIZE",
        "test_limits.TWO_GIB_FIT_BELOW_MAXFILESIZE",
    ),
    "late times": (
        Level.SHOULD,
        "suites.nfs3.clauses.STORES_32_BIT_SECONDS",
        "test_setattr_values.SECONDS_HAVE_64_BITS",
    ),
    "guarded": (
        Level.SHOULD,
        "suites.nfs3.test_create.GUARDED_CREATES_ONCE",
        "test_two_clients.GUARDED_CREATES_ONCE",
    ),
    "target": (
        Level.SHOULD,
        "suites.nfs3.test_rename.REPLACES_ATOMICALLY",
        "test_rename.REPLACES_ATOMICALLY",
    ),
    "rename": (Level.MUST, "suites.nfs3.test_rename.RENAMES_ATOMICALLY", "test_rename.RENAMES_ATOMICALLY"),
}
"""Facts that NFSv3 and NFSv4 state in other words: the level, and where each has its clause."""


@pytest.mark.parametrize("fact", _ALIKE)
def test_one_fact_binds_alike_in_versions_3_and_4(fact: str) -> None:
    """A SHOULD has no harm here: with one, it would be as red as a MUST."""
    level, third, fourth = _ALIKE[fact]
    both = [_clause(third), _clause(f"suites.nfs4.{fourth}")]
    assert [requirement.level for requirement in both] == [level, level]
    assert both[0].harm == both[1].harm
    assert [requirement.is_binding or requirement.harm is not None for requirement in both] == [
        level is not Level.SHOULD
    ] * 2


def _clause(name: str) -> Requirement:
    module, _, clause = name.rpartition(".")
    found = getattr(import_module(module), clause)
    assert isinstance(found, Requirement)
    return found

# SPDX-License-Identifier: MIT
"""Declarations of claims: the level, the citations, and those of other versions."""

from __future__ import annotations

import typing as t

import pytest

from nfsjudge import Harm, Level, Part, Proof, Requirement, may, must, running, should, stated
from nfsjudge.outcome import as_spoken

SEEKS: t.Final = must(
    "RFC 5661",
    "18.13.3",
    "LOOKUP finds",
    harm=Harm.DATA,
    also={
        "3": ("RFC 1813", "3.3.3"),
        "4.0": ("RFC 7530", "16.13.4"),
        "2": ("RFC 1094", "2.2.5", Level.SHOULD),
    },
)


def test_the_function_is_the_level() -> None:
    made = [function("RFC 1813", "3.3.7", "a gist") for function in (must, stated, should, may)]
    assert [requirement.level for requirement in made] == [Level.MUST, Level.STATED, Level.SHOULD, Level.MAY]
    assert {(requirement.rfc, requirement.section, requirement.gist) for requirement in made} == {
        ("RFC 1813", "3.3.7", "a gist")
    }


def test_options_are_those_of_the_requirement() -> None:
    made = must("RFC 1813", "3.3.10", "x", part=Part.IMPLEMENTATION, says_must=True, is_general=True)
    assert made == Requirement(
        rfc="RFC 1813",
        section="3.3.10",
        gist="x",
        level=Level.MUST,
        part=Part.IMPLEMENTATION,
        says_must=True,
        is_general=True,
    )


@pytest.mark.parametrize(
    "rfc", ["RFC1813", "rfc 1813", "1813", "RFC 01813", "RFC", "RFC 1813 3.3", "XNFS", ""]
)
def test_an_rfc_of_another_form_is_refused(rfc: str) -> None:
    with pytest.raises(ValueError, match="expected an RFC such as"):
        stated(rfc, "3.3.7", "x")
    with pytest.raises(ValueError, match="expected an RFC such as"):
        stated("RFC 5661", "18.13.3", "x", also={"4.0": (rfc, "16.13.4")})


@pytest.mark.parametrize(
    "section", ["", "3.", ".3", "3..3", "section 3", "3.3.7 ", "a.5", "AB", "0.1", "3-3"]
)
def test_a_section_of_another_form_is_refused(section: str) -> None:
    with pytest.raises(ValueError, match="RFC 1813: expected a section such as"):
        stated("RFC 1813", section, "x")
    with pytest.raises(ValueError, match="RFC 7530: expected a section such as"):
        stated("RFC 5661", "18.13.3", "x", also={"4.0": ("RFC 7530", section)})


@pytest.mark.parametrize("section", ["3", "3.3.7", "18.46.3", "A", "A.5.2", "5.2.0"])
def test_sections_and_appendices_are_accepted(section: str) -> None:
    assert stated("RFC 1813", section, "x").section == section


@pytest.mark.parametrize("version", ["", "v3", "4.", "40", "0", "4.0.1"])
def test_a_version_of_another_form_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match="expected a version such as"):
        stated("RFC 5661", "18.13.3", "x", also={version: ("RFC 7530", "16.13.4")})


def test_a_version_that_repeats_the_citation_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"RFC 5661 section 18\.13\.3: version 4\.2 cites the same section again"
    ):
        must("RFC 5661", "18.13.3", "x", also={"4.2": ("RFC 5661", "18.13.3")})
    milder = must("RFC 5661", "18.13.3", "x", also={"4.2": ("RFC 5661", "18.13.3", Level.SHOULD)})
    assert milder.of("4.2").level is Level.SHOULD


@pytest.mark.parametrize(
    ("version", "citation", "level"),
    [
        ("2", "RFC 1094 section 2.2.5", Level.SHOULD),
        ("3", "RFC 1813 section 3.3.3", Level.MUST),
        ("4.0", "RFC 7530 section 16.13.4", Level.MUST),
        ("4.1", "RFC 5661 section 18.13.3", Level.MUST),
        ("", "RFC 5661 section 18.13.3", Level.MUST),
    ],
)
def test_a_version_has_its_citation_and_the_rest_stays(version: str, citation: str, level: Level) -> None:
    cited = SEEKS.of(version)
    assert (cited.citation, cited.level) == (citation, level)
    assert (cited.gist, cited.harm, cited.also) == (SEEKS.gist, SEEKS.harm, {})
    assert cited.of("3") == cited


def test_the_citations_of_a_claim() -> None:
    assert SEEKS.citations == [
        ("RFC 5661", "18.13.3"),
        ("RFC 1813", "3.3.3"),
        ("RFC 7530", "16.13.4"),
        ("RFC 1094", "2.2.5"),
    ]
    assert len({SEEKS, SEEKS.of("3"), SEEKS.of("4.1")}) == 3


def test_a_proof_of_a_version() -> None:
    of_v3 = Proof((SEEKS, stated("RFC 1813", "2.5", "x")), ("mutant",), ()).of("3")
    assert [requirement.citation for requirement in of_v3.requirements] == [
        "RFC 1813 section 3.3.3",
        "RFC 1813 section 2.5",
    ]
    with running(of_v3):
        assert as_spoken(SEEKS) == of_v3.main
    assert as_spoken(SEEKS) is SEEKS

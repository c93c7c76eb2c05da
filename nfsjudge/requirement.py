# SPDX-License-Identifier: MIT
"""Requirements: the clauses of the RFCs that checks prove."""

from __future__ import annotations

import enum
import re
import typing as t
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from nfsjudge.deviation import OutcomeRecord
from nfsjudge.harm import Harm, harm_done


class Level(enum.StrEnum):
    """How binding a clause is."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"
    STATED = "STATED"
    """A binding rule in plain prose, without a keyword: the usual form in RFC 1813 and RFC 1094."""


class Part(enum.StrEnum):
    """Which part of a procedure's section a clause stands in.

    RFC 1813 section 1 gives IMPLEMENTATION text less authority than the rest.
    """

    DESCRIPTION = "DESCRIPTION"
    IMPLEMENTATION = "IMPLEMENTATION"


class Citation(t.NamedTuple):
    """Where another version of the protocol states a claim, and how binding it is there."""

    rfc: str
    section: str
    level: Level | None = None
    """None: as binding as where the claim is declared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One clause, as `must()`, `stated()`, `should()` and `may()` declare it.

    `gist` says it in our words; `rfc` is written "RFC 1813", or is the name of a paper (`SPRITELY`).
    A clause of an IMPLEMENTATION part is SHOULD at most, unless its text `says_must`.
    A breach that does the declared `harm` is FAIL whatever the level. Nothing breaks a MAY, so it declares none.
    """

    rfc: str
    section: str
    gist: str
    level: Level = Level.STATED
    part: Part = Part.DESCRIPTION
    says_must: bool = False
    harm: Harm | None = None
    """What breaking it does to users, if that is one of these."""
    is_general: bool = False
    """Whether it is about every operation or input: then its breaches come from different defects, and causes are
    known by the operation or the input."""
    also: Mapping[str, Citation] = field(default_factory=dict, hash=False)
    """Version -> where that version states the same. All other versions have `rfc` and `section`."""

    def __post_init__(self) -> None:
        binding = self.level in {Level.MUST, Level.STATED}
        if self.part is Part.IMPLEMENTATION and binding and not self.says_must:
            raise ValueError(
                f"{self.citation}: IMPLEMENTATION is SHOULD at most; says_must is for text that says must"
            )
        if self.level is Level.MAY and self.harm is not None:
            raise ValueError(f"{self.citation}: nothing breaks a MAY, so no breach of it does harm")

    @property
    def citation(self) -> str:
        """Where it stands: "RFC 1813 section 3.3.7"."""
        return f"{self.rfc} section {self.section}"

    @property
    def citations(self) -> list[tuple[str, str]]:
        """RFC and section of each version, the first one first."""
        return [(self.rfc, self.section), *((other.rfc, other.section) for other in self.also.values())]

    def of(self, version: str) -> Requirement:
        """The clause as a version states it ("2", "4.0"): one citation. A version without its own has the first."""
        cited = self.also.get(version)
        if cited is None:
            return replace(self, also={}) if self.also else self
        rfc, section, level = cited
        return replace(self, rfc=rfc, section=section, level=level or self.level, also={})

    @property
    def is_binding(self) -> bool:
        """Whether each breach of it is a FAIL."""
        return self.level in {Level.MUST, Level.STATED}

    def is_red(self, outcome: OutcomeRecord) -> bool:
        """Whether a breach is FAIL rather than NONSTRICT: it breaks a binding clause, or does the harm."""
        return self.is_binding or harm_done(self.harm, outcome) is not None

    def __str__(self) -> str:
        part = " IMPLEMENTATION" if self.part is Part.IMPLEMENTATION else ""
        harm = f", harm {self.harm}" if self.harm is not None else ""
        return f"{self.citation}{part} ({self.level}{harm}): {self.gist}"


Also: t.TypeAlias = Mapping[str, tuple[str, str] | tuple[str, str, Level]]
"""Version -> RFC and section, and the level if it is another one: `{"4.0": ("RFC 7530", "16.13.4")}`."""
SPRITELY: t.Final = "Spritely NFS"
"""V. Srinivasan and J. Mogul, "Spritely NFS: Implementation and Performance of Cache-Consistency Protocols", WRL
Research Report 89/5: what states SNFS, which no RFC does."""
_DOCUMENT: t.Final = re.compile(rf"RFC [1-9][0-9]*|{SPRITELY}")
_SECTION: t.Final = re.compile(r"([1-9][0-9]*|[A-Z])(\.[0-9]+)*")
_VERSION: t.Final = re.compile(r"[1-9](\.[0-9])?")


class Fields(t.TypedDict, total=False):
    """Fields of `Requirement` that a declaration may set."""

    part: Part
    says_must: bool
    harm: Harm | None
    is_general: bool


class Options(Fields, total=False):
    """What a declaration may say in addition."""

    also: Also


def must(rfc: str, section: str, gist: str, **options: t.Unpack[Options]) -> Requirement:
    """A clause with MUST, SHALL or REQUIRED: `must("RFC 5661", "18.46.3", "the gist")`.

    Raises ValueError where a citation has another form: this is about documents that have numbered sections. The
    same holds for the other three functions.
    """
    return _declare(Level.MUST, rfc, section, gist, **options)


def stated(rfc: str, section: str, gist: str, **options: t.Unpack[Options]) -> Requirement:
    """A binding clause in plain prose, without a keyword."""
    return _declare(Level.STATED, rfc, section, gist, **options)


def should(rfc: str, section: str, gist: str, **options: t.Unpack[Options]) -> Requirement:
    """A clause with SHOULD or RECOMMENDED, or one of an IMPLEMENTATION part."""
    return _declare(Level.SHOULD, rfc, section, gist, **options)


def may(rfc: str, section: str, gist: str, **options: t.Unpack[Options]) -> Requirement:
    """A clause with MAY or OPTIONAL: nothing breaks it."""
    return _declare(Level.MAY, rfc, section, gist, **options)


def _declare(
    level: Level, rfc: str, section: str, gist: str, also: Also | None = None, **fields: t.Unpack[Fields]
) -> Requirement:
    _check_citation(rfc, section)
    citations = {version: Citation(*cited) for version, cited in (also or {}).items()}
    for version, cited in citations.items():
        if _VERSION.fullmatch(version) is None:
            raise ValueError(f'also: expected a version such as "3" or "4.0", got {version!r}')
        _check_citation(cited.rfc, cited.section)
        if cited == (rfc, section, None):
            raise ValueError(f"{rfc} section {section}: version {version} cites the same section again")
    return Requirement(rfc=rfc, section=section, gist=gist, level=level, also=citations, **fields)


def _check_citation(rfc: str, section: str) -> None:
    if _DOCUMENT.fullmatch(rfc) is None:
        raise ValueError(f'expected an RFC such as "RFC 1813", got {rfc!r}')
    if _SECTION.fullmatch(section) is None:
        raise ValueError(f'{rfc}: expected a section such as "3.3.7" or "A.5", got {section!r}')


CLOSED_STATUS = stated(
    "RFC 1813", "2.5", "a status is one of those that the RFC defines: no other values may be returned"
)
"""Said in section 2.5, of nfsstat3."""
XDR_STRICT = stated(
    "RFC 4506",
    "3",
    "results are encoded as their type says, with zero padding and nothing after them",
    is_general=True,
)
"""What a reply breaks whose results do not decode."""
RPC_REPLY = stated(
    "RFC 5531", "9", "a reply has the form of an RPC reply and answers a call by its XID", is_general=True
)
"""What a message breaks that is no valid reply."""
CALL_ANSWERED = stated(
    "RFC 1831",
    "3",
    "a server that receives a call computes the results of the procedure and sends a reply",
    is_general=True,
)
"""What a server breaks that drops a well-formed call over TCP, or its connection, while it serves others."""
DATAGRAM_ANSWERED = should(
    "RFC 1831", "3", "a call over UDP should be answered by one of its retransmissions"
)
"""The same over UDP, where a server may drop calls instead of making them wait (RFC 1813 section 2.6, JUKEBOX)."""
SERVER_STAYS = stated(
    "RFC 1831",
    "3",
    "a server that receives a call sends a reply, and then awaits the next call: it does not end",
    harm=Harm.CRASH,
)
"""What a server breaks that dies of a well-formed call, and is started again by its surroundings."""
LENGTHS_ARE_CHECKED = stated(
    "RFC 4506",
    "9",
    (
        "the section asks decoders to check incoming sizes; nfsproof's judgement: a server that takes memory for bytes"
        " which never come can be ended by a call of 60 bytes"
    ),
    harm=Harm.CRASH,
)
"""What a server breaks that takes the memory for a length which a call only announces."""
COUNTS_ARE_CHECKED = stated(
    "RFC 1831",
    "3",
    (
        "a server awaits the next call after a reply; nfsproof's judgement: one that takes memory for a count which it"
        " will not return can be ended by a few such calls"
    ),
    harm=Harm.CRASH,
)
"""The same for a well-formed count, such as that of READ."""
CALL_DECODED = stated(
    "RFC 5531", "9", "GARBAGE_ARGS is for arguments that cannot be decoded, not for well-formed ones"
)
"""What a server breaks that refuses well-formed arguments."""
COMPOUND_IS_SOUND = stated(
    "RFC 5661",
    "16.2.3",
    "a compound has a result for each operation until one fails, and the status of the last of them",
    also={"4.0": ("RFC 7530", "15.2.4")},
)
"""What a compound breaks whose results do not fit its operations."""
SEQUENCE_ECHOES = must(
    "RFC 5661",
    "18.46.3",
    "session id, slot id and sequence id in the result of SEQUENCE equal those in its arguments",
)

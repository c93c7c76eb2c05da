# SPDX-License-Identifier: MIT
"""What the RFCs say that a client does, for NFSv3 and for NFSv4.

A client that silently loses data breaks the clause. One that gives its program an error instead is honest: RFC 1813
leaves it to clients when they give up. So that is a second claim about each clause, of level SHOULD.
"""

from __future__ import annotations

import typing as t
from dataclasses import replace

from nfsjudge import Harm, Level, Part, Requirement, should, stated


class Clauses(t.NamedTuple):
    """What a client does, by the version of NFS."""

    of_nfs3: Requirement
    of_nfs4: Requirement

    def of(self, version: str) -> Requirement:
        """The clause that a client of a version breaks whose data are wrong."""
        return self.of_nfs3 if version == "3" else self.of_nfs4

    @property
    def all(self) -> tuple[Requirement, ...]:
        """Everything that a check of these clauses proves."""
        return tuple(dict.fromkeys([*self, *map(without_errors, self)]))


def without_errors(clause: Requirement) -> Requirement:
    """The clause that a client breaks which ends the work of its program with an error, or never."""
    gist = f"{clause.gist}; nfsproof's judgement: its programs should come to their end, and get no error"
    return replace(clause, gist=gist, level=Level.SHOULD, harm=None)


def _advised(rfc: str, section: str, gist: str) -> Requirement:
    """Of text that only advises: what breaks it loses data, and is red for that."""
    return should(rfc, section, gist, part=Part.IMPLEMENTATION, harm=Harm.DATA)


RETRANSMITS: t.Final = stated(
    "RFC 1813", "4.5", "a client retransmits a request whose connection broke before its reply came"
)
COMES_THROUGH: t.Final = Clauses(
    RETRANSMITS,
    stated(
        "RFC 5661",
        "2.10.6.1",
        "a request without a reply is sent again on a new connection, with its slot and sequence ID",
    ),
)
_MATCHES: t.Final = stated("RFC 5531", "9", "a client matches replies with calls by the XID")
MATCHES_REPLIES: t.Final = Clauses(_MATCHES, _MATCHES)
_RECORDS: t.Final = stated("RFC 5531", "11", "a record is one or more fragments, and TCP divides it anywhere")
READS_RECORDS: t.Final = Clauses(_RECORDS, _RECORDS)
WAITS: t.Final = Clauses(
    stated("RFC 1813", "2.6", "after JUKEBOX the client waits and tries the request with a new XID"),
    stated("RFC 5661", "15.1.1.3", "after DELAY the client waits and sends the request again"),
)
WRITES_THE_REST: t.Final = Clauses(
    _advised("RFC 1813", "3.3.7", "the client writes the rest by another WRITE"),
    _advised("RFC 5661", "18.32.4", "the client writes the rest by another WRITE"),
)
READS_THE_REST: t.Final = Clauses(
    _advised("RFC 1813", "3.3.6", "without eof, the client reads the rest by another READ"),
    _advised("RFC 5661", "18.22.4", "without eof, the client reads the rest by another READ"),
)
WRITES_AGAIN: t.Final = Clauses(
    _advised("RFC 1813", "3.3.21", "after another verf, the client sends data again that was not committed"),
    stated("RFC 5661", "18.32.3", "after another writeverf, the client takes UNSTABLE4 data for lost"),
)
RECLAIMS: t.Final = Clauses(
    RETRANSMITS,
    stated("RFC 5661", "8.4.2.1", "after a restart of the server, the client reclaims its state"),
)

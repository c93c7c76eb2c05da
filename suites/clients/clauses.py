# SPDX-License-Identifier: MIT
"""What the RFCs say that a client does. The first citation is that of NFSv4.1 and 4.2.

A client that silently loses data breaks the clause. One that gives its program an error instead is honest: RFC 1813
leaves it to clients when they give up. So that is a second claim about each clause, of level SHOULD.
"""

from __future__ import annotations

import typing as t
from dataclasses import replace

from nfsjudge import Harm, Level, Part, Requirement, should, stated


def without_errors(clause: Requirement) -> Requirement:
    """The clause that a client breaks which ends the work of its program with an error, or never."""
    gist = f"{clause.gist}; nfsproof's judgement: its programs should come to their end, and get no error"
    also = {version: cited._replace(level=None) for version, cited in clause.also.items()}
    return replace(clause, gist=gist, level=Level.SHOULD, harm=None, also=also)


COMES_THROUGH: t.Final = stated(
    "RFC 5661",
    "2.10.6.1",
    "a client sends a request again whose connection broke before its reply came",
    also={"3": ("RFC 1813", "4.5")},
)
MATCHES_REPLIES: t.Final = stated("RFC 5531", "9", "a client matches replies with calls by the XID")
READS_RECORDS: t.Final = stated(
    "RFC 5531", "11", "a record is one or more fragments, and TCP divides it anywhere"
)
WAITS: t.Final = stated(
    "RFC 5661",
    "15.1.1.3",
    "after DELAY or JUKEBOX the client waits, and tries the request again as a new one",
    also={"3": ("RFC 1813", "2.6")},
)
# What only an IMPLEMENTATION part advises: a client that breaks it loses data, and is red for that.
WRITES_THE_REST: t.Final = should(
    "RFC 5661",
    "18.32.4",
    "the client writes the rest by another WRITE",
    part=Part.IMPLEMENTATION,
    harm=Harm.DATA,
    also={"3": ("RFC 1813", "3.3.7")},
)
READS_THE_REST: t.Final = should(
    "RFC 5661",
    "18.22.4",
    "without eof, the client reads the rest by another READ",
    part=Part.IMPLEMENTATION,
    harm=Harm.DATA,
    also={"3": ("RFC 1813", "3.3.6")},
)
WRITES_AGAIN: t.Final = stated(
    "RFC 5661",
    "18.32.3",
    "after another verifier, the client takes UNSTABLE data that was not committed for lost, and writes it again",
    harm=Harm.DATA,
    also={"3": ("RFC 1813", "3.3.21", Level.SHOULD)},  # an IMPLEMENTATION part
)
GOES_ON: t.Final = stated(
    "RFC 5661",
    "8.4.2.1",
    "after a restart of the server, the client sends its requests again, and reclaims its state if it has any",
    also={"3": ("RFC 1813", "4.5")},
)

# SPDX-License-Identifier: MIT
"""The header of calls (RFC 1831 section 8): unknown programs and procedures, replies instead of calls, truncation."""

from __future__ import annotations

import pytest

from fixtures.checks.side_by_side import Waiting, side_by_side
from fixtures.checks.wire import (
    AUTH_ERROR,
    CLOSED,
    PROC_UNAVAIL,
    PROG_UNAVAIL,
    SILENCE,
    SUCCESS,
    MakeWire,
    Proto,
    words,
)
from nfsjudge import Harm, expect, observe, proves, should, stated
from suites.rpc.parameters import HIGHEST, TRANSPORTS, short

RETURNS_PROG_UNAVAIL = stated(
    "RFC 1831", "7.1", "a server answers PROG_UNAVAIL to a call of a program that it does not serve"
)
RETURNS_PROC_UNAVAIL = stated(
    "RFC 1831", "7.1", "a server answers PROC_UNAVAIL to a call of a procedure that does not exist"
)
REPLIES_TO_CALLS_ONLY = should("RFC 1831", "8", "a server should send a reply only to a call")
REFUSES_TRUNCATED_HEADER = stated(
    "RFC 1831",
    "8",
    "a server does not execute a call that lacks part of its header, up to credential and verifier",
    harm=Harm.SUCCESS,
)


@TRANSPORTS
@pytest.mark.parametrize("program", [0, 0x3FFF_FF42, HIGHEST], ids=["0", "0x3fffff42", "4g-1"])
@proves(RETURNS_PROG_UNAVAIL, killed_by="rpc-treats-unknown-programs-as-nfs")
def test_unknown_program(wire: MakeWire, proto: Proto, program: int) -> None:
    """The server answers a call of an unknown program with PROG_UNAVAIL."""
    peer = wire(proto)
    answer = peer.call(peer.make(prog=program))
    expect(answer.outcome, f"answer to a call of program {program}", of=answer).one_of(
        PROG_UNAVAIL, AUTH_ERROR
    )


PAST_THE_LAST = {2: 18, 3: 22, 4: 2}
"""Version of NFS -> the first procedure number that is not defined."""


@TRANSPORTS
@pytest.mark.parametrize(
    "beyond", [0, 1, 1000, 2**31, HIGHEST], ids=["last+1", "last+2", "last+1001", "last+2g", "4g-1"]
)
@proves(RETURNS_PROC_UNAVAIL, killed_by="rpc-treats-unknown-procedures-as-null")
def test_unknown_procedure(wire: MakeWire, proto: Proto, beyond: int) -> None:
    """The server answers a call of an unknown NFS procedure with PROC_UNAVAIL."""
    peer = wire(proto)
    number = min(PAST_THE_LAST[peer.version] + beyond, HIGHEST)
    answer = peer.call(peer.make(number))
    expect(answer.outcome, f"answer to a call of procedure {number}", of=answer).one_of(
        PROC_UNAVAIL, AUTH_ERROR
    )


@pytest.mark.parametrize("number", [18, 22, HIGHEST], ids=short)
@proves(RETURNS_PROC_UNAVAIL, killed_by="rpc-treats-unknown-procedures-as-null", needs="nfs2")
def test_unknown_procedure_nfs2(wire: MakeWire, number: int) -> None:
    """The server answers a call of an unknown NFSv2 procedure with PROC_UNAVAIL."""
    peer = wire()
    answer = peer.call(peer.make(number, vers=2))
    expect(answer.outcome, f"answer to a call of procedure {number}", of=answer).one_of(
        PROC_UNAVAIL, AUTH_ERROR
    )


# Not 6 and 7: XNFS defines them for versions 1 and 2, and some servers ignore the version when they dispatch.
@pytest.mark.parametrize("number", [8, 100, HIGHEST], ids=short)
@proves(RETURNS_PROC_UNAVAIL, killed_by="mount3-treats-unknown-procedures-as-null", needs="mount")
def test_unknown_procedure_mount(wire: MakeWire, number: int) -> None:
    """The server answers a call of an unknown MOUNT procedure with PROC_UNAVAIL."""
    peer = wire("tcp", "mount")
    answer = peer.call(peer.make(number))
    expect(answer.outcome, f"answer to a call of procedure {number}", of=answer).one_of(
        PROC_UNAVAIL, AUTH_ERROR
    )


@side_by_side
@TRANSPORTS
@proves(REPLIES_TO_CALLS_ONLY, killed_by="rpc-answers-replies")
def test_reply_not_answered(wire: MakeWire, proto: Proto) -> Waiting[None]:
    """The server does not answer a reply message."""
    peer = wire(proto)
    answer = yield from peer.trying(words(0x0BAD_CA11, 1, 0, 0, 0, 0))
    observe("answer", answer.outcome)
    expect(answer.outcome, "answer to a reply message", of=answer).one_of(SILENCE, CLOSED)


@pytest.mark.parametrize("size", [8, 12, 16, 20, 24, 28, 32, 36, 38])
@proves(REFUSES_TRUNCATED_HEADER, killed_by="rpc-pads-short-headers")
def test_truncated(wire: MakeWire, size: int) -> None:
    """The server does not execute a call with a truncated header."""
    peer = wire()
    answer = peer.try_message(peer.make(cred=words(0, 0)).message()[:size])
    observe("answer", answer.outcome)
    expect(answer.outcome, f"answer to the first {size} of 40 bytes of a call", of=answer).satisfies(
        lambda outcome: outcome != SUCCESS, "an error, no reply or a closed connection"
    )

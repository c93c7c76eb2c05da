# SPDX-License-Identifier: MIT
"""Malformed versions of the calls of the catalogue of NFSv3, and what they did."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.wire import PROC_UNAVAIL, SUCCESS, Answer, RawCall, Wire
from nfsclient.clients import Patience
from nfsclient.clients.nfs3 import is_jukebox
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.xdr import XdrType
from nfsclient.xdr.malform import Malformation, malformations
from nfsjudge import expect_that, skip, unsupported
from suites.catalogue import Call
from suites.nfs3.calls import CALLS

NAME: t.Final = b"a name"
"""Its length is not a multiple of four, so XDR pads it."""
_PATIENCE: t.Final = 3.0
"""Seconds of JUKEBOX that a check waits for the call whose malformed versions it sends."""


def each_call(*names: str) -> pytest.MarkDecorator:
    """Parametrize a check with these calls as `call`; with all of the catalogue if no name is given."""
    calls = [CALLS[name] for name in names or CALLS]
    return pytest.mark.parametrize("call", calls, ids=lambda call: call.name)


def need_success(peer: Wire, scratch: Nfs3Scratch, call: Call) -> None:
    """End the check unless the call succeeds with valid arguments."""
    executed(peer, call, call.arranged(scratch, b"no bad").to_xdr())


def executed(peer: Wire, call: Call, args: bytes) -> RawCall:
    """A call with these arguments that succeeded: after JUKEBOX, one with a new xid. Ends the check if none does."""
    made: list[RawCall] = []

    def attempt() -> Answer:
        made.append(peer.make(call.procedure.number, args))
        return peer.call(made[-1])

    patience = Patience.of(peer.client.loop, first=0.001, total=min(_PATIENCE, peer.client.timeout))
    need(call, patience.retry(attempt, partial(_is_put_off, call), attempt()))
    return made[-1]


def _is_put_off(call: Call, answer: Answer) -> bool:
    return answer.outcome == SUCCESS and is_jukebox(answer.decode(call.procedure.res))


def succeeded(call: Call, answer: Answer) -> bool:
    """Whether the reply reports success. Raises `XdrError` if the results do not decode."""
    return answer.outcome == SUCCESS and answer.decode(call.procedure.res).status == Nfsstat3.NFS3_OK


def need(call: Call, answer: Answer) -> None:
    """End the check unless this is a successful reply to the call."""
    procedure = call.procedure
    if answer.outcome == PROC_UNAVAIL:
        unsupported(f"the server answers PROC_UNAVAIL to {procedure.name}")
    if answer.outcome != SUCCESS:
        skip(f"{procedure.name} with valid arguments fails: the answer is {answer.outcome}")
    status = answer.decode(procedure.res).status
    if status == Nfsstat3.NFS3ERR_NOTSUPP:
        unsupported(f"the server answers NOTSUPP to {procedure.name}")
    if status != Nfsstat3.NFS3_OK:
        skip(f"{procedure.name} with valid arguments fails: it answers {status}")


def truncated_encodings(args: XdrType) -> Iterator[Malformation]:
    """Truncated encodings of `args`. Those that lack only zero padding in the last word are left out."""
    whole = args.to_xdr()
    for each in malformations(args):
        missing = whole[len(each.data) :]
        if each.flaw == "truncated" and (len(missing) > 3 or any(missing)):
            yield each


def oversized_lengths(args: XdrType) -> Iterator[Malformation]:
    """Encodings of `args` with a length that exceeds the bytes present, or the limit of its type."""
    return (each for each in malformations(args) if each.flaw in {"length", "limit"})


_HIGHEST: t.Final = b"\xff" * 4


def with_lengths(args: XdrType, malformed: list[Malformation], length: int) -> Iterator[Malformation]:
    """Those of the encodings that have the highest length, with this one instead; for the highest one all of them."""
    words = length.to_bytes(4, "big")
    whole = args.to_xdr()
    for each in malformed:
        if words == _HIGHEST:
            yield each
        elif each.flaw == "length":
            at = next(
                i for i, (bent, right) in enumerate(zip(each.data, whole, strict=False)) if bent != right
            )
            yield each._replace(data=each.data[:at] + words + each.data[at + 4 :])


_FLAWS: t.Final = {
    "truncated": "cut in {}",
    "length": "length of {} beyond the end of the call",
    "limit": "length of {} beyond its limit",
}
"""Flaw -> what is wrong with a field."""
_MOST: t.Final = 5


def expect_no_success(executed: list[tuple[Malformation, Answer]], what: str) -> None:
    """Expect that no malformed call succeeded; `what` says which calls."""
    __tracebackhide__ = True
    flaws = [_FLAWS[each.flaw].format(each.path.partition(".")[2].replace("_.", ".")) for each, _ in executed]
    distinct = [*dict.fromkeys(flaws)]
    more = f", ... ({len(flaws)} calls)" if len(distinct) > _MOST else ""
    expect_that(
        not executed,
        "an error",
        f"success ({', '.join(distinct[:_MOST])}{more})",
        what,
        reply=executed[0][1] if executed else None,
    )


def executed_calls(
    connect: Callable[[], Wire], call: Call, malformed: Iterator[Malformation]
) -> list[tuple[Malformation, Answer]]:
    """Those malformed calls that succeeded. Reconnects when the server closes the connection."""
    executed: list[tuple[Malformation, Answer]] = []
    remaining = list(malformed)
    while remaining:
        peer = connect()
        calls = [peer.make(call.procedure.number, each.data) for each in remaining]
        answers = peer.try_messages([each.message() for each in calls])
        executed += [
            (each, answer)
            for each, answer in zip(remaining, answers, strict=False)
            if succeeded(call, answer)
        ]
        remaining = remaining[len(answers) :]
    return executed

# SPDX-License-Identifier: MIT
"""Errors of the library in the words of the RFCs: what a server answered to a call, or that it did not."""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

from nfsclient.errors import (
    AuthFailed,
    BadPadding,
    BadReply,
    ConnectionLost,
    GarbageArgs,
    NfsClientError,
    ProcUnavail,
    ProgMismatch,
    ProgUnavail,
    RpcMismatch,
    RpcTimeout,
    SystemErr,
    XdrError,
)
from nfsclient.protocol.registry import programs, protocol_of_version
from nfsjudge.deviation import PADDING, Deviation, OutcomeRecord
from nfsjudge.reason import Because, Lack, because
from nfsjudge.terms import CLOSED, SILENCE, plain_path, term_of

_ANSWERS: t.Final[dict[type[Exception], str]] = {
    ProgUnavail: "PROG_UNAVAIL",
    ProgMismatch: "PROG_MISMATCH",
    ProcUnavail: "PROC_UNAVAIL",
    GarbageArgs: "GARBAGE_ARGS",
    SystemErr: "SYSTEM_ERR",
    RpcMismatch: "RPC_MISMATCH",
    AuthFailed: "AUTH_ERROR",
    RpcTimeout: SILENCE,
    ConnectionLost: CLOSED,
    BadReply: "no valid RPC reply",
    XdrError: "results that do not decode",
}
"""Errors that stand for an answer -> its name in RFC 5531, or what came instead."""


def answer_name(error: Exception | type[Exception]) -> str:
    """What came of a call, in short: ``GARBAGE_ARGS``, ``no reply``."""
    kind = error if isinstance(error, type) else type(error)
    return next((_ANSWERS[base] for base in kind.__mro__ if base in _ANSWERS), kind.__name__)


def kind_of(error: Exception) -> Deviation:
    """What kind of deviation an error of the library stands for."""
    match error:
        case XdrError() | BadReply():
            return Deviation.UNDECODABLE
        case RpcTimeout() | ConnectionLost():
            return Deviation.UNANSWERED
        case NfsClientError():
            return Deviation.STATUS
    return Deviation.OTHER


def outcome_of_error(error: NfsClientError, expected: Sequence[str] = ()) -> OutcomeRecord:
    """The fields of what came of a call: its operation, the answer, and of results that do not decode the field."""
    operation = error.exchange.procedure if error.exchange is not None else None
    term = term_of(answer_name(error))
    return OutcomeRecord(
        str(kind_of(error)),
        "" if operation is None else operation.name,
        [*expected],
        PADDING if isinstance(error, BadPadding) else "" if term is None else term.name,
        _field_of(error),
    )


def _field_of(error: NfsClientError) -> str:
    """The field that does not decode, below the type of the results or of the message."""
    if not isinstance(error, XdrError | BadReply):
        return ""
    root, _, path = error.path.partition(".")
    return plain_path(path if root[:1].isupper() else error.path)


def describe_error(error: Exception) -> str:
    """The same in a sentence, with the field and what is wrong with it."""
    if isinstance(error, XdrError) and error.offset >= 0:
        return f"the results do not decode: {describe_xdr_error(error)}"
    return error.seen if isinstance(error, NfsClientError) else str(error)


def reason_of(error: NfsClientError) -> Because:
    """Why a call brought no results, as the reason of a check that cannot be judged because of it."""
    text = describe_error(error)
    called = None if error.exchange is None else error.exchange.procedure
    if called is None:
        return because(Lack.OTHER, text)
    short = text.replace(called.label, called.name)  # numbers of programs are for who debugs a server
    if isinstance(error, ProgUnavail | ProgMismatch):
        title = version_title(called.program, called.version)
        numbers = {"program": called.program, "version": called.version}
        return because(Lack.VERSION, text, short=f"{title} is not served", title=title, **numbers)
    if isinstance(error, ProcUnavail):
        title = version_title(called.program, called.version)
        return because(Lack.OPERATION, text, short=short, title=title, operation=called.name)
    return because(Lack.OTHER, text, short=short)


def version_title(number: int, version: int) -> str:
    """A version of a program, as people write it: ``NFSv3``, ``MOUNT version 1``."""
    protocol, program = protocol_of_version(number, version), programs().get((number, version))
    if protocol is None or program is None:
        return f"program {number} version {version}"
    return protocol.title if len(protocol.programs) == 1 else f"{program.name} version {version}"


def describe_xdr_error(error: XdrError) -> str:
    """Where results do not decode, and why: ``resok.count at byte 12: 3 bytes are missing``."""
    _, _, field = error.path.partition(".")
    return f"{f'{field} at ' if field else ''}byte {error.offset}: {error.detail}"

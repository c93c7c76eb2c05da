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
from nfsjudge.deviation import PADDING, Deviation, OutcomeRecord
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
    return next((_ANSWERS[one] for one in kind.__mro__ if one in _ANSWERS), kind.__name__)


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


def describe_xdr_error(error: XdrError) -> str:
    """Where results do not decode, and why: ``resok.count at byte 12: 3 bytes are missing``."""
    _, _, field = error.path.partition(".")
    return f"{f'{field} at ' if field else ''}byte {error.offset}: {error.detail}"

# SPDX-License-Identifier: MIT
"""Errors of the library in the words of the RFCs: what a server answered to a call, or that it did not."""

from __future__ import annotations

import typing as t

from nfsclient.errors import (
    AuthFailed,
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

_ANSWERS: t.Final[dict[type[Exception], str]] = {
    ProgUnavail: "PROG_UNAVAIL",
    ProgMismatch: "PROG_MISMATCH",
    ProcUnavail: "PROC_UNAVAIL",
    GarbageArgs: "GARBAGE_ARGS",
    SystemErr: "SYSTEM_ERR",
    RpcMismatch: "RPC_MISMATCH",
    AuthFailed: "AUTH_ERROR",
    RpcTimeout: "no reply",
    ConnectionLost: "a closed connection",
    BadReply: "no valid RPC reply",
    XdrError: "results that do not decode",
}
"""Errors that stand for an answer -> its name in RFC 5531, or what came instead."""


def answer_name(error: Exception | type[Exception]) -> str:
    """What came of a call, in short: ``GARBAGE_ARGS``, ``no reply``."""
    kind = error if isinstance(error, type) else type(error)
    return next((_ANSWERS[one] for one in kind.__mro__ if one in _ANSWERS), kind.__name__)


def describe_error(error: Exception) -> str:
    """The same in a sentence, with the field and what is wrong with it."""
    if isinstance(error, XdrError) and error.offset >= 0:
        return f"the results do not decode: {describe_xdr_error(error)}"
    return error.seen if isinstance(error, NfsClientError) else str(error)


def describe_xdr_error(error: XdrError) -> str:
    """Where results do not decode, and why: ``resok.count at byte 12: 3 bytes are missing``."""
    _, _, field = error.path.partition(".")
    return f"{f'{field} at ' if field else ''}byte {error.offset}: {error.detail}"

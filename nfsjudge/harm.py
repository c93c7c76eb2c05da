# SPDX-License-Identifier: MIT
"""Harm: what a breach of a clause does to the users of a server, and which breach does it.

One rule for verdicts (`fixtures.plugin.classify`), the lint and the order of causes (`reports.causes.severity`).
"""

from __future__ import annotations

import enum
import re
import typing as t
from collections.abc import Collection


class Harm(enum.StrEnum):
    """What a breach of a clause does to the users of a server: a breach that does it is FAIL, whatever the level."""

    CRASH = "crash"
    """The server ends, or takes the memory of its machine: nobody is served."""
    DATA = "data"
    """Data that the server has acknowledged is lost or wrong, or is that of another file."""
    SECRET = "secret"  # noqa: S105 - no password
    """The reply has bytes that are not the caller's."""
    OBJECT = "object"
    """An object is changed, replaced or destroyed that the call did not name, or had to keep."""
    SUCCESS = "success"
    """Success for what did not happen, or an error for what did."""


HARMS: t.Final = {
    Harm.CRASH: "the server ends or takes the memory of its machine",
    Harm.DATA: "acknowledged data is lost or wrong",
    Harm.SECRET: "bytes that are not the caller's",
    Harm.OBJECT: "an object is destroyed or replaced that the call had to keep",
    Harm.SUCCESS: "success for what did not happen",
}
"""Each in words, as failure texts have it."""

_ERROR = re.compile(r"(?:NFS(?:3|4|)|MNT3?)ERR_(\w+)|UNKNOWN_\d+ \(")
"""An error as texts have it. The open enumerations of NFSv2 and MOUNT 1 have some without a name, which are UNIX error
numbers (RFC 1094 section 2.3.1)."""
_SUCCESS = "success"
_ANY_ERROR = frozenset({"an error", "a status that the RFC defines"})
_SAYS_GONE = frozenset({"NOENT"})
"""Errors that show the loss of an object; others say only that the server refused to do something with it.

STALE and its like do not: a handle may be revoked at any time (RFC 1813 section 2.5), and the name still be there."""
_NO_RESULT = re.compile(
    r"no reply|a closed connection|(?:SYSTEM_ERR|GARBAGE_ARGS|PROC_UNAVAIL|PROG_\w+|AUTH_ERROR)\b"
)
"""What came instead of results (`nfsjudge.answers`): they were not there, so they were not wrong."""


def is_refusal(expected: Collection[str], observed: str) -> bool:
    """Whether no results came, or an error instead of success or of another error: then nothing wrong was done.

    Instead of success, an error may say that the object is gone, which is a loss and no refusal.
    """
    if _NO_RESULT.match(observed):
        return True
    error = _ERROR.match(observed)
    if error is None or not expected:
        return False
    if _SUCCESS in expected and error[1] in _SAYS_GONE:
        return False
    return all(one == _SUCCESS or one in _ANY_ERROR or _ERROR.match(one) for one in expected)


def harm_done(declared: str | None, expected: Collection[str], observed: str) -> Harm | None:
    """The harm that a breach has done, if its clause has `declared` one by its name; None for a refusal.

    Records may come from strangers, so an unknown name is no harm.
    """
    if not declared or not observed or is_refusal(expected, observed):
        return None
    return next((one for one in Harm if one == declared), None)


def harm_text(declared: str | None, expected: Collection[str], observed: str) -> str:
    """The same for failure texts: ``harm data: acknowledged data is lost or wrong``; empty if none is done."""
    done = harm_done(declared, expected, observed)
    return "" if done is None else f"harm {done}: {HARMS[done]}"

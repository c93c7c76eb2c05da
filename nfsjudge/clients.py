# SPDX-License-Identifier: MIT
"""How clients come through faults: the names that the checks of clients and their reports share."""

from __future__ import annotations

import typing as t

SUBJECT: t.Final = "clients"
"""The first part of the ids: ``clients/lost/reply-lost[write-4.1]``, of plan, work and version."""
_EARLIER: t.Final = "client"
"""That of versions before 0.1.0: ``client/reply-lost/write[4.1]``."""
KEY: t.Final = "outcome"
"""The observation that has the outcome."""
RIGHT: t.Final = "right"
ERROR: t.Final = "error"
STUCK: t.Final = "stuck"
SILENT: t.Final = "ended"
WRONG: t.Final = "wrong data"
UNTOUCHED: t.Final = "untouched"
OUTCOMES: t.Final = {
    RIGHT: "the work was done, and the server has what the client promised",
    ERROR: "the program got an error",
    STUCK: "the program did not end in time",
    SILENT: "the program ended before its end",
    WRONG: "a call ended without an error, and the data are not there or not right",
    UNTOUCHED: "no rule of the plan acted",
}
"""Data that are silently wrong are a FAIL. An error is honest: RFC 1813 lets a client give up."""


class Cell(t.NamedTuple):
    """One work under one plan with one version."""

    plan: str
    work: str
    version: str


def cell_of(check_id: str) -> Cell | None:
    """What an id is about; None if it is of no client."""
    subject, _, rest = check_id.partition("/")
    first, _, rest = rest.partition("/")
    second, bracket, parameters = rest.partition("[")
    parameters = parameters.removesuffix("]")
    if not bracket or subject not in {SUBJECT, _EARLIER}:
        return None
    if subject == _EARLIER:
        return Cell(first, second, parameters)
    work, _, version = parameters.rpartition("-")
    return Cell(second, work, version)

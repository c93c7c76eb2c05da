# SPDX-License-Identifier: MIT
"""How clients come through faults: the names that the runs of `nfsproof clients` and their reports share."""

from __future__ import annotations

import typing as t

from nfsjudge.verdict import Verdict

SUBJECT: t.Final = "client"
"""The first part of the ids: ``client/reply-lost/write[4.1]``, of plan, work and version."""
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
VERDICTS: t.Final = {
    RIGHT: Verdict.PASS,
    ERROR: Verdict.NONSTRICT,
    STUCK: Verdict.NONSTRICT,
    SILENT: Verdict.NONSTRICT,
    WRONG: Verdict.FAIL,
    UNTOUCHED: Verdict.VOID,
}
"""Data that are silently wrong are a FAIL. An error is honest: RFC 1813 lets a client give up."""


class Cell(t.NamedTuple):
    """One work under one plan with one version."""

    plan: str
    work: str
    version: str


def id_of(cell: Cell) -> str:
    """The id of its record."""
    return f"{SUBJECT}/{cell.plan}/{cell.work}[{cell.version}]"


def cell_of(check_id: str) -> Cell | None:
    """What an id is about; None if it is of no client."""
    subject, _, rest = check_id.partition("/")
    plan, _, last = rest.partition("/")
    work, bracket, version = last.partition("[")
    return Cell(plan, work, version.removesuffix("]")) if subject == SUBJECT and bracket else None

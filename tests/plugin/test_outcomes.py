# SPDX-License-Identifier: MIT
"""Records have the outcome in fields: the operation, the statuses and the field, whatever found the deviation."""

from __future__ import annotations

import typing as t

from nfsjudge.deviation import OutcomeRecord
from tests.suites.test_broken_servers import RunOn, _with, run_on

__all__ = ["run_on"]

SHOWN: t.Final = {
    "nfs4/LOOKUP/in-file[4.1]": (
        "lookup4-in-a-file-is-noent",
        OutcomeRecord("status", "LOOKUP", ["NFS4ERR_NOTDIR"], "NFS4ERR_NOENT", "status"),
    ),
    "nfs3/LOOKUP/missing-name": (
        "lookup3-finds-every-name",
        OutcomeRecord("status", "LOOKUP", ["NFS3ERR_NOENT"], "success", "status"),
    ),
    "nfs3/READ/eof-by-size[4096]": (
        "read3-ignores-eof",
        OutcomeRecord("field", "READ", ["TRUE"], "FALSE", "resok.eof"),
    ),
    "nfs3/READ/unaligned-offset": (
        "read3-aligns-offset",
        OutcomeRecord("data", "READ", [], "", "resok.data"),
    ),
    "nfs3/READDIR/all-entries": (
        "readdir3-skips-an-entry",
        OutcomeRecord("names", "READDIR", [], "missing", "resok.entries"),
    ),
    "nfs3/NULL/no-results": (
        "null3-returns-results",
        OutcomeRecord("undecodable", "NULL", ["SUCCESS"]),
    ),
}
"""Check -> a mutant that it catches, and what its record says."""
RIGHT = "nfs3/READ/keeps-mtime"


def test_checks_and_findings_say_in_fields_what_deviates(run_on: RunOn) -> None:
    ended = run_on(_with(*(mutant for mutant, _ in SHOWN.values())), *SHOWN, RIGHT)
    checks = {check.id: check for check in ended.run.checks}
    assert {name: checks[name].outcome for name in SHOWN} == {
        name: outcome for name, (_, outcome) in SHOWN.items()
    }
    assert (checks[RIGHT].verdict, checks[RIGHT].outcome) == ("PASS", None)
    found = {finding.id: finding.outcome for finding in ended.run.findings if finding.check == RIGHT}
    assert found["lint/nfs3/read-eof"] == OutcomeRecord("field", "READ", [], "FALSE", "resok.eof")


def test_a_connection_that_is_closed_is_no_answer(run_on: RunOn) -> None:
    ended = run_on(_with("rpc-closes-on-empty-fragments"), "rpc/fragments/empty[first]")
    (check,) = ended.run.checks
    assert check.outcome == OutcomeRecord("unanswered", "NULL", ["SUCCESS"], "a closed connection")

# SPDX-License-Identifier: MIT
"""Causes are listed by the harm that they do, and each severity is declared once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nfsclient.errors import BadPadding, SystemErr, XdrError
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import show
from nfsjudge.answers import outcome_of_error
from nfsjudge.deviation import Deviation, OutcomeRecord
from nfsjudge.harm import Harm
from nfsjudge.records import (
    AnyRecord,
    CheckRecord,
    FindingRecord,
    RequirementRecord,
    RunRecord,
    from_line,
    to_line,
)
from nfsjudge.terms import outcome_of
from reports.board.data import build
from reports.causes import SEVERITIES, causes
from reports.causes.seen import load_seen
from reports.causes.severity import ORDER, severity_of
from reports.run import from_records

SEEN = Path(__file__).parents[3] / "baselines" / "seen"


def clause(gist: str = "a claim", harm: str = "", level: str = "STATED") -> RequirementRecord:
    return RequirementRecord("RFC 1813", "3.3.6", "DESCRIPTION", level, gist, harm)


def red(
    name: str,
    of: RequirementRecord,
    what: str,
    expected: str,
    observed: str,
    outcome: OutcomeRecord | None = None,
) -> CheckRecord:
    verdict = "NONSTRICT" if of.level == "SHOULD" else "FAIL"
    record = CheckRecord(f"nfs3/READ/{name}", verdict, of, [expected], observed, what=what)
    record.outcome = outcome or outcome_of([expected], observed, what=what)
    return record


def void(reason: str, outcome: OutcomeRecord | None = None) -> CheckRecord:
    return CheckRecord("nfs3/A/b", "VOID", clause(), reason=reason, outcome=outcome)


def died(death: str) -> CheckRecord:
    record = CheckRecord("nfs3/READ/killer", "VOID", clause(), reason="the target is gone: no answer")
    record.death = death
    return record


INVAL, ISDIR, IO, NOENT, STALE, NOTDIR = map(
    show,
    (
        Nfsstat3.NFS3ERR_INVAL,
        Nfsstat3.NFS3ERR_ISDIR,
        Nfsstat3.NFS3ERR_IO,
        Nfsstat3.NFS3ERR_NOENT,
        Nfsstat3.NFS3ERR_STALE,
        Nfsstat3.NFS3ERR_NOTDIR,
    ),
)
LEFT_OVER = "byte 4: 4 bytes are left over"


@pytest.mark.parametrize(
    ("record", "severity"),
    [
        (died("confirmed"), "crash"),
        (void("the target is gone", OutcomeRecord(str(Deviation.DIED))), "crash"),
        (red("stays", clause(harm=Harm.CRASH), "x", "a reply", "-", OutcomeRecord("died")), "crash"),
        (FindingRecord("target/kernel", "nfs3/A/b", "VOID", observed="an oops"), "crash"),
        (red("data", clause(harm="data"), "data at offset 0", "00", "ff"), "data"),
        (red("gone", clause(harm="data"), "status of READ", "success", NOENT), "data"),
        (red("revoked", clause(harm="data"), "status of READ", "success", STALE), "status"),
        (red("refused", clause(harm="data"), "status of READ", "success", IO), "status"),
        (
            red("padded", clause(), "x", "valid XDR", "-", outcome_of_error(BadPadding("A.b", "it", 4))),
            "secret",
        ),
        (red("escape", clause(harm="object"), "names", "none", "'new'"), "object"),
        (red("kept", clause(harm="object"), "status of RMDIR", NOTDIR, "success"), "object"),
        (red("nothing", clause(harm="success"), "uid", "1", "0"), "success"),
        (red("lost", clause(), "answer to a call", "SUCCESS", "no reply"), "silence"),
        (void("the server failed inside", outcome_of_error(SystemErr("READ"))), "silence"),
        (red("status", clause(), "status of READ", INVAL, ISDIR), "status"),
        (red("size", clause(), "size", "1", "2"), "value"),
        (red("form", clause(), "x", "valid XDR", "-", outcome_of_error(XdrError("A.b", "it", 4))), "form"),
        (void("nfsproof has a bug"), "unjudged"),
    ],
)
def test_a_record_has_a_severity(record: CheckRecord | FindingRecord, severity: str) -> None:
    assert severity_of(record) == severity


def test_each_severity_is_declared_once_and_each_harm_is_one() -> None:
    assert len(ORDER) == len(SEVERITIES)
    assert {str(harm) for harm in Harm} <= ORDER.keys()
    assert all(severity.title and severity.why for severity in SEVERITIES)


def test_harm_comes_before_numbers() -> None:
    of_form = OutcomeRecord(str(Deviation.UNDECODABLE))
    many = [red(f"many[{n}]", clause("form"), "results", "valid XDR", LEFT_OVER, of_form) for n in range(9)]
    records = [
        *many,
        red("harmless", clause("a", level="SHOULD"), "status of READ", INVAL, "success"),
        red("wrong", clause("b"), "status of READ", INVAL, "success"),
        red("weak", clause("c", "data", "SHOULD"), "data", "00", "ff"),
        died("once"),
    ]
    found = [(cause.severity, cause.verdict) for cause in causes(records)]
    assert found == [
        ("crash", "VOID"),
        ("data", "NONSTRICT"),
        ("status", "FAIL"),
        ("form", "FAIL"),
        ("status", "NONSTRICT"),
    ]


def test_the_worst_of_a_cause_counts() -> None:
    of = clause(harm="object")
    (cause,) = causes([
        *(red(f"a[{n}]", of, "status of RMDIR", "success", IO) for n in range(3)),
        red("b", of, "names", "'file'", "none"),
    ])  # fmt: skip
    assert (cause.severity, cause.first) == ("object", "nfs3/READ/b")


def test_harm_is_in_records_and_old_records_have_none() -> None:
    line = to_line(red("a", clause(harm="data"), "x", "1", "2"))
    again = from_line(line)
    assert isinstance(again, CheckRecord)
    assert again.requirement is not None
    assert again.requirement.harm == "data"
    plain = json.loads(line)
    del plain["requirement"]["harm"]
    old = from_line(json.dumps(plain))
    assert isinstance(old, CheckRecord)
    assert old.requirement is not None
    assert old.requirement.harm == ""


def test_what_matters_of_a_real_server_comes_first() -> None:
    found = causes(load_seen(SEEN / "go-nfs-0.0.4.json"))
    of: dict[str, int] = {}
    for number, name in enumerate(found):
        for check in name.checks:
            of.setdefault(check.partition("[")[0], number)
    grave = ["nfs3/RMDIR/file-kept", "nfs3/types/symlink-as-directory", "nfs3/handles/replaced-file"]
    assert all(of[harm] < 12 for harm in grave)
    assert all(of[harm] < of["nfs3/FSINFO/hard-links-claimed"] for harm in grave)


def test_a_board_has_the_severities() -> None:
    records: list[AnyRecord] = [RunRecord("one"), red("a", clause(harm="data"), "x", "1", "2")]
    index = build([from_records(records)[-1]], [None]).index
    assert [severity["name"] for severity in index["severities"]] == [
        severity.name for severity in SEVERITIES
    ]
    assert index["causes"][0]["severity"] == index["causes"][0]["of"][0]["severity"] == "data"


def test_the_page_has_the_table_of_severities() -> None:
    page = (SEEN.parents[1] / "docs" / "causes.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `") and line.count("|") == 4]
    wanted = [f"| `{severity.name}` | {severity.title} | {severity.why} |" for severity in SEVERITIES]
    assert [row for row in rows if row in wanted] == wanted

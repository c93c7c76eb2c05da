# SPDX-License-Identifier: MIT
"""Records of one defect are one cause, and records of two are not."""

from __future__ import annotations

import json
import typing as t

import pytest

from fixtures.plugin.evidence import requirement_record
from fixtures.plugin.printed_causes import write_examples
from fixtures.plugin.wrapping import Window
from nfsclient.errors import SystemErr
from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol.nfs3 import Ftype3, Nfsstat3
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import XdrEnum
from nfsjudge import show
from nfsjudge.answers import reason_of
from nfsjudge.deviation import ACCEPTED, LACKED_MEMORY, Deviation, OutcomeRecord
from nfsjudge.reason import fields_of
from nfsjudge.records import (
    CheckRecord,
    FindingRecord,
    RequirementRecord,
    ServerRecord,
    from_line,
    to_line,
)
from nfsjudge.requirement import (
    CALL_ANSWERED,
    COUNTS_ARE_CHECKED,
    LENGTHS_ARE_CHECKED,
    SERVER_STAYS,
    XDR_STRICT,
    Requirement,
)
from nfsjudge.terms import outcome_of, worded
from reports.causes import NewCauses, causes, signature
from tests.reports.causes.reasons_made import failed


def window(lines: list[str]) -> Window:
    """A window that keeps its lines."""
    return Window(lambda line, **_: lines.append(line))


def uncoloured(_: str) -> dict[str, bool]:
    return {}


COUNT = RequirementRecord("RFC 1813", "3.3.16", "DESCRIPTION", "STATED", "the result is at most count bytes")
FORM = requirement_record(XDR_STRICT)
NAMES = RequirementRecord(
    "RFC 1813",
    "3.2",
    "DESCRIPTION",
    "SHOULD",
    "a name with characters that the server cannot handle should be refused",
    is_general=True,
)


def red(
    name: str,
    clause: RequirementRecord,
    what: str,
    expected: str,
    observed: str,
    *,
    verdict: str = "",
    kind: Deviation | None = None,
    operation: str = "",
    field: str | None = None,
) -> CheckRecord:
    record = CheckRecord(name, verdict or ("FAIL" if clause.level == "STATED" else "NONSTRICT"), clause)
    record.expected, record.observed, record.what = [expected], observed, what
    subject = name.split("/")[1]
    operation = operation or (subject if subject.isupper() else "")
    record.outcome = outcome_of([expected], observed, kind=kind, operation=operation, what=what, field=field)
    return record


def undecodable(name: str, operation: str, observed: str, field: str = "") -> CheckRecord:
    record = red(name, FORM, f"results of {operation}", "valid XDR", observed)
    record.outcome = OutcomeRecord(str(Deviation.UNDECODABLE), operation, [ACCEPTED], field=field)
    return record


def test_one_clause_is_one_cause() -> None:
    first = red("nfs3/READDIR/small[88]", COUNT, "size for a count of 88", "at most 88 bytes", "552 bytes")
    other = red("nfs3/READDIR/tiny", COUNT, "size for a count of 16", "at most 16 bytes", "99 bytes")
    (cause,) = causes([first, other])
    assert cause.checks == ["nfs3/READDIR/small[88]", "nfs3/READDIR/tiny"]
    assert cause.line == (
        "READDIR: size for a count of 16 to 88: expected at most 16 to 88 bytes, got 99 to 552 bytes "
        "(RFC 1813 3.3.16): 2 checks"
    )


def test_a_cause_of_a_compound_names_the_operation() -> None:
    clause = RequirementRecord(
        "RFC 5661", "13.1", "DESCRIPTION", "STATED", "one of the combinations of roles"
    )
    roles = [red(f"nfs4/EXCHANGE_ID/roles[{role}]", clause, "roles", "1", "0") for role in ("a", "b")]
    (cause,) = causes(roles)
    assert cause.line == "EXCHANGE_ID: roles: expected 1, got 0 (RFC 5661 13.1): 2 checks"
    placed = red("nfs4/files/file", clause, "cinfo", show(1), show(0), operation="OPEN")
    (cause,) = causes([placed])
    assert cause.line.startswith("OPEN: cinfo: expected 1")
    assert signature(placed) == "RFC 5661 13.1: OPEN: cinfo: expected number, got number"
    status = red("nfs4/x/y", clause, "status of RECLAIM_COMPLETE", "1", "0", operation="RECLAIM_COMPLETE")
    assert causes([status])[0].line.startswith("status of RECLAIM_COMPLETE: expected 1")


def test_one_cause_of_two_versions_has_the_clauses_of_both() -> None:
    ids = {"v2": RequirementRecord("RFC 1094", "2.2", "DESCRIPTION", "STATED", "procedures are synchronous")}
    ids["v3"] = RequirementRecord("RFC 1813", "1.6", "DESCRIPTION", "STATED", "names are stable")
    lost = [
        red(f"recovery/names/links[{version}]", clause, "nlink", "2", "1") for version, clause in ids.items()
    ]
    (cause,) = causes(lost)
    assert cause.line == "nlink: expected 2, got 1 (RFC 1094 2.2, RFC 1813 1.6): 2 checks"


def test_a_clause_about_everything_is_many_causes() -> None:
    left = "byte 108: 8 bytes are left over"
    first = undecodable("nfs3/READDIR/x", "READDIR", left)
    other = undecodable("nfs3/FSSTAT/y", "FSSTAT", left)
    third = undecodable("nfs3/FSSTAT/z", "FSSTAT", "byte 12: 4 bytes are left over")
    assert [len(cause.checks) for cause in causes([first, other, third])] == [2, 1]


def test_parameters_of_one_check_join_operations() -> None:
    left = "byte 108: 8 bytes are left over"
    first = undecodable("nfs3/READDIR/x[readdir]", "READDIR", left)
    other = undecodable("nfs3/READDIR/x[readdirplus]", "READDIRPLUS", left)
    third = undecodable("nfs3/READDIRPLUS/y", "READDIRPLUS", left)
    assert len(causes([first, other, third])) == 1


def test_other_inputs_are_other_causes() -> None:
    first = red("nfs3/names/slash-use[lookup]", NAMES, "status of LOOKUP", "an error", "success")
    other = red("nfs3/names/nul-use[lookup]", NAMES, "status of LOOKUP", "an error", "success")
    assert len(causes([first, other])) == 2


def test_verdicts_are_not_mixed() -> None:
    first = red("nfs3/READDIR/x", COUNT, "size", "1", "2")
    other = red("nfs3/READDIR/y", COUNT, "size", "1", "2", verdict="NONSTRICT")
    assert [cause.verdict for cause in causes([other, first])] == ["FAIL", "NONSTRICT"]


def test_a_rule_joins_the_cause_that_it_sees() -> None:
    check = red("nfs3/READDIR/small[88]", COUNT, "size", "at most 88 bytes", "552 bytes")
    rule = RequirementRecord("RFC 1813", "3.3.16", "DESCRIPTION", "STATED", "worded in another way")
    found = [
        FindingRecord("lint/nfs3/readdir-count", name, "FAIL", rule, observed="too large")
        for name in (check.id, "nfs3/READDIR/other")
    ]
    (cause,) = causes([check, *found])
    assert cause.counts == "1 check, lint readdir-count in 2"
    assert cause.findings == {"lint/nfs3/readdir-count": ["nfs3/READDIR/other", "nfs3/READDIR/small[88]"]}


def test_a_rule_does_not_make_one_cause_of_two() -> None:
    eof = RequirementRecord("RFC 1813", "3.3.16", "DESCRIPTION", "STATED", "eof is TRUE at the end")
    first = red("nfs3/READDIR/a", COUNT, "size", "at most 88 bytes", "552 bytes")
    other = red("nfs3/READDIR/b", eof, "eof", "TRUE", "FALSE")
    rule = RequirementRecord("RFC 1813", "3.3.16", "DESCRIPTION", "STATED", "worded in another way")
    found = [FindingRecord("lint/nfs3/x", name, "FAIL", rule, observed="?") for name in (first.id, other.id)]
    assert len(causes([first, other, *found])) == 3


def test_checks_that_could_not_be_judged_are_grouped_by_reason() -> None:
    sent: dict[str, Procedure[t.Any, t.Any]] = {
        "nfs2/RENAME/x": nfs2.RENAME,
        "nfs3/RENAME/y": nfs3.RENAME,
        "nfs3/CREATE/z": nfs3.CREATE,
    }
    records = []
    for name, procedure in sent.items():
        why = reason_of(failed(procedure, SystemErr(procedure.label)))
        assert "(program 100003 version" in why
        records.append(CheckRecord(name, "VOID", COUNT, reason=str(why), why=fields_of(why)))
    for record in records:
        operation = record.id.split("/")[1]
        record.outcome = OutcomeRecord(str(Deviation.STATUS), operation, seen="SYSTEM_ERR")
    found = causes(records)
    assert [reason.line for reason in found] == [
        "RENAME: the server failed inside (SYSTEM_ERR): 2 checks",
        "CREATE: the server failed inside (SYSTEM_ERR): 1 check",
    ]


def test_what_is_green_has_no_cause() -> None:
    assert causes([CheckRecord("nfs3/A/b", "PASS", COUNT), CheckRecord("nfs3/A/c", "SKIP", reason="x")]) == []


def test_key_and_signature_are_those_of_another_run() -> None:
    def seen(size: int, number: int) -> CheckRecord:
        text = f"size for a count of {number}"
        limit = worded(f"at most {number}", "at most")
        return red("nfs3/A/b", COUNT, text, limit, show(size), operation="READDIR")

    first, other = seen(17, 16), seen(100, 99)
    assert (
        signature(first)
        == signature(other)
        == "RFC 1813 3.3.16: READDIR: size for a count of N: expected at most number, got number"
    )
    assert causes([first])[0].key == causes([other])[0].key


def test_plain_form_is_json() -> None:
    check = red("nfs3/READDIR/small[88]", COUNT, "size", "at most 88 bytes", "552 bytes\x1b[31m")
    (cause,) = causes([check])
    plain = json.loads(json.dumps(cause.to_plain()))
    assert (plain["checks"], plain["counts"]) == ([check.id], "1 check")
    assert "\x1b" not in plain["text"]


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (["from 1 to 100", "from 1 to 65635"], "from 1 to 65635"),
        (["7", "5 to 9", "12"], "5 to 12"),
        (["from 7 to 3", "from 8 to 2"], "from 7 to 3"),
        (["4", "4"], "4"),
    ],
)
def test_a_cause_has_one_range_or_none(seen: list[str], expected: str) -> None:
    records = [red(f"nfs3/READDIR/small[{size}]", COUNT, "size", "less", f"{size} bytes") for size in seen]
    (found,) = causes(records)
    assert found.text == f"READDIR: size: expected less, got {expected} bytes"


def test_what_is_red_stands_for_a_cause() -> None:
    check = red("nfs3/READDIR/small", COUNT, "size", "less", "552 bytes", verdict="NONSTRICT")
    finding = FindingRecord("lint/nfs3/readdir-count", check.id, "FAIL", COUNT, observed="a large page")
    (found,) = causes([check, finding])
    assert (found.verdict, found.checks) == ("FAIL", [check.id])
    assert found.text.endswith("a large page")
    lines: list[str] = []
    write_examples(
        [found],
        [check, finding],
        lambda _: True,
        lambda record: record.verdict == "FAIL",
        window(lines),
        uncoloured,
    )
    assert lines[0] == f"FAIL  {finding.id}"


def test_an_example_is_what_the_run_is_red_for() -> None:
    records = [red(f"nfs3/READDIR/small[{letter}]", COUNT, "size", "less", "552 bytes") for letter in "abc"]
    lines: list[str] = []
    write_examples(
        causes(records),
        records,
        lambda _: True,
        lambda record: record.id.endswith("[c]"),
        window(lines),
        uncoloured,
    )
    assert lines[0] == "FAIL  nfs3/READDIR/small[c]"


def unanswered(name: str, own: RequirementRecord, operation: str = "READ") -> CheckRecord:
    answered = requirement_record(CALL_ANSWERED)
    record = red(name, answered, f"reply to {operation}", "a reply within 10 s", "none")
    record.outcome = OutcomeRecord(str(Deviation.UNANSWERED), operation, [ACCEPTED], "no reply")
    record.requirements = [own]
    return record


def marking(gist: str) -> RequirementRecord:
    return RequirementRecord("RFC 1831", "10", "DESCRIPTION", "STATED", gist)


def test_fragments_that_are_not_put_together_are_one_cause() -> None:
    records = [
        red("rpc/fragments/many[3]", marking("fragments"), "answer to a call", "SUCCESS", "no reply"),
        red(
            "rpc/fragments/empty[1]", marking("may be empty"), "answer to an empty one", "SUCCESS", "no reply"
        ),
        unanswered("faults/transport/pieces[v3-fragments]", marking("in pieces")),
        unanswered("faults/transport/pieces[v3-slow]", marking("in pieces")),
    ]
    (cause,) = causes(records)
    assert cause.first.startswith("rpc/fragments/")
    assert "answer to" in cause.text


def test_a_fifo_that_holds_up_two_procedures_is_one_cause() -> None:
    fifo = [
        unanswered("nfs3/READ/special-file[fifo]", COUNT),
        unanswered("nfs3/SETATTR/fifo-size", NAMES, "SETATTR"),
    ]
    assert len(causes(fifo)) == 1
    assert len(causes([*fifo, unanswered("nfs3/WRITE/offset-overflow", COUNT, "WRITE")])) == 2


def test_a_death_is_one_cause_whenever_it_was_noticed() -> None:
    why = "the server 1.0 ended for lack of memory"
    records = [
        CheckRecord("rpc/arguments/length", "VOID", COUNT, reason=f"the target is gone: {why}"),
        CheckRecord("rpc/garbage/next", "VOID", COUNT, reason=f"the target died after its last reply: {why}"),
    ]
    for record in records:
        record.outcome = OutcomeRecord(str(Deviation.DIED), ended=LACKED_MEMORY)
    assert len(causes(records)) == 1


def test_a_field_that_lint_and_checks_see_is_one_cause() -> None:
    eof = RequirementRecord("RFC 1813", "3.3.6", "DESCRIPTION", "STATED", "READ sets eof at the end")
    stated = RequirementRecord("RFC 1813", "3.3.6", "DESCRIPTION", "STATED", "eof is TRUE at the end")
    count = RequirementRecord("RFC 1813", "3.3.6", "DESCRIPTION", "STATED", "count is at most that asked for")
    checks = [
        red("nfs3/READ/eof-by-size[4096]", eof, "eof", show(True), show(False), field="resok.eof"),
        red("nfs3/READ/count-limit", count, "count", "at most 1", "4"),
    ]
    found = [
        FindingRecord("lint/nfs3/read-eof", f"nfs3/LINK/{n}", "FAIL", stated, ["eof is TRUE"], "READ: FALSE")
        for n in range(9)
    ]
    for cause in found:
        cause.outcome = OutcomeRecord(str(Deviation.FIELD), "READ", seen="FALSE", field="resok.eof")
    whole = causes([*checks, *found])
    records: list[CheckRecord | FindingRecord]
    assert {cause.checks[0]: len(cause.findings) for cause in whole} == {
        "nfs3/READ/eof-by-size[4096]": 1,
        "nfs3/READ/count-limit": 0,
    }
    new, records = NewCauses(), [found[0], *checks]
    assert [new.add(record) for record in records] == [True, False, True]


def test_a_result_that_does_not_decode_is_one_cause_in_all_checks_that_meet_it() -> None:
    def met(name: str, field: str, operation: str = "LINK") -> CheckRecord:
        return undecodable(name, operation, f"{field} at byte 12: needs 4 more bytes, only 0 are left", field)

    link = "resfail.linkdir_wcc.after"
    records = [met("nfs3/LINK/a", link), met("faults/drc/b[v3-link]", link), met("nfs3/FSINFO/links", link)]
    assert [
        len(cause.checks) for cause in causes([*records, met("nfs3/FSSTAT/c", "resok.tbytes", "FSSTAT")])
    ] == [3, 1]


def test_a_rule_joins_no_other_rule_of_its_section() -> None:
    eof = RequirementRecord("RFC 1813", "3.3.6", "DESCRIPTION", "STATED", "eof is TRUE at the end")
    other = RequirementRecord("RFC 1813", "3.3.6", "DESCRIPTION", "STATED", "count is at most that asked for")
    found = [
        FindingRecord("lint/nfs3/read-eof", f"nfs3/LINK/{n}", "FAIL", eof, observed="eof") for n in range(9)
    ]
    found.append(FindingRecord("lint/nfs3/read-count", "nfs3/LINK/1", "FAIL", other, observed="count"))
    assert len(causes(found)) == 2


# ---------------------------------------------------------------- servers that end or grow


def died(name: str, way: str, operation: str, *, announced: int = 0, is_watched: bool = True) -> CheckRecord:
    how = f"process 17 (port 2049) ended with {way} while {operation} (108 bytes) had no reply"
    failed = red(
        name, requirement_record(SERVER_STAYS), "server afterwards", "the server before", f"none: {how}"
    )
    failed.death = "confirmed"
    failed.outcome = OutcomeRecord(str(Deviation.DIED), operation, ended=way, pending=operation)
    if is_watched:
        failed.server = ServerRecord("died", 17, 2049, way, announced=announced)
    return failed


def grew(name: str, requirement: Requirement, operation: str = "") -> CheckRecord:
    what = "memory of the server after a call announced 256 MiB and sent almost nothing of it"
    failed = red(name, requirement_record(requirement), what, "no growth with the length", "256 MiB more")
    failed.outcome = OutcomeRecord(str(Deviation.GREW), operation)
    failed.server = ServerRecord("grew", announced=256 << 20)
    return failed


@pytest.mark.parametrize("is_watched", [True, False])
def test_servers_that_end_in_other_ways_have_other_causes(is_watched: bool) -> None:
    ends = [
        died("nfs3/SETATTR/size", "signal 11 (SIGSEGV)", "SETATTR", is_watched=is_watched),
        died("nfs3/SETATTR/mode", "signal 11 (SIGSEGV)", "SETATTR", is_watched=is_watched),
        died("nfs3/LOOKUP/size", "signal 6 (SIGABRT)", "LOOKUP", is_watched=is_watched),
        died("nfs3/READDIR/size", "exit status 2", "READDIR", is_watched=is_watched),
        died("nfs3/READ/size", "signal 11 (SIGSEGV)", "READ", is_watched=is_watched),
        died("nfs3/READ/mode", "exit status 2", "READ", is_watched=is_watched),
    ]
    found = causes(ends)
    assert sorted(cause.checks for cause in found) == [
        ["nfs3/LOOKUP/size"],
        ["nfs3/READ/mode"],
        ["nfs3/READ/size"],
        ["nfs3/READDIR/size"],
        ["nfs3/SETATTR/mode", "nfs3/SETATTR/size"],
    ]
    assert len({cause.key for cause in found}) == len(found)
    for cause in found:
        assert cause.checks[0].split("/")[1] in cause.text
    shown = NewCauses()
    assert [shown.add(end) for end in ends] == [True, False, True, True, True, True]


@pytest.mark.parametrize("requirement", [LENGTHS_ARE_CHECKED, COUNTS_ARE_CHECKED])
def test_a_server_that_grows_has_a_cause_for_each_operation(requirement: Requirement) -> None:
    records = [
        grew("nfs3/READ/count", requirement, "READ"),
        grew("nfs2/READ/count", requirement, "READ"),
        grew("nfs3/WRITE/count", requirement, "WRITE"),
    ]
    found = causes(records)
    assert sorted(cause.checks for cause in found) == [
        ["nfs2/READ/count", "nfs3/READ/count"],
        ["nfs3/WRITE/count"],
    ]


def test_a_length_that_rpc_believes_is_one_cause_for_each_end() -> None:
    names = [
        f"rpc/{subject}/too-large[{operation}]"
        for subject in ("arguments", "garbage")
        for operation in ("getattr", "write")
    ]
    records = [grew(name, LENGTHS_ARE_CHECKED) for name in names]
    records += [died(f"{name}-2", "exit status 2", "WRITE", announced=64 << 20) for name in names]
    assert [len(cause.checks) for cause in causes(records)] == [4, 4]
    others = [
        died(name, "signal 11 (SIGSEGV)", "GETATTR")
        for name in ("rpc/auth/x[a]", "rpc/auth/x[b]", "rpc/tcp/y")
    ]
    assert sorted(len(cause.checks) for cause in causes(others)) == [1, 2]


# ---------------------------------------------------------------- statuses, whatever their protocol


def status(name: str, section: str, operation: str, expected: XdrEnum, seen: XdrEnum) -> CheckRecord:
    is_v4 = isinstance(seen, Nfsstat4)
    clause = RequirementRecord("RFC 5661" if is_v4 else "RFC 1813", section, "DESCRIPTION", "STATED", section)
    return red(f"nfs{4 if is_v4 else 3}/{name}", clause, "", show(expected), show(seen), operation=operation)


OF_STATUSES = [
    (Nfsstat3.NFS3ERR_NOTDIR, Nfsstat3.NFS3ERR_INVAL, Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_IO),
    (Nfsstat4.NFS4ERR_NOTDIR, Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_BADNAME, Nfsstat4.NFS4ERR_IO),
]


@pytest.mark.parametrize(("notdir", "inval", "other", "io"), OF_STATUSES)
def test_statuses_of_every_version_group_alike(
    notdir: XdrEnum, inval: XdrEnum, other: XdrEnum, io: XdrEnum
) -> None:
    success = type(notdir)(0)
    accepted = [
        status("LOOKUP/in-file", "1", "LOOKUP", notdir, success),
        status("types/file", "2", "LOOKUP", notdir, success),
    ]
    assert len(causes(accepted)) == 1
    assert len(causes([*accepted, status("types/other", "3", "LINK", notdir, success)])) == 2
    many = [status(f"{name}/x", name, "OPEN", inval, success) for name in ("1", "2")]
    assert len(causes(many)) == 2  # INVAL is for many reasons
    wrong = [status("names/a", "4", "LOOKUP", inval, io), status("names/b", "5", "CREATE", other, io)]
    assert len(causes(wrong)) == 1
    assert len(causes([*wrong, status("names/c", "6", "CREATE", success, io)])) == 2


def test_a_type_that_is_wrong_is_one_cause_with_its_rule() -> None:
    wrong = show(Ftype3.NF3FIFO), show(Ftype3.NF3REG)
    of = {name: RequirementRecord("RFC 1813", name, "DESCRIPTION", "STATED", name) for name in "1234"}
    checks = [
        red(
            "nfs3/GETATTR/a", of["1"], "type", *wrong, field="resok.obj_attributes.type", operation="GETATTR"
        ),
        red("nfs3/types/b", of["2"], "type", *wrong, field="resok.obj_attributes.type", operation="GETATTR"),
        red("nfs3/types/c", of["3"], "size", show(1), show(2)),
    ]
    rule = FindingRecord("lint/nfs3/type-made", "nfs3/LINK/x", "FAIL", of["4"], ["type NF3FIFO"], "MKNOD")
    rule.outcome = OutcomeRecord(str(Deviation.FIELD), "MKNOD", [], "NF3REG", "resok.obj_attributes.type")
    found = {cause.first: cause for cause in causes([*checks, rule])}
    assert found["nfs3/GETATTR/a"].checks == ["nfs3/GETATTR/a", "nfs3/types/b"]
    assert list(found["nfs3/GETATTR/a"].findings) == ["lint/nfs3/type-made"]
    assert len(found) == 2


# ---------------------------------------------------------------- records of versions that had no fields


def test_records_without_fields_group_by_clause_and_check_and_reason() -> None:
    other = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "another claim")
    records = [
        red("nfs3/READ/a[1]", COUNT, "size", "1", "2"),
        red("nfs3/WRITE/b", COUNT, "count", "TRUE", "FALSE"),
        red("nfs3/WRITE/c[1]", other, "count", "TRUE", "FALSE"),
        red("nfs3/WRITE/c[2]", FORM, "results of WRITE", "valid XDR", "padding is 7f00, it must be zero"),
        CheckRecord("nfs3/A/b", "VOID", COUNT, reason="the target is gone: process 17 ended"),
        CheckRecord("nfs3/A/c", "VOID", other, reason="the target is gone: process 18 ended"),
    ]
    old = []
    for record in records:
        plain = json.loads(to_line(record))
        del plain["outcome"]
        again = from_line(json.dumps(plain))
        assert isinstance(again, CheckRecord)
        assert again.outcome is None
        old.append(again)
    assert [cause.checks for cause in causes(old)] == [
        ["nfs3/READ/a[1]", "nfs3/WRITE/b"],
        ["nfs3/WRITE/c[1]", "nfs3/WRITE/c[2]"],
        ["nfs3/A/b", "nfs3/A/c"],
    ]
    assert signature(old[0]) == "RFC 1813 3.3.16: READ: nfs3/READ/a"

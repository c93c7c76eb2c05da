# SPDX-License-Identifier: MIT
"""Runs made up for the board: some of everything, some of it hostile, and as many as one likes."""

from __future__ import annotations

import random
import typing as t

from nfsjudge.records import (
    AnyRecord,
    CheckRecord,
    EndRecord,
    FindingRecord,
    MessageRecord,
    ProcedureStatistics,
    RequirementRecord,
    RunRecord,
    StatisticsRecord,
)
from reports.run import Run, from_records

WRITE = RequirementRecord(
    "RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "count is what was written, and no more"
)
ADVICE = RequirementRecord("RFC 1813", "3.3.6", "IMPLEMENTATION", "SHOULD", "a short read is no error")
MNT = RequirementRecord("RFC 1094", "A.5.1", "DESCRIPTION", "MUST", "NULL is answered")

SCRIPT = '<script>window.hurt = "script"</script>'
HURTS = (
    SCRIPT,
    "</script><img src=x onerror=\"window.hurt='image'\">",
    "<!--<script>",
    "]]><svg onload=\"window.hurt='svg'\">",
    "javascript:window.hurt='link'",
    "\u202egnp.exe\u2066 \u2028\u2029 \x1b[31m \x00 \x85",
    "{{ 7 * 7 }} {% raw %} ${window.hurt='template'}",
    "&lt;b&gt; \" ' ` =",
)


def check(
    name: str, verdict: str = "PASS", requirement: RequirementRecord = WRITE, **fields: t.Any
) -> CheckRecord:
    """A record of a check with all details."""
    record = CheckRecord(
        name, verdict, requirement, requirements=[requirement], rerun=f"nfsproof run x '{name}'"
    )
    for key, value in fields.items():
        setattr(record, key, value)
    return record


def message(
    number: int, direction: str, summary: str, *lines: str, deviating: tuple[int, ...] = ()
) -> MessageRecord:
    """One message, a tenth of a second after the one before."""
    return MessageRecord(number, number / 10, direction, summary, list(lines), list(deviating))


TITLE = "WRITE writes no more than it was given"
FAILS = check(
    "nfs3/WRITE/never-more",
    "FAIL",
    title=TITLE,
    expected=["at most 10"],
    observed="count is 11",
    exchanges=1,
    capture="evidence/nfs3/WRITE/never more.pcapng",
    script="evidence/nfs3/WRITE/never-more.py",
    messages=[
        message(1, "call", "WRITE xid 0x1", "offset: 0", "data: 10 bytes"),
        message(1, "reply", "WRITE xid 0x1: NFS3_OK", "status: NFS3_OK (0)", "count: 11", deviating=(1,)),
    ],
)


def ganesha() -> Run:
    """A run with one check of each verdict, a finding, statistics, capabilities and a log."""
    return _run(
        RunRecord(
            "ganesha", "NFS-Ganesha 4.3", {"udp": "yes", "symlink": "refused"}, started="2026-11-21T10:00:00Z"
        ),
        FAILS,
        check("nfs3/WRITE/keeps-data", observations={"verifier": "the same"}),
        check("nfs3/READ/short", "NONSTRICT", ADVICE, expected=["5"], observed="the count is 4"),
        check("nfs3/READ/all", "PASS", ADVICE),
        check("mount/MNT/null", "UNSUPPORTED", MNT, reason="PROG_MISMATCH"),
        check("mount/MNT/rooted", "SKIP", MNT, reason="no root"),
        check(
            "mount/MNT/odd",
            "VOID",
            MNT,
            reason="a bug of ours",
            transcript=["#1 MNT", "  call:", "    a: 1    <-- here"],
        ),
        FindingRecord(
            "lint/nfs3/write-count", "nfs3/WRITE/never-more", "FAIL", WRITE, ["10"], "WRITE: count is 11"
        ),
        StatisticsRecord(
            [
                ProcedureStatistics(
                    "nfs3",
                    "WRITE",
                    1200,
                    1199,
                    1,
                    50000,
                    40000,
                    {"p50": 0.001, "p90": 0.002, "p99": 0.1, "max": 0.5, "mean": 0.01},
                )
            ]
        ),
        EndRecord(1, 12.5, logs=["logs/ganesha.log"]),
    )


def gone_nfs() -> Run:
    """Another run: against `ganesha` a check is broken, one fixed, one with another symptom, one new, one gone."""
    worse = check("nfs3/WRITE/never-more", "FAIL", expected=["at most 10"], observed="count is 4000000000")
    return _run(
        RunRecord("go-nfs", "go-nfs 0.0.4", {"udp": "no answer"}),
        worse,
        check("nfs3/WRITE/keeps-data", "FAIL", expected=["equal data"], observed="other data"),
        check("nfs3/READ/short", "PASS", ADVICE),
        check("nfs3/READ/all", "SKIP", ADVICE, reason="no file"),
        check("mount/MNT/null", "UNSUPPORTED", MNT, reason="PROG_MISMATCH"),
        check("mount/MNT/odd", "VOID", MNT, reason="a bug of ours"),
        check("mount/MNT/brand-new", "PASS", MNT),
        EndRecord(1, 2.0),
    )


def hostile() -> Run:
    """A run in which every text that can come from a server, a file or a user tries to break out."""
    records: list[AnyRecord] = [
        RunRecord(HURTS[0], HURTS[1], {HURTS[2]: HURTS[3]}, version=HURTS[4], environment={"a": SCRIPT})
    ]
    for number, hurt in enumerate(HURTS):
        clause = RequirementRecord(f"RFC {hurt}", hurt, hurt, hurt, hurt)
        record = check(
            f"nfs3/{'write' if number % 2 else hurt.replace('/', '')}/check {hurt}",
            ("FAIL", "VOID", "NONSTRICT", "SKIP")[number % 4],
            clause,
            expected=[hurt],
            observed=hurt,
            reason=hurt,
            observations={hurt: hurt},
            transcript=[f"#1 {hurt}", f"  {hurt}    <-- {hurt}"],
            capture=(
                "../../x",
                "javascript:alert(1)",
                "/etc/passwd",
                "https://example.org/x",
                "..\\x",
                "a//b",
            )[number % 6],
            script=f"evidence/{hurt}" if number % 2 else "evidence/javascript:alert(1)",
            rerun=f"nfsproof run {hurt}\nrm -rf /",
            messages=[message(1, hurt, hurt, hurt, deviating=(0, 7, -1))] if number % 3 == 0 else [],
        )
        records.append(record)
        records.append(
            FindingRecord(f"lint/{hurt}", record.id, "FAIL", clause, [hurt], hurt, transcript=[hurt])
        )
    records.append(StatisticsRecord([ProcedureStatistics(SCRIPT, SCRIPT, 1, 1, 0, 1, 1, {"p50": 0.1})]))
    records.append(
        EndRecord(1, 1.0, note=SCRIPT, logs=[f"logs/{SCRIPT}", "javascript:alert(1)", "../up.log"])
    )
    return _run(*records)


def many(checks: int, targets: int, *, seed: int = 1) -> list[Run]:
    """Runs of many checks with all their messages, for measurements."""
    return [_many(checks, target, random.Random(seed + target)) for target in range(targets)]


def _many(checks: int, target: int, rng: random.Random) -> Run:
    procedures = (
        "getattr",
        "setattr",
        "lookup",
        "access",
        "readlink",
        "read",
        "write",
        "create",
        "mkdir",
        "rename",
    )
    verdicts = ["PASS"] * (30 - 2 * target) + ["FAIL"] * target + ["NONSTRICT", "SKIP", "UNSUPPORTED"]
    records: list[AnyRecord] = [RunRecord(f"server-{target + 1}", f"server {target + 1}, made up")]
    for number in range(checks):
        protocol = ("mount", "nfs2", "nfs3", "rpc")[number * 4 // checks]
        group = f"{procedures[number % 10]}{('', '_ranges', '_errors')[number % 3]}"
        clause = RequirementRecord(
            "RFC 1813",
            f"3.3.{number % 22}",
            "DESCRIPTION",
            ("MUST", "STATED", "SHOULD")[number % 3],
            f"gist number {number % 400} of a clause that says something in so many words",
        )
        verdict = rng.choice(verdicts)
        seen = f"the count of the reply is {rng.randrange(99)}" if verdict != "PASS" else ""
        records.append(
            check(
                f"{protocol}/{group}/does_what_it_is_told_to_do[{number}]",
                verdict,
                clause,
                observed=seen,
                expected=["at most 10"] if seen else [],
                exchanges=4,
                messages=_exchanges(rng),
            )
        )
    records.append(EndRecord(1, 60.0))
    return _run(*records)


def _exchanges(rng: random.Random) -> list[MessageRecord]:
    """Four calls and replies, forty fields each: about what a check of NFSv3 has."""
    lines = [f"{'  ' * (number % 4)}field_{number}: {rng.randrange(1 << 32)}" for number in range(40)]
    return [
        message(number, direction, f"WRITE xid 0x{rng.randrange(1 << 32):08x}", *lines)
        for number in range(1, 5)
        for direction in ("call", "reply")
    ]


def _run(*records: AnyRecord) -> Run:
    return from_records(records)[0]

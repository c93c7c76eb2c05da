# SPDX-License-Identifier: MIT
"""Tables 2 to 7 of the paper on Spritely NFS (Srinivasan and Mogul, 1989).

Measured there: Ultrix, blocks of 4 KB. What has taken Spritely NFS's place is NFSv4.1 with delegations, whose column
stands next to it.

`/etc/update` writes what waits every 30 s, and NFS asks again for attributes that are 3 to 60 s old: the counts of
calls depend on how long the work took. On the machines of the paper it took minutes. So each call of a program takes on
the clock of the client what it took there on average (`pace`): the whole time of the paper with SNFS, divided by the
calls of the program. That clock is the same for all columns of a table, also for NFS, which took longer.
"""

from __future__ import annotations

from collections.abc import Mapping

from workloads.papers.model import (
    Column,
    Figure,
    Kind,
    Paper,
    Plan,
    Reason,
    Row,
    Table,
    all_calls,
    calls,
    calls_in,
    other_calls,
    other_calls_in,
    seconds_of,
    share_of,
)
from workloads.scripts.sort import pace_of

_SIZE = 4096
_NAMED = ("OPEN", "CLOSE", "GETATTR", "SETATTR", "READ", "WRITE", "LOOKUP")
ANDREW_SECONDS, ANDREW_CALLS = 415.0, 2401
SORTS: Mapping[int, tuple[float, int]] = {281: (4.0, 159), 1408: (48.0, 1514), 2816: (127.0, 3025)}
"""By KB: seconds of the paper with SNFS, and calls of the program here."""
_OF_ANDREW: Mapping[str, str] = {"pace": f"{ANDREW_SECONDS / ANDREW_CALLS:.4f}"}
_OF_SORT: Mapping[str, str] = {
    "ends": "0",
    **{pace_of(size): f"{seconds / number:.4f}" for size, (seconds, number) in SORTS.items()},
}
_NFS, _SNFS, _LAZY, _V41, _V3 = "NFS: v2", "SNFS", "SNFS, no update", "v4.1 delegations", "v3"


def _plan(workload: str, version: str, policy: str, parameters: Mapping[str, str]) -> Plan:
    return Plan(workload=workload, version=version, policy=policy, size=_SIZE, parameters=parameters)


def _columns(workload: str, parameters: Mapping[str, str]) -> tuple[Column, ...]:
    """NFS, SNFS, and beyond the paper NFSv4.1 with delegations and v3."""
    return (
        Column(_NFS, _plan(workload, "2", "v2-like", parameters)),
        Column(_SNFS, _plan(workload, "snfs", "spritely", parameters)),
        Column(_V41, _plan(workload, "4.1", "delegated", parameters)),
        Column(_V3, _plan(workload, "3", "v3-like", parameters)),
    )


def _row(name: str, kind: Kind, nfs: float | None, snfs: float | None, measure: object) -> Row:
    return Row(name, kind, (nfs, snfs, None, None), measure)  # type: ignore[arg-type]


_NAMES = Reason(
    ("lookup", "other", "all"),
    ("*",),
    "The paper's clients look up every part of a path; the policies keep names. In NFSv4 OPEN finds the file.",
)
_TREE = Reason(
    ("open", "close", "getattr", "setattr", "read", "write", "lookup", "other", "all"),
    ("*",),
    "The tree of the benchmark is not in the paper: a smaller one is generated, and what Make compiles is imitated. "
    "Only the shares of the calls can be compared.",
)
_PHASES = (
    ("MakeDir", 4.5, 4.3),
    ("Copy", 48, 37),
    ("ScanDir", 52, 55),
    ("ReadAll", 51, 53),
    ("Make", 377, 266),
)
_ANDREW = Table(
    name="tables 2 and 3",
    title="the Andrew benchmark, files and /tmp on the server",
    columns=_columns("andrew", _OF_ANDREW),
    rows=(
        *(_row(name, Kind.SECONDS, nfs, snfs, seconds_of(name)) for name, nfs, snfs in _PHASES),
        _row("total", Kind.SECONDS, 532, 415, seconds_of()),
        _row("open", Kind.CALLS, None, 778, calls("OPEN")),
        _row("close", Kind.CALLS, None, 776, calls("CLOSE")),
        _row("getattr", Kind.CALLS, 933, 311, calls("GETATTR")),
        _row("setattr", Kind.CALLS, 22, 22, calls("SETATTR")),
        _row("read", Kind.CALLS, 1961, 1033, calls("READ")),
        _row("write", Kind.CALLS, 1425, 921, calls("WRITE")),
        _row("lookup", Kind.CALLS, 3543, 3543, calls("LOOKUP")),
        _row("other", Kind.CALLS, 376, 376, other_calls(*_NAMED)),
        _row("all", Kind.CALLS, 8260, 7760, all_calls),
        _row("getattr", Kind.SHARE, 11.3, 4.0, share_of("GETATTR")),
        _row("read", Kind.SHARE, 23.7, 13.3, share_of("READ")),
        _row("write", Kind.SHARE, 17.3, 11.9, share_of("WRITE")),
        _row("lookup", Kind.SHARE, 42.9, 45.7, share_of("LOOKUP")),
    ),
    reasons=(_TREE, _NAMES),
    note="Make without think time is no compilation: its seconds say what the calls cost.",
)


def _sort(
    kilobytes: int, seconds: tuple[float, float], counts: Mapping[str, tuple[int | None, int]]
) -> Table:
    phase = f"{kilobytes} KB"
    measures = {
        "open": calls_in(phase, "OPEN"),
        "close": calls_in(phase, "CLOSE"),
        "getattr": calls_in(phase, "GETATTR"),
        "read": calls_in(phase, "READ"),
        "write": calls_in(phase, "WRITE"),
        "other": other_calls_in(phase, "OPEN", "CLOSE", "GETATTR", "READ", "WRITE"),
        "all": calls_in(phase),
    }
    return Table(
        name="tables 4 and 5" if counts else "table 4",
        title=f"sort of {kilobytes} KB with temporary files on the server",
        columns=_columns("sort", _OF_SORT),
        rows=(
            _row("time", Kind.SECONDS, *seconds, seconds_of(phase)),
            *(_row(name, Kind.CALLS, *both, measures[name]) for name, both in counts.items()),
        ),
        reasons=_SORT_REASONS if counts else (),
    )


_FILES = (
    "How many temporary files the paper has is inferred from its OPENs: two for each file, one of them by the "
    "program that reads it."
)
_SORT_REASONS = (
    Reason(("open", "close"), ("*",), _FILES),
    Reason(
        ("getattr",),
        ("*",),
        "The directory: without attributes of it in replies, each change by a client looks like one by another "
        "client, and "
        "the policy asks for them before it trusts the names in it. With OPEN, no GETATTR is about a file.",
    ),
    Reason(
        ("read",),
        (_NFS,),
        "Temporary files are read back whole: the time of the file has changed by the client's own writes.",
    ),
    Reason(
        ("read",),
        (_SNFS, _V41),
        "No temporary file is read back: the version fits. The paper has one READ for each open of a file, and does "
        "not say "
        "of what.",
    ),
    Reason(
        ("write",),
        (_NFS,),
        "The sizes of the temporary files are inferred: each byte is written twice, and a block more for each file.",
    ),
    Reason(
        ("write",),
        (_SNFS,),
        "What /etc/update finds is written, each 30 s on the clock of the paper; what was removed before it came is "
        "not.",
    ),
    Reason(("write",), (_V41,), "The policy flushes when it closes a file, also with a delegation."),
    Reason(
        ("other", "all"), ("*",), "A sum of what is above, and of calls for names: the policies keep names."
    ),
)
_SORTS = (
    _sort(281, (8, 4), {}),
    _sort(
        1408,
        (105, 48),
        {
            "open": (None, 35),
            "close": (None, 35),
            "getattr": (93, 37),
            "read": (681, 33),
            "write": (729, 706),
            "other": (108, 107),
            "all": (1611, 953),
        },
    ),
    _sort(
        2816,
        (234, 127),
        {
            "open": (None, 68),
            "close": (None, 67),
            "getattr": (150, 70),
            "read": (1340, 67),
            "write": (1452, 1441),
            "other": (203, 207),
            "all": (3145, 1920),
        },
    ),
)

_NFS_PLAN = _plan("sort", "2", "v2-like", _OF_SORT)
_LAZY_PLAN = _plan("sort", "snfs", "spritely-lazy", _OF_SORT)
_TABLE_6 = Table(
    name="table 6",
    title="sort without /etc/update: infinite write-delay",
    columns=(Column(_NFS, _NFS_PLAN), Column(_LAZY, _LAZY_PLAN)),
    rows=(
        Row("time, 1408 KB", Kind.SECONDS, (97, 29), seconds_of("1408 KB")),
        Row("time, 2816 KB", Kind.SECONDS, (246, 69), seconds_of("2816 KB")),
    ),
    note="The paper has 32 s and 69 s with the temporary files on a local disk.",
)
_PHASE = "2816 KB"
_NO_UPDATE = "NFS: v2, no update"
_TABLE_7 = Table(
    name="table 7",
    title="calls of the sort of 2816 KB, with and without /etc/update",
    columns=(
        Column(_NFS, _NFS_PLAN),
        Column(_NO_UPDATE, _NFS_PLAN),
        Column(_SNFS, _plan("sort", "snfs", "spritely", _OF_SORT)),
        Column(_LAZY, _LAZY_PLAN),
    ),
    rows=(
        Row("reads", Kind.CALLS, (1340, 1227, 67, 65), calls_in(_PHASE, "READ")),
        Row("writes", Kind.CALLS, (1452, 1451, 1441, 33), calls_in(_PHASE, "WRITE")),
        Row("others", Kind.CALLS, (353, 368, 412, 407), other_calls_in(_PHASE, "READ", "WRITE")),
    ),
    reasons=(
        Reason(
            ("reads",),
            (_NFS, _NO_UPDATE),
            "Temporary files are read back whole. Why the paper has fewer READs without update, it does not say.",
        ),
        Reason(("reads",), (_SNFS, _LAZY), "No temporary file is read back: the version fits."),
        Reason(
            ("writes",),
            (_NFS, _NO_UPDATE),
            "The sizes of the temporary files are inferred from these counts.",
        ),
        Reason(
            ("writes",),
            (_SNFS,),
            "What /etc/update finds is written, each 30 s on the clock of the paper; what was removed before it came "
            "is not.",
        ),
        Reason(
            ("writes",),
            (_LAZY,),
            "All temporary files are removed before anything is written. The paper has one WRITE for each of its "
            "temporary "
            "files, and does not say of what.",
        ),
        Reason(
            ("others",), ("*",), "The policies keep names, and look at the directory when it has changed."
        ),
    ),
    note="What is called NFS does the same with and without update: it writes when it closes a file.",
)

_SLOWLY: Mapping[str, str] = {"compute": "0.008", "think": "0.05"}
"""Of a machine that computes before each call, and compiles: so the phases have the proportions of the paper."""
_FIGURES = tuple(
    Figure(f"figure {number}", f"server utilization and call rates for {name}", plan)
    for number, name, plan in (
        (1, "NFS", _plan("andrew", "2", "v2-like", _SLOWLY)),
        (2, "SNFS", _plan("andrew", "snfs", "spritely", {**_SLOWLY, **_OF_ANDREW})),
    )
)

PAPER = Paper(
    "spritely",
    "Srinivasan, Mogul: Spritely NFS: Implementation and Performance of Cache-Consistency Protocols, 1989",
    (_ANDREW, *_SORTS, _TABLE_6, _TABLE_7),
    figures=_FIGURES,
)

# SPDX-License-Identifier: MIT
"""Tables 2 to 5 and 7 of the paper on Spritely NFS (Srinivasan and Mogul, 1989).

Measured there: Ultrix, blocks of 4 KB. Spritely NFS itself is not spoken by anybody any more: its modern form is
NFSv4.1 with delegations, whose column stands next to that of SNFS.
"""

from __future__ import annotations

from workloads.papers.model import (
    Column,
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

_SIZE = 4096
_NAMED = ("OPEN", "CLOSE", "GETATTR", "SETATTR", "READ", "WRITE", "LOOKUP")


def _columns(workload: str) -> tuple[Column, ...]:
    """NFS, SNFS as NFSv4.1 with delegations, and v3, which is beyond the paper."""
    plans = [
        Plan(workload=workload, version=version, policy=policy, size=_SIZE)
        for version, policy in (("2", "v2-like"), ("4.1", "delegated"), ("3", "v3-like"))
    ]
    names = ("NFS: v2", "SNFS: v4.1 delegations", "v3")
    return tuple(Column(name, plan) for name, plan in zip(names, plans, strict=True))


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
    columns=_columns("andrew"),
    rows=(
        *(Row(name, Kind.SECONDS, (nfs, snfs, None), seconds_of(name)) for name, nfs, snfs in _PHASES),
        Row("total", Kind.SECONDS, (532, 415, None), seconds_of()),
        Row("open", Kind.CALLS, (None, 778, None), calls("OPEN")),
        Row("close", Kind.CALLS, (None, 776, None), calls("CLOSE")),
        Row("getattr", Kind.CALLS, (933, 311, None), calls("GETATTR")),
        Row("setattr", Kind.CALLS, (22, 22, None), calls("SETATTR")),
        Row("read", Kind.CALLS, (1961, 1033, None), calls("READ")),
        Row("write", Kind.CALLS, (1425, 921, None), calls("WRITE")),
        Row("lookup", Kind.CALLS, (3543, 3543, None), calls("LOOKUP")),
        Row("other", Kind.CALLS, (376, 376, None), other_calls(*_NAMED)),
        Row("all", Kind.CALLS, (8260, 7760, None), all_calls),
        Row("getattr", Kind.SHARE, (11.3, 4.0, None), share_of("GETATTR")),
        Row("read", Kind.SHARE, (23.7, 13.3, None), share_of("READ")),
        Row("write", Kind.SHARE, (17.3, 11.9, None), share_of("WRITE")),
        Row("lookup", Kind.SHARE, (42.9, 45.7, None), share_of("LOOKUP")),
    ),
    reasons=(
        Reason(
            ("open", "close", "getattr", "setattr", "read", "write", "lookup", "other", "all"),
            ("*",),
            "The tree of the benchmark is not in the paper: a smaller one is generated, and what Make "
            "compiles is imitated. Only the shares of the calls can be compared. The paper's clients look up "
            "every part of a path; the policies keep names. A file is opened in NFSv4 without LOOKUP.",
        ),
    ),
    note="Make without think time is no compilation: its seconds say what the calls cost.",
)


def _sort(
    kilobytes: int,
    temporary: int,
    seconds: tuple[float, float],
    counts: dict[str, tuple[int | None, int]],
    note: str = "",
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
        name="tables 4 and 5",
        title=f"sort of {kilobytes} KB, temporary files on the server",
        columns=_columns("sort"),
        rows=(
            Row("time", Kind.SECONDS, (*seconds, None), seconds_of(phase)),
            *(Row(name, Kind.CALLS, (*both, None), measures[name]) for name, both in counts.items()),
        ),
        reasons=(
            Reason(
                tuple(counts),
                ("*",),
                f"Input and output are on the server, too: {kilobytes // 4} of the READs and WRITEs of 4 KB. "
                f"The temporary files together are as large as in the paper ({temporary} KB) or larger, because the "
                "last merge is whole; how many the paper has is not known. "
                f"{note}v2 reads them back, and with delegations no READ is of them, as in the paper.",
            ),
        )
        if counts
        else (),
    )


_SORTS = (
    _sort(281, 304, (8, 4), {}),
    _sort(
        1408,
        2170,
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
        7764,
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
        "Here they have 9472 KB. The WRITEs of the paper have less than its temporary files, if each has 4 KB. ",
    ),
)

PAPER = Paper(
    "spritely",
    "Srinivasan, Mogul: Spritely NFS: Implementation and Performance of Cache-Consistency Protocols, 1989",
    (_ANDREW, *_SORTS),
)

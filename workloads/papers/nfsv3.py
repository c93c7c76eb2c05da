# SPDX-License-Identifier: MIT
"""Figures 2 and 3 and tables 1 and 2 of the paper on NFS version 3 (Pawlowski et al., 1994).

Measured there: Digital OSF/1 on Alpha, FDDI, UDP, 8 KB transfers. Its servers with NVRAM (Presto) are left out of the
columns: what they show is the cost of stable storage, which UNSTABLE and FILE_SYNC show here.
"""

from __future__ import annotations

import dataclasses

from workloads.papers.model import (
    Column,
    Kind,
    Paper,
    Plan,
    Reason,
    Row,
    Table,
    all_bytes,
    all_calls,
    bytes_received,
    bytes_sent,
    calls,
    seconds_of,
    written_per_second,
)


def _figure(
    name: str, workload: str, megabytes: int, window: int, paper: tuple[float, float], note: str
) -> Table:
    v2 = Plan(workload=workload, version="2", transport="udp", window=window)
    unstable = dataclasses.replace(v2, version="3")
    columns = (
        Column("v2", v2),
        Column("v3 UNSTABLE", unstable),
        Column("v3 FILE_SYNC", dataclasses.replace(unstable, stable="file-sync")),
        Column("v4.1 UNSTABLE", dataclasses.replace(unstable, version="4.1", transport="tcp")),
    )
    return Table(
        name=name,
        title=f"{megabytes} MB written, {window} writes at a time",
        columns=columns,
        rows=(
            Row("throughput", Kind.RATE, (*paper, None, None), written_per_second),
            Row("WRITE", Kind.CALLS, (None,) * 4, calls("WRITE")),
            Row("COMMIT", Kind.CALLS, (None,) * 4, calls("COMMIT")),
        ),
        note=f"v2 and v3 over UDP, as in the paper, v4.1 over TCP. {note} The paper prints no calls; {megabytes} MB in "
        f"pieces of 8 KB are {megabytes << 7} WRITEs.",
    )


def _axis(name: str, title: str, plans: dict[str, Plan]) -> Table:
    """What the paper leaves out: the same figure along one axis. Throughput is a part of that of the first column."""
    columns = tuple(Column(each, plan) for each, plan in plans.items())
    nothing = (None,) * len(columns)
    return Table(
        name=name,
        title=title,
        columns=columns,
        rows=(
            Row("throughput", Kind.RATE, nothing, written_per_second),
            Row("WRITE", Kind.CALLS, nothing, calls("WRITE")),
        ),
        note="Beyond the paper.",
    )


_UNSTABLE = Plan(workload="write10", version="3", window=7)
_STABLE = dataclasses.replace(_UNSTABLE, stable="file-sync")
_BOTH = (("UNSTABLE", _UNSTABLE), ("FILE_SYNC", _STABLE))
_SIZES = _axis(
    "figure 2, sizes",
    "10 MB written with v3, 7 writes at a time, by the size of a WRITE",
    {
        f"{name} {size} KiB": dataclasses.replace(plan, size=size << 10)
        for name, plan in _BOTH
        for size in (8, 32, 64, 1024)
    },
)
_WINDOWS = _axis(
    "figure 2, windows",
    "10 MB written with v3 in WRITEs of 8 KB, by how many are under way",
    {
        f"{name} {window}": dataclasses.replace(plan, window=window)
        for name, plan in _BOTH
        for window in (1, 7, 15)
    },
)

_FIGURE_2 = _figure(
    "figure 2",
    "write10",
    10,
    7,
    (320, 2323),
    "The paper's 320 and 2323 KB/s: v2 without NVRAM and write gathering, v3 with asynchronous writes. With both, v2 "
    "had 2346 KB/s. FILE_SYNC stands for v2 on servers without it: the quotient UNSTABLE to FILE_SYNC is the cost of "
    "stable storage.",
)
_FIGURE_3 = _figure(
    "figure 3",
    "write40",
    40,
    15,
    (5022, 6105),
    "The paper's v2 is with NVRAM and write gathering, on four striped disks. v3 with NVRAM had 6425 KB/s.",
)

_V2 = Plan(workload="connectathon-basic", version="2", transport="udp", window=7)
_V3 = dataclasses.replace(_V2, version="3")
_TESTS = (
    ("1 create", "1: create 155 files, 62 directories", 8.39, 8.21, "0.89 with NVRAM"),
    ("2 remove", "2: remove them", 3.71, 3.66, "0.75 with NVRAM"),
    ("3 stat", "3: 500 getwd and stat", 0.81, 0.81, "0.96 with NVRAM"),
    ("4 chmod", "4: 1000 chmod and stat", 11.18, 11.18, "1.06 with NVRAM"),
    ("5a write", "5a: write 1 MB ten times", 12.00, 5.35, "1.00 with NVRAM"),
    ("5b read", "5b: read 1 MB ten times", 1.48, 1.48, "0.99 with NVRAM"),
    ("6 readdir", "6: read 20500 entries", 2.87, 2.79, "0.69 with NVRAM"),
    ("7 link", "7: 200 renames and links", 6.71, 6.71, "0.90 with NVRAM"),
    ("8 symlink", "8: 400 symlinks and readlinks", 6.73, 6.70, "0.78 with NVRAM"),
    ("9 statfs", "9: 1500 statfs", 0.92, 1.50, "1.52 with NVRAM"),
)
_TABLE_1 = Table(
    name="table 1",
    title="Connectathon, the basic tests",
    columns=(
        Column("v2", _V2),
        Column("v3", _V3),
        Column("v4.1", dataclasses.replace(_V2, version="4.1", transport="tcp")),
    ),
    rows=(
        *(
            Row(name, Kind.SECONDS, (v2, v3, None), seconds_of(phase), note)
            for phase, name, v2, v3, note in _TESTS
        ),
        Row("all calls", Kind.CALLS, (13166, 11032, None), all_calls),
    ),
    reasons=(
        Reason(
            ("all calls",),
            ("v2", "v3"),
            "The paper has no calls by test. Its test 3 lasted 0.81 s, as long as some 1,300 calls of its test 9: "
            "getwd went over the wire there, from the directory up to the root, and is local here (2 calls with v2, "
            "none with v3). The rest are LOOKUPs and GETATTRs of what the policy keeps; preparations between "
            "the tests are not counted here.",
        ),
    ),
    note="v2 and v3 over UDP, as in the paper. The tests come from the description in the paper, not from the program. "
    "v4.1 is beyond the paper.",
)

_FIND_2 = Plan(workload="find", version="2", transport="udp")
_FIND_3 = dataclasses.replace(_FIND_2, version="3")
_FIND = (
    Column("v2", _FIND_2),
    Column("v3 READDIRPLUS", _FIND_3),
    Column("v3 READDIR", dataclasses.replace(_FIND_3, plus=False)),
    Column("v4.1 READDIR with attributes", dataclasses.replace(_FIND_2, version="4.1", transport="tcp")),
)
_PAGES = (
    "How many entries fit into a page of 8 KB depends on the lengths of names and handles, and on what the server "
    "leaves free; the paper gives none of them. How many files the large directories have is drawn here."
)
_TABLE_2 = Table(
    name="table 2",
    title="find over 9,612 files in 155 directories",
    columns=_FIND,
    rows=(
        Row("time", Kind.SECONDS, (9.9, 6.3, 12.3, None), seconds_of()),
        Row("GETATTR", Kind.CALLS, (155, 155, 155, None), calls("GETATTR")),
        Row("LOOKUP", Kind.CALLS, (10076, 155, 10076, None), calls("LOOKUP", "LOOKUPP")),
        Row("ACCESS", Kind.CALLS, (0, 310, 310, None), calls("ACCESS")),
        Row("READDIR", Kind.CALLS, (173, 0, 181, None), calls("READDIR")),
        Row("READDIRPLUS", Kind.CALLS, (0, 358, 0, None), calls("READDIRPLUS")),
        Row("STATFS, FSSTAT", Kind.CALLS, (155, 155, 155, None), calls("STATFS", "FSSTAT")),
        Row("all calls", Kind.CALLS, (10559, 1133, 10877, None), all_calls),
        Row("bytes sent", Kind.BYTES, (2108523, 225209, 2214575, None), bytes_sent),
        Row("bytes received", Kind.BYTES, (1973952, 2088284, 3270824, None), bytes_received),
        Row("all bytes", Kind.BYTES, (4082475, 2313493, 5485399, None), all_bytes),
    ),
    reasons=(
        Reason(("READDIR", "READDIRPLUS"), ("*",), _PAGES),
        Reason(("all calls",), ("v3 READDIRPLUS",), "READDIRPLUS alone: all other calls are equal."),
        Reason(
            ("bytes sent", "bytes received", "all bytes"),
            ("*",),
            "The paper counts all protocol headers (UDP, IP, FDDI); here they are the bytes of RPC messages. "
            "Credentials, handles and names have other lengths.",
        ),
    ),
    note="v2 and v3 over UDP, as in the paper. v4.1 has no names . and .. to look up: LOOKUPP stands for the second; "
    "GETATTR stands for FSSTAT as well.",
)

PAPER = Paper(
    "nfsv3",
    "Pawlowski, Juszczak, Staubach, Smith, Lebel, Hitz: NFS Version 3: Design and Implementation, 1994",
    (_FIGURE_2, _SIZES, _WINDOWS, _FIGURE_3, _TABLE_1, _TABLE_2),
)

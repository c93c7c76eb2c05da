# SPDX-License-Identifier: MIT
"""No paper: what the client of the Linux kernel sends for a program, next to what the policies send for it.

The kernel runs in a guest, and mounts the embedded server, which counts the calls. The work is smaller than in the
papers, because the guest may be an emulated machine.
"""

from __future__ import annotations

import dataclasses

from workloads.papers.model import Column, Kind, Paper, Plan, Reason, Row, Table, all_calls, calls

_PROCEDURES = (
    *("GETATTR", "SETATTR", "LOOKUP", "ACCESS", "READLINK", "OPEN", "CLOSE", "READ", "WRITE", "COMMIT"),
    *("CREATE", "MKDIR", "SYMLINK", "REMOVE", "RMDIR", "RENAME", "LINK", "READDIR", "READDIRPLUS", "FSSTAT"),
    *("LOCK", "LOCKU", "FREE_STATEID", "TEST_STATEID", "DELEGRETURN", "LOOKUPP", "OPEN_DOWNGRADE"),
    *("SAVEFH", "SECINFO_NO_NAME", "LAYOUTGET"),
)
_EVERYWHERE = (
    Reason(("all calls",), ("*",), "The sum of the rows above."),
    Reason(
        ("SETATTR",),
        ("*",),
        "The kernel creates exclusively, which sets no attributes (RFC 1813 section 3.3.8), and sets them by a "
        "second call.",
    ),
    Reason(
        ("ACCESS",),
        ("*",),
        "The kernel asks once for a file or a directory, and keeps the answer; it asks for directories in which it "
        "creates, "
        "too. A policy asks at each open, as the clients of the papers did, and not for a directory that it knows.",
    ),
    Reason(
        ("LOOKUP",),
        ("*",),
        "The kernel keeps all names that it has made, listed or removed, and looks up no name before it creates it "
        "exclusively; in NFSv4 it looks files up before it opens them if it wants only their attributes. Some "
        "LOOKUPs of "
        "it lead to the directory of the run.",
    ),
    Reason(
        ("READDIR", "READDIRPLUS"),
        ("*",),
        "The kernel asks for larger pages than 8 KB, and decides itself for each directory whether it wants "
        "attributes.",
    ),
    Reason(
        ("READ",),
        ("*",),
        "The kernel reads ahead: it divides the data of a file in other pieces than the program.",
    ),
    Reason(
        ("GETATTR",),
        ("*",),
        "The kernel takes the attributes that come with other replies, and asks for those that it keeps when they "
        "are old. "
        "A policy asks at each open.",
    ),
)


def _column(plan: Plan, name: str) -> Column:
    return Column(name, plan, reference=dataclasses.replace(plan, client="linux", policy="like"))


def _columns(plan: Plan) -> tuple[Column, ...]:
    v4 = dataclasses.replace(plan, version="4.1")
    return (
        _column(dataclasses.replace(plan, version="3"), "v3"),
        _column(dataclasses.replace(v4, knobs={"delegations": "none"}), "v4.1"),
        _column(dataclasses.replace(v4, policy="delegated"), "v4.1 delegations"),
    )


def _table(title: str, plan: Plan, reasons: tuple[Reason, ...], columns: tuple[Column, ...] = ()) -> Table:
    columns = columns or _columns(plan)
    nothing = (None,) * len(columns)
    return Table(
        name=plan.workload,
        title=title,
        columns=columns,
        rows=(
            *(Row(name, Kind.CALLS, nothing, calls(name)) for name in _PROCEDURES),
            Row("all calls", Kind.CALLS, nothing, all_calls),
        ),
        reasons=(*reasons, *_EVERYWHERE),
        theirs="kernel",
        ours="policy",
    )


_WRITE = Plan(workload="write10", version="3", size=65536, window=7)
_FIND = Plan(workload="find", version="3", size=65536, parameters={"files": "600", "directories": "20"})
_ANDREW = Plan(workload="andrew", version="3", size=65536)
_BASIC = Plan(
    workload="connectathon-basic",
    version="3",
    size=65536,
    parameters={
        "stats": "100",
        "chmods": "100",
        "rounds": "2",
        "entries": "60",
        "renames": "40",
        "symlinks": "40",
        "statfs": "50",
    },
)
_LOCKS = Plan(workload="lockedreads", version="4.1", size=65536, clients=1, parameters={"files": "20"})

_COMMITS = Reason(
    ("COMMIT",),
    ("*",),
    "What fits into one WRITE, the kernel writes with FILE_SYNC, so that it needs no COMMIT. With a write "
    "delegation, it "
    "may write after the close.",
)

PAPER = Paper(
    "clients",
    "The client of the Linux kernel next to the policies",
    (
        _table(
            "10 MB written in pieces of 8 KB, and closed",
            _WRITE,
            (
                Reason(
                    ("WRITE", "COMMIT", "CLOSE"),
                    ("v4.1 delegations",),
                    "With a write delegation, the kernel need not write at close, and writes later; it has closed "
                    "the file "
                    "after the end of the phase. The policy flushes at close.",
                ),
            ),
        ),
        _table(
            "600 files in 20 directories",
            _FIND,
            (
                Reason(
                    ("LOOKUPP",),
                    ("*",),
                    "The kernel knows the parent of a directory. In the policy it stands for the name `..`.",
                ),
            ),
        ),
        _table("70 files of 200 KB together", _ANDREW, (_COMMITS,)),
        _table(
            "the basic tests with smaller numbers",
            _BASIC,
            (
                _COMMITS,
                Reason(("READLINK",), ("*",), "The kernel keeps the text of a link that it has made."),
                Reason(
                    ("WRITE", "DELEGRETURN"),
                    ("v4.1 delegations",),
                    "When the kernel writes and gives a delegation back is not bound to the close: some of it "
                    "falls into "
                    "another phase.",
                ),
            ),
        ),
        _table("20 files, ten times each, by one client", _LOCKS, (), _columns(_LOCKS)[1:]),
    ),
    only_on="embedded",
)

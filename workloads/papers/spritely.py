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

from collections.abc import Mapping, Sequence

from workloads.papers.model import (
    Column,
    Count,
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
REMOTE, LOCAL = (415.0, 2401), (384.0, 2056)
"""Seconds of the paper with SNFS, and calls of the program here: `andrew` with `/tmp` on the server, and local."""
SORTS: Mapping[int, tuple[float, int]] = {281: (4.0, 159), 1408: (48.0, 1514), 2816: (127.0, 3025)}
"""The same of `sort`, by KB."""


def pace(seconds: float, number: int) -> str:
    """What a call takes, as a parameter."""
    return f"{seconds / number:.4f}"


_OF_SORT: Mapping[str, str] = {"ends": "0", **{pace_of(size): pace(*each) for size, each in SORTS.items()}}
_NFS, _SNFS, _LAZY, _V41, _V3 = "NFS: v2", "SNFS", "SNFS, no update", "v4.1 delegations", "v3"
_ON_DISK = Column(
    "local disk", None, "no file is on a server, so there is nothing to measure; the paper's numbers"
)
_CLOCK = (
    "The clock of every client here goes on with the calls of its program, in all columns alike: each takes the time "
    "of the paper with SNFS, divided by the calls of the program."
)
_NEWER = (
    "v4.1 with delegations and v3 are not in the paper. The policy of v4.1 opens a delegated file again without a "
    "call, and writes when a file is closed; with a delegation to write it could wait, as SNFS does (RFC 5661 section "
    "10.4.1)."
)


def _plan(workload: str, version: str, policy: str, parameters: Mapping[str, str]) -> Plan:
    return Plan(workload=workload, version=version, policy=policy, size=_SIZE, parameters=parameters)


def _columns(workload: str, parameters: Mapping[str, str]) -> tuple[Column, Column]:
    """NFS and SNFS."""
    return (
        Column(_NFS, _plan(workload, "2", "v2-like", parameters)),
        Column(_SNFS, _plan(workload, "snfs", "spritely", parameters)),
    )


def _newer(workload: str, parameters: Mapping[str, str]) -> tuple[Column, Column]:
    """Beyond the paper: NFSv4.1 with delegations, and v3."""
    return (
        Column(_V41, _plan(workload, "4.1", "delegated", parameters)),
        Column(_V3, _plan(workload, "3", "v3-like", parameters)),
    )


# ---------------------------------------------------------------- tables 2 and 3

_ANDREW_REASONS = (
    Reason(
        ("open", "close", "getattr", "read", "write", "lookup", "other", "all"),
        ("*",),
        "The tree of the benchmark is not in the paper, and what Make compiles is imitated: files, bytes and calls of "
        "programs are not as many as there. The shares of the calls say more.",
    ),
    Reason(
        ("setattr",), ("*",), "No program here sets attributes. Which one did in the paper, it does not say."
    ),
    Reason(
        ("read",),
        ("*",),
        "The compiler of the paper was on the server, too (section 5.2), and was read from there; here no program is "
        "loaded.",
    ),
    Reason(
        ("getattr",),
        (_NFS,),
        "NFS in the paper sends GETATTR at each open (section 5.1); here LOOKUP brings the attributes, if it was sent.",
    ),
    Reason(
        ("lookup", "share of lookup"),
        ("*",),
        "The paper's clients keep names of directories at most (its footnote 9), and look programs up, too; the "
        "policies keep all names until the directory changes.",
    ),
    Reason(
        ("share of getattr", "share of read", "share of write"),
        ("*",),
        "There are fewer LOOKUPs among the calls here, since the policies keep names, and no READs of a compiler: so "
        "the rest has a larger share. Most files here have one block, so READs and WRITEs have a smaller one.",
    ),
)
_PHASES = ("MakeDir", "Copy", "ScanDir", "ReadAll", "Make")
_CALLS = ("open", "close", "getattr", "setattr", "read", "write", "lookup")
_Printed = tuple[float | None, ...]


def _andrew(
    title: str, columns: Sequence[Column], seconds: Sequence[_Printed], counts: Sequence[_Printed], note: str
) -> Table:
    """`seconds`: of the phases and together; `counts`: of `_CALLS`, all others, and together. For the first columns."""

    def row(name: str, kind: Kind, numbers: _Printed, measure: Count) -> Row:
        return Row(name, kind, (*numbers, *(None,) * (len(columns) - len(numbers))), measure)

    named, (other, every) = counts[: len(_CALLS)], counts[len(_CALLS) :]
    shares = (
        (
            name,
            tuple(
                round(100 * (part or 0) / (whole or 1), 1) for part, whole in zip(each, every, strict=True)
            ),
        )
        for name, each in zip(_CALLS, named, strict=True)
        if name in {"getattr", "read", "write", "lookup"}
    )
    return Table(
        name="tables 2 and 3",
        title=title,
        columns=tuple(columns),
        rows=(
            *(
                row(name, Kind.SECONDS, numbers, seconds_of(name))
                for name, numbers in zip(_PHASES, seconds, strict=False)
            ),
            row("total", Kind.SECONDS, seconds[-1], seconds_of()),
            *(
                row(name, Kind.CALLS, numbers, calls(name.upper()))
                for name, numbers in zip(_CALLS, named, strict=True)
            ),
            row("other", Kind.CALLS, other, other_calls(*_NAMED)),
            row("all", Kind.CALLS, every, all_calls),
            *(
                row(f"share of {name}", Kind.SHARE, numbers, share_of(name.upper()))
                for name, numbers in shares
            ),
        ),
        reasons=_ANDREW_REASONS,
        note=note,
    )


_WHAT_SECONDS_SAY = (
    "Make has no think time, so it is no compilation. Without a disk, seconds are those of calls and of the cache of "
    "the client: where most files have one block, OPEN and CLOSE are more calls than SNFS saves. What waits in a "
    "client at the end of Make is written there: in the paper the next run paid for it (section 5.2)."
)
_REMOTE, _LOCAL = {"pace": pace(*REMOTE)}, {"pace": pace(*LOCAL), "tmp": "0"}
_ANDREW_TABLES = (
    _andrew(
        "the Andrew benchmark with its files and /tmp on the server",
        (*_columns("andrew", _REMOTE), *_newer("andrew", _REMOTE)),
        ((4.5, 4.3), (48, 37), (52, 55), (51, 53), (377, 266), (532, 415)),
        (
            (None, 778), (None, 776), (933, 311), (22, 22), (1961, 1033), (1425, 921), (3543, 3543), (376, 376),
            (8260, 7760),
        ),
        f"{_WHAT_SECONDS_SAY} {_CLOCK} {_NEWER}",
    ),
    _andrew(
        "the Andrew benchmark with its files on the server and /tmp local",
        (*_columns("andrew", _LOCAL), _ON_DISK),
        ((4.6, 4.6, 4.7), (48, 35, 24), (52, 55, 43), (50, 53, 37), (303, 237, 215), (457, 384, 322)),
        (
            (None, 700), (None, 700), (757, 225), (22, 22), (1130, 699), (868, 590), (3345, 3345), (273, 273),
            (6395, 6554),
        ),
        f"Temporaries on a disk of the client need no call, and take no time here. {_CLOCK}",
    ),
)  # fmt: skip

# ---------------------------------------------------------------- tables 4 to 7

_STORAGE = "temporary storage, KB"


def _kilobytes_in(phase: str) -> Count:
    """What the programs have written: with `ends=0` to temporaries only."""
    return lambda result: sum(each.written for each in result.phases if each.name == phase) / 1024


def _sort(
    kilobytes: int, storage: int, seconds: _Printed, counts: Mapping[str, tuple[int | None, int]]
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
    none = (None, None, None)
    return Table(
        name="tables 4 and 5" if counts else "table 4",
        title=f"sort of {kilobytes} KB with temporary files on the server",
        columns=(*_columns("sort", _OF_SORT), _ON_DISK, *_newer("sort", _OF_SORT)),
        rows=(
            Row("time", Kind.SECONDS, (*seconds, None, None), seconds_of(phase)),
            Row(_STORAGE, Kind.BYTES, (storage, storage, *none), _kilobytes_in(phase)),
            *(Row(name, Kind.CALLS, (*both, *none), measures[name]) for name, both in counts.items()),
        ),
        reasons=_SORT_REASONS if counts else (_ONCE,),
        note=f"{_CLOCK} {_NEWER}",
    )


_ONCE = Reason(
    (_STORAGE,),
    ("*",),
    "Each byte is written once, as runs that the last pass reads. What else the paper has stored, it does not say.",
)
_NAMES_OF_FILES = (
    "For each temporary file there are four calls about names here: LOOKUP and CREATE, LOOKUP after the directory has "
    "changed, REMOVE. The paper has six, and does not say of what."
)
_SORT_REASONS = (
    Reason(
        (_STORAGE,),
        ("*",),
        "The storage of table 4 and the WRITEs of table 5 do not agree in the paper: 729 blocks of 4 KB are 2916 KB "
        "and not 2170, 1452 are 5808 KB and not 7764. The program follows the WRITEs.",
    ),
    Reason(
        ("open", "close"),
        ("*",),
        "How many temporary files the paper has is inferred from its OPENs: two for each file, one of them by the "
        "program that reads it.",
    ),
    Reason(
        ("getattr",),
        (_NFS,),
        "NFS in the paper sends GETATTR at each open (section 5.1); here LOOKUP brings the attributes. What remains is "
        "about the directory, which looks changed after each CREATE and REMOVE of the client itself.",
    ),
    Reason(
        ("getattr",),
        (_SNFS,),
        "With OPEN, no GETATTR is about a file. It is about the directory, which looks changed after each CREATE and "
        "REMOVE of the client itself; how many files the paper has is inferred.",
    ),
    Reason(
        ("read",),
        (_NFS,),
        "Temporary files are read back whole, since the client's own writes have changed their time. The paper has "
        "fewer READs than WRITEs, and does not say why.",
    ),
    Reason(
        ("read",),
        (_SNFS,),
        "No temporary file is read back: the version fits. The paper has one READ for each open of a file, and does "
        "not say of what.",
    ),
    Reason(
        ("write",),
        (_NFS,),
        "The sizes of the temporary files are inferred: each byte is written twice, and a file may end in a block that "
        "is not full.",
    ),
    Reason(
        ("write",),
        (_SNFS,),
        "/etc/update comes once or twice in the 48 s of this sort, here once, 30 s after its beginning, and finds what "
        "is not removed. When it comes is chance: 199 to 643 blocks are written here, depending on that. In the paper "
        "it had found nearly all.",
    ),
    Reason(("other",), ("*",), _NAMES_OF_FILES),
    Reason(("all",), ("*",), "The sum of the rows above."),
)
_SORT_TABLES = (
    _sort(281, 304, (8, 4, 4), {}),
    _sort(
        1408,
        2170,
        (105, 48, 33),
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
        (234, 127, 74),
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
    columns=(Column(_NFS, _NFS_PLAN), Column(_LAZY, _LAZY_PLAN), _ON_DISK),
    rows=(
        Row("time, 1408 KB", Kind.SECONDS, (97, 29, 32), seconds_of("1408 KB")),
        Row("time, 2816 KB", Kind.SECONDS, (246, 69, 69), seconds_of("2816 KB")),
    ),
    note=_CLOCK,
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
            (_LAZY,),
            "All temporary files are removed before anything is written. The paper has one WRITE for each of its "
            "temporary files, and does not say of what.",
        ),
        Reason(("others",), ("*",), _NAMES_OF_FILES),
        Reason(
            ("others",),
            (_NFS, _NO_UPDATE),
            "NFS in the paper also sends GETATTR at each open; here LOOKUP brings the attributes.",
        ),
    ),
    note=f"What is called NFS does the same with and without update: it writes when it closes a file. {_CLOCK}",
)

_SLOWLY: Mapping[str, str] = {"compute": "0.008"}
"""Before each call the program computes, so that there are samples enough."""
_TIMES = (
    "From a run on the embedded server in another process. Time is the clock of the client: with each call of the "
    "program it goes on by the time that the paper took in all, divided by the calls of the program. So /etc/update "
    "comes each 30 s of the picture. Processor time is that of the machine of the server, for each second of that "
    "clock."
)
_FIGURES = tuple(
    Figure(f"figure {number}", f"server utilization and call rates for {name}", plan, _TIMES)
    for number, name, plan in (
        (1, "NFS", _plan("andrew", "2", "v2-like", {**_SLOWLY, "pace": pace(532, REMOTE[1])})),
        (2, "SNFS", _plan("andrew", "snfs", "spritely", {**_SLOWLY, **_REMOTE})),
    )
)

PAPER = Paper(
    "spritely",
    "Srinivasan, Mogul: Spritely NFS: Implementation and Performance of Cache-Consistency Protocols, 1989",
    (*_ANDREW_TABLES, *_SORT_TABLES, _TABLE_6, _TABLE_7),
    figures=_FIGURES,
)

# SPDX-License-Identifier: MIT
"""Locked reads and recalled delegations of the study of NFSv4.1 (Chen et al., 2015), table 1 and section 5.3.

Measured there: five clients with Linux 3.12, 10 GbE. An operation of its table 1 is a compound, by what it is for.
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
    all_calls_of_each_client,
    calls_of_each_client,
    per_file,
    seconds_of,
)

_OFF = Plan(workload="lockedreads", version="4.1", policy="v4-like", size=65536, clients=5, lint=64)
_ON = dataclasses.replace(_OFF, policy="delegated")
_OPERATIONS: tuple[tuple[str, int, int, int], ...] = (
    ("OPEN", 0, 10001, 1000),
    ("READ", 10000, 10000, 1000),
    ("CLOSE", 0, 10001, 1000),
    ("ACCESS", 10003, 9003, 3),
    ("GETATTR", 19003, 19002, 1),
    ("LOCK", 10000, 10000, 0),
    ("LOCKU", 10000, 10000, 0),
    ("LOOKUP", 1002, 2, 2),
    ("FREE_STATEID", 0, 10000, 0),
)
_TABLE_1 = Table(
    name="table 1",
    title="locked reads of 1000 files by five clients, operations of each client",
    columns=(
        Column("v3", None, "locks of NFSv3 need the lock managers (NLM), which nfsproof does not have yet"),
        Column("v4.1", _OFF),
        Column("v4.1 delegations", _ON),
    ),
    rows=(
        *(Row(name, Kind.CALLS, tuple(counts), calls_of_each_client(name)) for name, *counts in _OPERATIONS),
        Row("all", Kind.CALLS, (60008, 88009, 3009), all_calls_of_each_client),
        Row(
            "time",
            Kind.SECONDS,
            (None, 1.0, None),
            seconds_of(),
            "with delegations 6 to 19 times faster at 0 to 10 ms",
        ),
    ),
    reasons=(
        Reason(
            ("ACCESS", "GETATTR"),
            ("v4.1 delegations",),
            "The paper's few calls are of the directory: its client checks it when it is opened first. The policy "
            "keeps the handle of the directory of the run.",
            needs_delegations=True,
        ),
        Reason(
            ("LOOKUP",),
            ("v4.1", "v4.1 delegations"),
            "The paper's client looks up one name more on its way to the directory; OPEN finds the files.",
        ),
    ),
    base=1,
    note="The rows of the paper's third column add up to 3006, and it prints 3009 below.",
)

_DELEGATED = Plan(workload="recall", version="4.1", policy="delegated", size=65536, clients=2)
_UNDELEGATED = dataclasses.replace(_DELEGATED, policy="v4-like")
_RECALL = Table(
    name="section 5.3",
    title="a client opens 1000 files for writing that another one has open, for each file",
    columns=(Column("no delegations", _UNDELEGATED), Column("delegations", _DELEGATED)),
    rows=(
        Row("time", Kind.SECONDS, (0.2, 100.0), seconds_of()),
        Row("OPEN", Kind.CALLS, (1, 3), per_file("OPEN")),
        Row("DELEGRETURN", Kind.CALLS, (0, 1), per_file("DELEGRETURN")),
    ),
    reasons=(
        Reason(
            ("OPEN",),
            ("delegations",),
            "The first OPEN of the writer gets DELAY, the second one succeeds, as in the paper. The reader of"
            " the paper opens the file once more after it has returned its delegation; here its open goes on.",
            needs_delegations=True,
        ),
        Reason(
            ("DELEGRETURN",),
            ("delegations",),
            "One for each file of which the server granted a delegation; Linux grants none of a file that was written "
            "a moment ago.",
        ),
    ),
    note="The paper's client waits 100 ms before it opens again, which is nearly all of its 100 s; here it is 50 ms.",
)

PAPER = Paper(
    "nfsv41",
    "Chen, Hildebrand, Kuenning, Shankaranarayana, Singh, Zadok: Newer Is Sometimes Better: An "
    "Evaluation of NFSv4.1, 2015",
    (_TABLE_1, _RECALL),
)

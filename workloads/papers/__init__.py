# SPDX-License-Identifier: MIT
"""The tables of the papers as data, and what is laid next to them: our counts by the same rules.

`model` says what a table is; `nfsv3`, `nfsv41`, `sensitivity` and `spritely` have the numbers; `filling` takes ours
from results.
"""

from __future__ import annotations

from collections.abc import Mapping

from workloads.papers import clients, nfsv3, nfsv41, sensitivity, spritely
from workloads.papers.model import Paper

PAPERS: Mapping[str, Paper] = {
    paper.name: paper
    for paper in (nfsv3.PAPER, nfsv41.PAPER, sensitivity.PAPER, spritely.PAPER, clients.PAPER)
}

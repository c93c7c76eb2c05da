# SPDX-License-Identifier: MIT
"""The folders of this project that have programs."""

from __future__ import annotations

ROOMS = (
    "nfsclient",
    "nfsserver",
    "nfsmutants",
    "nfsjudge",
    "nfsfaults",
    "nfstargets",
    "fixtures",
    "suites",
    "reports",
    "workloads",
    "nfsproof",
)
"""The packages that ship."""
PROGRAMS = (*ROOMS, "tests", "benchmarks", "tools")

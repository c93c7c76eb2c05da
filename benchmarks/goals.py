# SPDX-License-Identifier: MIT
"""What nfsclient must reach (gates) and is meant to reach (goals): ratios ours/peer of one interleaved run.

This table is the only place with such numbers. Higher is better in each. A gate that is missed by less than
the tolerance may be noise; `benchmarks/run --check` fails beyond it.
"""

from __future__ import annotations

import typing as t

TOLERANCE: t.Final = 0.15
"""Rates of one client differ by this much between runs on a small, shared machine."""


class Aim(t.NamedTuple):
    """The ratio ours/`against` on one operation: at least `gate`, better still `goal`."""

    operation: str
    against: str
    gate: float | None
    goal: float | None


LIBNFS: t.Final = "libnfs (C)"
LIBNFS_FSTAT: t.Final = "libnfs (C) nfs_fstat64"
LIBNFS_OPENDIR: t.Final = "libnfs (C) nfs_opendir"
LIBNFS_FILES: t.Final = "libnfs (C) nfs_creat…"
RAW: t.Final = "plain TCP, Python"
XDRLIB3: t.Final = "xdrlib3"
ANFS: t.Final = "anfs"
PYNFSCLIENT: t.Final = "pyNfsClient"
NFS_RS: t.Final = "nfs-rs"
NFS4FS: t.Final = "nfs4fs (v4)"
NFS4FS_COMPOUND: t.Final = "nfs4fs (v4), one COMPOUND"
BINDING: t.Final = "libnfs binding"
OURS_V3: t.Final = "nfsclient, NFSv3"

AIMS: t.Final = (
    # The codec against field-by-field decoding.
    Aim("codec-fattr3", XDRLIB3, 6.0, 8.0),
    Aim("codec-page", XDRLIB3, 8.0, 9.0),
    # One call at a time: wake-up latency decides.
    Aim("getattr-x1", LIBNFS, 0.80, 0.95),
    # No gate against plain TCP: its echo has no NFS server, and where client and server share a processor
    # libnfs itself reaches no more than 0.4 of it.
    Aim("getattr-x1", RAW, None, 0.78),
    Aim("getattr-x1", PYNFSCLIENT, 1.3, 1.6),
    Aim("getattr-x1", ANFS, 1.0, 2.0),
    Aim("getattr-x1", NFS_RS, 1.0, 2.0),
    Aim("getattr-x1", NFS4FS, 1.0, 2.0),
    Aim("getattr-x1", BINDING, 1.0, 2.0),
    # Many outstanding: on a real server, which is the limit, and on one that answers at once.
    Aim("getattr-x16", LIBNFS, 0.90, 1.0),
    Aim("getattr-x16", ANFS, 1.4, 1.8),
    Aim("getattr-x16", NFS_RS, 1.0, None),
    Aim("getattr-x64", LIBNFS, 0.90, 1.0),
    Aim("getattr-x64", ANFS, 1.4, 1.8),
    Aim("getattr-x64", NFS_RS, 1.0, None),
    Aim("canned-getattr-x64", LIBNFS, 1.0, 1.2),
    Aim("canned-getattr-x64", RAW, None, 0.4),
    Aim("canned-getattr-x64", ANFS, 8.0, 15.0),
    # Bulk data.
    Aim("read-1m-x1", LIBNFS, 0.85, 1.0),
    Aim("read-1m-x1", NFS_RS, 1.2, 1.4),
    Aim("read-1m-x1", BINDING, 1.0, None),
    Aim("read-1m-x1", ANFS, 1.0, None),
    Aim("read-1m-x1", PYNFSCLIENT, 1.0, None),
    Aim("read-1m-x1", NFS4FS, 1.0, None),
    Aim("read-1m-x8", LIBNFS, 0.85, 1.0),
    Aim("read-1m-x8", NFS_RS, 1.5, 1.8),
    Aim("read-1m-x8", ANFS, 1.0, None),
    Aim("read-1m-x8", NFS4FS_COMPOUND, 1.0, None),
    Aim("write-1m-x1", LIBNFS, 0.85, 1.0),
    Aim("write-1m-x1", BINDING, 1.0, None),
    Aim("write-1m-x1", NFS_RS, 1.0, 3.0),
    Aim("write-1m-x1", ANFS, 1.0, 3.0),
    Aim("write-1m-x1", PYNFSCLIENT, 1.0, None),
    Aim("write-1m-x1", NFS4FS, 1.0, None),
    Aim("write-1m-x8", LIBNFS, 0.85, 1.0),
    Aim("write-1m-x8", NFS_RS, 1.8, 2.2),
    Aim("write-1m-x8", ANFS, 1.0, None),
    Aim("write-1m-x8", NFS4FS_COMPOUND, 1.0, None),
    Aim("canned-read-1m-x8", RAW, 0.80, 0.90),
    Aim("canned-write-1m-x8", RAW, 0.80, 0.90),
    Aim("read-64k-x1", LIBNFS, 0.80, 0.92),
    Aim("read-64k-x1", BINDING, None, 1.0),
    Aim("read-64k-x1", PYNFSCLIENT, None, 1.4),
    Aim("write-64k-x1", LIBNFS, 0.80, 0.92),
    Aim("write-64k-x1", BINDING, None, 1.0),
    # Directories and small files.
    Aim("list-10000", LIBNFS, 0.30, 0.80),
    Aim("list-10000", LIBNFS_OPENDIR, None, 1.3),
    Aim("list-10000", NFS4FS, 1.2, 2.2),
    Aim("list-10000", NFS_RS, 1.0, None),
    Aim("list-10000", PYNFSCLIENT, 1.0, 6.0),
    Aim("list-10000", ANFS, 1.0, 13.0),
    Aim("small-file", LIBNFS_FILES, None, 1.3),
    Aim("small-file", NFS4FS, None, 1.4),
    Aim("small-file-uncommitted", ANFS, 1.5, 2.4),
    # NFSv4.1 against our own NFSv3 on the same server.
    Aim("v4-getattr-x1", OURS_V3, 0.60, 0.80),
    Aim("v4-getattr-x16", OURS_V3, 0.50, 0.65),
    Aim("v4-getattr-x64", OURS_V3, 0.50, 0.65),
    Aim("v4-stats-16", NFS4FS_COMPOUND, 1.0, 1.2),
    Aim("v4-stats-64", NFS4FS_COMPOUND, 1.0, 1.2),
    *(Aim(f"v4-{name}-1m-x{window}", OURS_V3, 0.90, None) for name in ("read", "write") for window in (1, 8)),
    Aim("v4-open-read-close", NFS4FS, None, 1.2),
    Aim("v4-list-10000", OURS_V3, 0.50, 0.80),
    Aim("v4-list-10000", NFS4FS, 1.0, None),
)


def aim_for(operation: str, against: str) -> Aim:
    """The aim of a pair; one without gate and goal where there is none."""
    for aim in AIMS:
        if (aim.operation, aim.against) == (operation, against):
            return aim
    return Aim(operation, against, None, None)

# SPDX-License-Identifier: MIT
"""The clauses of MOUNT by version.

No RFC describes version 2. It has the procedures of version 1, so the clauses of version 1 are SHOULD for it.
"""

from __future__ import annotations

import dataclasses
import typing as t

import pytest

from nfsjudge import Harm, Level, Requirement, should


class Clauses(t.NamedTuple):
    """The clauses of one claim: in RFC 1094 for versions 1 and 2, in RFC 1813 for version 3."""

    old: Requirement
    new: Requirement

    def of(self, version: int) -> Requirement:
        """The clause for a version."""
        if version == 2:
            return dataclasses.replace(self.old, level=Level.SHOULD)
        return self.new if version == 3 else self.old


def _same(old: str, new: str, gist: str, level: Level = Level.STATED, harm: Harm | None = None) -> Clauses:
    """A claim that both RFCs make, in section `old` of RFC 1094 and section `new` of RFC 1813."""
    return Clauses(
        Requirement(rfc="RFC 1094", section=old, gist=gist, level=level, harm=harm),
        Requirement(rfc="RFC 1813", section=new, gist=gist, level=level, harm=harm),
    )


MNT_RETURNS_HANDLE = _same(
    "A.5.2",
    "5.2.1",
    "MNT returns a file handle of the directory that the path names",
    harm=Harm.OBJECT,
)
MNT_MOUNTS_DIRECTORIES = _same(
    "A.4.3",
    "5.2.1",
    "MNT mounts directories only",
    Level.SHOULD,  # servers for diskless clients export files too, such as swap files
)
LIMITS_PATH_LENGTH = _same(
    "A.3",
    "5.1.4",
    "a path in an argument has at most 1024 bytes",
)
NULL_RETURNS_NOTHING = _same(
    "A.5.1",
    "5.2.0",
    "NULL does nothing and returns nothing",
)
NULL_ACCEPTS_AUTH_NONE = _same(
    "A.2",
    "5.1.1",
    "NULL accepts AUTH_NONE",
    Level.SHOULD,  # 5.2.0: a server may require more to keep its presence secret
)
DUMP_LISTS_MOUNTS = Clauses(
    should("RFC 1094", "A.5.2", "MNT adds an entry for the directory to the list that DUMP returns"),
    should("RFC 1813", "5.2.2", "DUMP returns the list of directories that clients have mounted"),
)
DUMP_HAS_ONE_ENTRY = _same(
    "A.5.3",
    "5.2.2",
    "the mount list has one entry for each pair of host and directory",
    Level.SHOULD,
)
UMNT_REMOVES_ENTRY = _same(
    "A.5.4",
    "5.2.3",
    "UMNT removes the client's entry for the path, and no other entry",
    Level.SHOULD,
)
UMNT_HAS_NO_ERRORS = _same(
    "A.5.4",
    "5.2.3",
    "UMNT returns nothing and has no errors",
)
UMNTALL_REMOVES_ENTRIES = _same(
    "A.5.5",
    "5.2.4",
    "UMNTALL removes all entries of the client, and no others",
    Level.SHOULD,
)
UMNTALL_HAS_NO_ERRORS = _same(
    "A.5.5",
    "5.2.4",
    "UMNTALL returns nothing and has no errors",
)
UNMOUNT_KEEPS_HANDLES = _same(
    "A.1",
    "5.2.3",
    "UMNT and UMNTALL remove list entries only: file handles stay usable",
    Level.SHOULD,
)
LISTS_RESPECT_LIMITS = _same(
    "A.3",
    "5.1.4",
    "in lists too, a path has at most 1024 bytes and a name at most 255",
)
EXPORT_LISTS_ALL = _same(
    "A.5.6",
    "5.2.5",
    "EXPORT returns the list of all exported file systems",
    Level.SHOULD,
)
SAME_OVER_TCP_AND_UDP = _same(
    "A.2",
    "5.1.3",
    "MOUNT is normally available over TCP and UDP, with the same results",
    Level.SHOULD,
)
OLD = (1, 2)
"""The versions whose handles are for NFSv2."""
EVERY_VERSION = pytest.mark.parametrize("version", [1, 2, 3], ids=["v1", "v2", "v3"])
OLD_VERSIONS = pytest.mark.parametrize("version", OLD, ids=["v1", "v2"])
V1_AND_V3 = pytest.mark.parametrize("version", [1, 3], ids=["v1", "v3"])
"""For claims about the mount list, where version 2 adds nothing to version 1."""

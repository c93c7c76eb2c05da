# SPDX-License-Identifier: MIT
"""The clauses of MOUNT by version.

No RFC describes version 2. It has the procedures of version 1, so the clauses of version 1 are SHOULD for it.
"""

from __future__ import annotations

import dataclasses
import typing as t

import pytest

from nfsjudge import Level, Requirement


class Clauses(t.NamedTuple):
    """The clauses of one claim: in RFC 1094 for versions 1 and 2, in RFC 1813 for version 3."""

    old: Requirement
    new: Requirement

    def of(self, version: int) -> Requirement:
        """The clause for a version."""
        if version == 2:
            return dataclasses.replace(self.old, level=Level.SHOULD)
        return self.new if version == 3 else self.old


MNT_RETURNS_HANDLE = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.5.2",
        gist="MNT returns a file handle of the directory that the path names",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.1",
        gist="MNT returns a file handle of the directory that the path names",
    ),
)
MNT_MOUNTS_DIRECTORIES = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.4.3",
        level=Level.SHOULD,  # servers for diskless clients export files too, such as swap files
        gist="MNT mounts directories only",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.1",
        level=Level.SHOULD,  # servers for diskless clients export files too, such as swap files
        gist="MNT mounts directories only",
    ),
)
LIMITS_PATH_LENGTH = Clauses(
    Requirement(rfc="RFC 1094", section="A.3", gist="a path in an argument has at most 1024 bytes"),
    Requirement(rfc="RFC 1813", section="5.1.4", gist="a path in an argument has at most 1024 bytes"),
)
NULL_RETURNS_NOTHING = Clauses(
    Requirement(rfc="RFC 1094", section="A.5.1", gist="NULL does nothing and returns nothing"),
    Requirement(rfc="RFC 1813", section="5.2.0", gist="NULL does nothing and returns nothing"),
)
NULL_ACCEPTS_AUTH_NONE = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.2",
        level=Level.SHOULD,
        gist="NULL accepts AUTH_NONE",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.1.1",
        level=Level.SHOULD,  # 5.2.0: a server may require more to keep its presence secret
        gist="NULL accepts AUTH_NONE",
    ),
)
DUMP_LISTS_MOUNTS = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.5.2",
        level=Level.SHOULD,
        gist="MNT adds an entry for the directory to the list that DUMP returns",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.2",
        level=Level.SHOULD,
        gist="DUMP returns the list of directories that clients have mounted",
    ),
)
DUMP_HAS_ONE_ENTRY = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.5.3",
        level=Level.SHOULD,
        gist="the mount list has one entry for each pair of host and directory",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.2",
        level=Level.SHOULD,
        gist="the mount list has one entry for each pair of host and directory",
    ),
)
UMNT_REMOVES_ENTRY = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.5.4",
        level=Level.SHOULD,
        gist="UMNT removes the client's entry for the path, and no other entry",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.3",
        level=Level.SHOULD,
        gist="UMNT removes the client's entry for the path, and no other entry",
    ),
)
UMNT_HAS_NO_ERRORS = Clauses(
    Requirement(rfc="RFC 1094", section="A.5.4", gist="UMNT returns nothing and has no errors"),
    Requirement(rfc="RFC 1813", section="5.2.3", gist="UMNT returns nothing and has no errors"),
)
UMNTALL_REMOVES_ENTRIES = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.5.5",
        level=Level.SHOULD,
        gist="UMNTALL removes all entries of the client, and no others",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.4",
        level=Level.SHOULD,
        gist="UMNTALL removes all entries of the client, and no others",
    ),
)
UMNTALL_HAS_NO_ERRORS = Clauses(
    Requirement(rfc="RFC 1094", section="A.5.5", gist="UMNTALL returns nothing and has no errors"),
    Requirement(rfc="RFC 1813", section="5.2.4", gist="UMNTALL returns nothing and has no errors"),
)
UNMOUNT_KEEPS_HANDLES = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.1",
        level=Level.SHOULD,
        gist="UMNT and UMNTALL remove list entries only: file handles stay usable",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.3",
        level=Level.SHOULD,
        gist="UMNT and UMNTALL remove list entries only: file handles stay usable",
    ),
)
LISTS_RESPECT_LIMITS = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.3",
        gist="in lists too, a path has at most 1024 bytes and a name at most 255",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.1.4",
        gist="in lists too, a path has at most 1024 bytes and a name at most 255",
    ),
)
EXPORT_LISTS_ALL = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.5.6",
        level=Level.SHOULD,
        gist="EXPORT returns the list of all exported file systems",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.5",
        level=Level.SHOULD,
        gist="EXPORT returns the list of all exported file systems",
    ),
)
SAME_OVER_TCP_AND_UDP = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.2",
        level=Level.SHOULD,
        gist="MOUNT is normally available over TCP and UDP, with the same results",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.1.3",
        level=Level.SHOULD,
        gist="MOUNT is normally available over TCP and UDP, with the same results",
    ),
)
OLD = (1, 2)
"""The versions whose handles are for NFSv2."""
EVERY_VERSION = pytest.mark.parametrize("version", [1, 2, 3], ids=["v1", "v2", "v3"])
OLD_VERSIONS = pytest.mark.parametrize("version", OLD, ids=["v1", "v2"])
V1_AND_V3 = pytest.mark.parametrize("version", [1, 3], ids=["v1", "v3"])
"""For claims about the mount list, where version 2 adds nothing to version 1."""

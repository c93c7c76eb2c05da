# SPDX-License-Identifier: MIT
"""The clauses of MOUNT by version.

No RFC describes version 2. It has the procedures of version 1, so the clauses of version 1 are SHOULD for it.
"""

from __future__ import annotations

import pytest

from nfsjudge import Harm, Level, should, stated


def _v1(section: str) -> dict[str, tuple[str, str] | tuple[str, str, Level]]:
    """Where RFC 1094 states a claim of RFC 1813."""
    return {"1": ("RFC 1094", section), "2": ("RFC 1094", section, Level.SHOULD)}


MNT_RETURNS_HANDLE = stated(
    "RFC 1813",
    "5.2.1",
    "MNT returns a file handle of the directory that the path names",
    harm=Harm.OBJECT,
    also=_v1("A.5.2"),
)
MNT_MOUNTS_DIRECTORIES = should(  # servers for diskless clients export files too, such as swap files
    "RFC 1813", "5.2.1", "MNT mounts directories only", also=_v1("A.4.3")
)
LIMITS_PATH_LENGTH = stated(
    "RFC 1813", "5.1.4", "a path in an argument has at most 1024 bytes", also=_v1("A.3")
)
NULL_RETURNS_NOTHING = stated("RFC 1813", "5.2.0", "NULL does nothing and returns nothing", also=_v1("A.5.1"))
NULL_ACCEPTS_AUTH_NONE = should(  # 5.2.0: a server may require more to keep its presence secret
    "RFC 1813", "5.1.1", "NULL accepts AUTH_NONE", also=_v1("A.2")
)
DUMP_LISTS_MOUNTS = should(
    "RFC 1813", "5.2.2", "DUMP returns the list of directories that clients have mounted"
)
DUMP_LISTS_MOUNTS_V1 = should(
    "RFC 1094", "A.5.2", "MNT adds an entry for the directory to the list that DUMP returns"
)
DUMP_HAS_ONE_ENTRY = should(
    "RFC 1813", "5.2.2", "the mount list has one entry for each pair of host and directory", also=_v1("A.5.3")
)
UMNT_REMOVES_ENTRY = should(
    "RFC 1813", "5.2.3", "UMNT removes the client's entry for the path, and no other entry", also=_v1("A.5.4")
)
UMNT_HAS_NO_ERRORS = stated("RFC 1813", "5.2.3", "UMNT returns nothing and has no errors", also=_v1("A.5.4"))
UMNTALL_REMOVES_ENTRIES = should(
    "RFC 1813", "5.2.4", "UMNTALL removes all entries of the client, and no others", also=_v1("A.5.5")
)
UMNTALL_HAS_NO_ERRORS = stated(
    "RFC 1813", "5.2.4", "UMNTALL returns nothing and has no errors", also=_v1("A.5.5")
)
UNMOUNT_KEEPS_HANDLES = should(
    "RFC 1813",
    "5.2.3",
    "UMNT and UMNTALL remove list entries only: file handles stay usable",
    also=_v1("A.1"),
)
LISTS_RESPECT_LIMITS = stated(
    "RFC 1813", "5.1.4", "in lists too, a path has at most 1024 bytes and a name at most 255", also=_v1("A.3")
)
EXPORT_LISTS_ALL = should(
    "RFC 1813", "5.2.5", "EXPORT returns the list of all exported file systems", also=_v1("A.5.6")
)
SAME_OVER_TCP_AND_UDP = should(
    "RFC 1813",
    "5.1.3",
    "MOUNT is normally available over TCP and UDP, with the same results",
    also=_v1("A.2"),
)
OLD = (1, 2)
"""The versions whose handles are for NFSv2."""
EVERY_VERSION = pytest.mark.parametrize("version", [1, 2, 3], ids=["v1", "v2", "v3"])
OLD_VERSIONS = pytest.mark.parametrize("version", OLD, ids=["v1", "v2"])
V1_AND_V3 = pytest.mark.parametrize("version", [1, 3], ids=["v1", "v3"])
"""For claims about the mount list, where version 2 adds nothing to version 1."""

# SPDX-License-Identifier: MIT
"""The clauses of one claim in the three versions of MOUNT.

Version 2 stands in no RFC: it has the procedures of version 1, so the clause of that one is SHOULD for it.
"""

from __future__ import annotations

import dataclasses
import typing as t

import pytest

from nfsjudge import Level, Requirement

OLD = (1, 2)
"""The versions that give handles for NFSv2."""
EVERY_VERSION = pytest.mark.parametrize("version", [1, 2, 3])
OLD_VERSIONS = pytest.mark.parametrize("version", OLD)


class Clauses(t.NamedTuple):
    """What the claim rests on, in each version."""

    old: Requirement
    new: Requirement

    def of(self, version: int) -> Requirement:
        """The clause for a version."""
        if version == 2:
            return dataclasses.replace(self.old, level=Level.SHOULD)
        return self.new if version == 3 else self.old


MAPS_A_PATH = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.5.2",
        gist="with status 0, MNT returns the file handle of the directory that the path names",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.1",
        gist="the handle from MNT is one of the directory that the path describes",
    ),
)
OF_A_DIRECTORY = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.4.3",
        level=Level.SHOULD,  # servers for diskless clients hand out files, such as those to swap in
        gist="a dirpath is the pathname of a directory on the server",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.1",
        level=Level.SHOULD,
        gist="the path that MNT takes describes a directory on the server",
    ),
)
PATH_LENGTH = Clauses(
    Requirement(rfc="RFC 1094", section="A.3", gist="a pathname argument has at most 1024 bytes"),
    Requirement(rfc="RFC 1813", section="5.1.4", gist="a path name has at most 1024 bytes"),
)
NULL_ANSWERS = Clauses(
    Requirement(rfc="RFC 1094", section="A.5.1", gist="NULL does no work; it is there to be answered"),
    Requirement(rfc="RFC 1813", section="5.2.0", gist="NULL of MOUNT does nothing and is answered"),
)
NULL_FOR_ALL = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.2",
        level=Level.SHOULD,
        gist="the mount service takes AUTH_UNIX and AUTH_NONE",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.1.1",
        level=Level.SHOULD,  # 5.2.0: a server may ask for more where its presence is a secret
        gist="NULL of MOUNT takes AUTH_NONE",
    ),
)
DUMP_HAS_MOUNTS = Clauses(
    Requirement(
        rfc="RFC 1094", section="A.5.2", level=Level.SHOULD, gist="MNT adds an entry to the list of mounts"
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.2",
        level=Level.SHOULD,
        gist="DUMP returns the list of what clients have mounted",
    ),
)
ONE_ENTRY = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.5.3",
        level=Level.SHOULD,
        gist="the list has one entry for each pair of host and directory",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.2",
        level=Level.SHOULD,
        gist="the list has one entry for each pair of host and directory",
    ),
)
UMNT_REMOVES = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.5.4",
        level=Level.SHOULD,
        gist="UMNT removes the entry for its path, and no other",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.3",
        level=Level.SHOULD,
        gist="UMNT removes this client's entry for the directory, and no other",
    ),
)
UMNT_ANSWERS = Clauses(
    Requirement(rfc="RFC 1094", section="A.5.4", gist="UMNT returns nothing, whatever path it is given"),
    Requirement(rfc="RFC 1813", section="5.2.3", gist="UMNT returns nothing, and has no errors"),
)
UMNTALL_REMOVES = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.5.5",
        level=Level.SHOULD,
        gist="UMNTALL removes all entries of this client, and no others",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.4",
        level=Level.SHOULD,
        gist="UMNTALL removes all entries of this client, and no others",
    ),
)
UMNTALL_ANSWERS = Clauses(
    Requirement(rfc="RFC 1094", section="A.5.5", gist="UMNTALL returns nothing"),
    Requirement(rfc="RFC 1813", section="5.2.4", gist="UMNTALL returns nothing, and has no errors"),
)
HANDLES_STAY = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.1",
        level=Level.SHOULD,
        gist="the list of mounts is for advice only: handles do not depend on it",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.3",
        level=Level.SHOULD,
        gist="UMNT and UMNTALL remove entries of a list: handles go on working",
    ),
)
LISTS_HAVE_FORM = Clauses(
    Requirement(
        rfc="RFC 1094", section="A.3", gist="a path has at most 1024 bytes and a name 255, in lists as well"
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.1.4",
        gist="a path has at most 1024 bytes and a name 255, in lists as well",
    ),
)
EXPORT_LISTS = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.5.6",
        level=Level.SHOULD,
        gist="EXPORT returns the list of the file systems that are exported",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.2.5",
        level=Level.SHOULD,
        gist="EXPORT returns a list of all exported file systems",
    ),
)
BOTH_TRANSPORTS = Clauses(
    Requirement(
        rfc="RFC 1094",
        section="A.2",
        level=Level.SHOULD,
        gist="the mount service is supported on both UDP and TCP: it is the same on either",
    ),
    Requirement(
        rfc="RFC 1813",
        section="5.1.3",
        level=Level.SHOULD,
        gist="the MOUNT service is normally supported over TCP and UDP: it is the same over either",
    ),
)

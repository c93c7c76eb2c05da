# SPDX-License-Identifier: MIT
"""READ, WRITE, READDIR and READDIRPLUS by users without permission (RFC 1813 sections 2.6 and 4.4).

The protocol leaves permissions to the server, so no claim about them is more than SHOULD. But an operation that the
server refused must have done nothing.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks import KnobsView
from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, StableHow
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from nfsjudge.expect import StatusReply
from suites.nfs3.contents import pattern, read_range, stored
from suites.nfs3.preserved import with_mode

DENIES_WITHOUT_PERMISSION = Requirement(
    rfc="RFC 1813",
    section="4.4",
    level=Level.SHOULD,
    gist="the server is expected to deny what the mode of an object does not allow a user to do",
)
RETURNS_ACCES_OR_PERM = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NFS3ERR_ACCES or NFS3ERR_PERM reports that the caller lacks permission",
)
DENIED_WRITE_CHANGES_NOTHING = Requirement(
    rfc="RFC 1813",
    section="2.6",
    gist="a WRITE that fails with NFS3ERR_ACCES or NFS3ERR_PERM writes nothing",
)

STRANGER: t.Final = (4243, 4243)
Call: t.TypeAlias = Callable[[Nfs3, bytes, bytes], StatusReply]
CALLS: t.Final[dict[str, Call]] = {
    "read": lambda nfs3, file, _directory: nfs3.read(file, 0, 10),
    "read-0": lambda nfs3, file, _directory: nfs3.read(file, 0, 0),
    "write": lambda nfs3, file, _directory: nfs3.write(file, 0, b"data"),
    "write-0": lambda nfs3, file, _directory: nfs3.write(file, 0, b""),
    "readdir": lambda nfs3, _file, directory: nfs3.readdir(directory),
    "readdirplus": lambda nfs3, _file, directory: nfs3.readdirplus(directory),
}


@pytest.mark.parametrize("call", CALLS)
@proves(
    DENIES_WITHOUT_PERMISSION,
    RETURNS_ACCES_OR_PERM,
    killed_by="nfs3-data-is-for-everybody",
    needs=("other_users", "distinct_users"),
)
def test_others_are_kept_out_of(
    nfs3: Nfs3, scratch: Scratch, nfs3_as: Callable[..., Nfs3], call: str
) -> None:
    """Another user cannot read, write or list objects of modes 0600 and 0700."""
    file = with_mode(nfs3, scratch.file("f", pattern(100)), 0o600)
    directory = with_mode(nfs3, scratch.directory("d"), 0o700)
    reply = CALLS[call](nfs3_as(*STRANGER), file, directory)
    expect(reply).refused(Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM, because=RETURNS_ACCES_OR_PERM)


@pytest.mark.parametrize("stable", list(StableHow), ids=lambda stable: stable.name.lower())
@proves(
    DENIED_WRITE_CHANGES_NOTHING,
    killed_by="write3-denies-and-writes",
    needs=("other_users", "distinct_users"),
)
def test_what_was_denied_is_not_written(
    nfs3: Nfs3, scratch: Scratch, nfs3_as: Callable[..., Nfs3], stable: StableHow
) -> None:
    """A WRITE that the server denies leaves the data of the file unchanged."""
    content = pattern(100)
    file = with_mode(nfs3, stored(scratch, "f", content), 0o644)
    reply = nfs3_as(*STRANGER).write(file, 10, b"data", stable)
    observe("WRITE by another user", reply.status)
    if reply.status not in {Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM}:
        skip("the WRITE was not denied: that is another claim")
    expect(read_range(nfs3, file, 0, 200), "the data of the file").equals(content)


@pytest.mark.exclusive
@proves(DENIED_WRITE_CHANGES_NOTHING, killed_by="write3-denies-and-writes")
def test_what_nobody_may_change_is_not_written(nfs3: Nfs3, scratch: Scratch, knobs: KnobsView) -> None:
    """A WRITE that the server denies on a read-only file leaves the data unchanged."""
    content = pattern(100)
    file = stored(scratch, "read-only", content)
    knobs.set(read_only_names="read-only")
    reply = nfs3.write(file, 10, b"data")
    observe("WRITE to a file that is read-only", reply.status)
    if reply.status not in {Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM, Nfsstat3.NFS3ERR_ROFS}:
        skip("the WRITE was not denied: that is another claim")
    expect(read_range(nfs3, file, 0, 200), "the data of the file").equals(content)

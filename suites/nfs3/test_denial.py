# SPDX-License-Identifier: MIT
"""READ, WRITE, COMMIT, READDIR and READDIRPLUS by those who may not (RFC 1813 sections 2.6 and 4.4).

The protocol leaves permission to the server, so that none of this is more than "should". What a server has refused,
it has not done.
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

DENIED = Requirement(
    rfc="RFC 1813",
    section="4.4",
    level=Level.SHOULD,
    gist="the server checks permission in each request: mode 0 for others keeps others out",
)
ACCES_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="ACCES says that the caller lacks the permission for an operation",
)
REFUSED_IS_NOT_DONE = Requirement(
    rfc="RFC 1813",
    section="2.6",
    gist="ACCES and PERM say that the operation was not allowed: a WRITE that is so refused has written nothing",
)

STRANGER: t.Final = (4243, 4243)
Act: t.TypeAlias = Callable[[Nfs3, bytes, bytes], StatusReply]
ACTS: t.Final[dict[str, Act]] = {
    "READ": lambda nfs3, file, _directory: nfs3.read(file, 0, 10),
    "READ of 0 bytes": lambda nfs3, file, _directory: nfs3.read(file, 0, 0),
    "WRITE": lambda nfs3, file, _directory: nfs3.write(file, 0, b"data"),
    "WRITE of 0 bytes": lambda nfs3, file, _directory: nfs3.write(file, 0, b""),
    "READDIR": lambda nfs3, _file, directory: nfs3.readdir(directory),
    "READDIRPLUS": lambda nfs3, _file, directory: nfs3.readdirplus(directory),
}


@pytest.mark.parametrize("act", ACTS)
@proves(
    DENIED, ACCES_IS_MEANT, killed_by="nfs3-data-is-for-everybody", needs=("other_users", "distinct_users")
)
def test_others_are_kept_out_of(nfs3: Nfs3, scratch: Scratch, nfs3_as: Callable[..., Nfs3], act: str) -> None:
    file = with_mode(nfs3, scratch.file("f", pattern(100)), 0o600)
    directory = with_mode(nfs3, scratch.directory("d"), 0o700)
    reply = ACTS[act](nfs3_as(*STRANGER), file, directory)
    expect(reply).refused(Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM, because=ACCES_IS_MEANT)


@pytest.mark.parametrize("stable", list(StableHow), ids=lambda stable: stable.name)
@proves(REFUSED_IS_NOT_DONE, killed_by="write3-denies-and-writes", needs=("other_users", "distinct_users"))
def test_what_was_denied_is_not_written(
    nfs3: Nfs3, scratch: Scratch, nfs3_as: Callable[..., Nfs3], stable: StableHow
) -> None:
    content = pattern(100)
    file = with_mode(nfs3, stored(scratch, "f", content), 0o644)
    reply = nfs3_as(*STRANGER).write(file, 10, b"data", stable)
    observe("WRITE by another user", reply.status)
    if reply.status not in {Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM}:
        skip("the WRITE was not denied: that is another claim")
    expect(read_range(nfs3, file, 0, 200), "the data of the file").equals(content)


@pytest.mark.exclusive
@proves(REFUSED_IS_NOT_DONE, killed_by="write3-denies-and-writes")
def test_what_nobody_may_change_is_not_written(nfs3: Nfs3, scratch: Scratch, knobs: KnobsView) -> None:
    content = pattern(100)
    file = stored(scratch, "read-only", content)
    knobs.set(read_only_names="read-only")
    reply = nfs3.write(file, 10, b"data")
    observe("WRITE to a file that is read-only", reply.status)
    if reply.status not in {Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM, Nfsstat3.NFS3ERR_ROFS}:
        skip("the WRITE was not denied: that is another claim")
    expect(read_range(nfs3, file, 0, 200), "the data of the file").equals(content)

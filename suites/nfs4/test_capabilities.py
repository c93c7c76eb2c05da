# SPDX-License-Identifier: MIT
"""Attributes that say what a file system can do (RFC 5661 section 5.8): the server does as they say."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsjudge import expect, expect_names, observe, proves, should, skip, stated, unsupported
from suites.nfs4.attribute_values import supported_names
from suites.nfs4.handles import expect_same_object

LINK_SUPPORT_IS_TRUE = stated(
    "RFC 5661", "5.8.1.6", "link_support is TRUE if the file system supports hard links"
)
SYMLINK_SUPPORT_IS_TRUE = stated(
    "RFC 5661", "5.8.1.7", "symlink_support is TRUE if the file system supports symbolic links"
)
CASE_IS_AS_IT_SAYS = stated(
    "RFC 5661", "5.8.2.3", "case_insensitive is TRUE if comparisons of file names are case insensitive"
)
CASE_IS_PRESERVED = stated(
    "RFC 5661", "5.8.2.4", "case_preserving is TRUE if the case of file names is preserved"
)
CANSETTIME_SETS = stated(
    "RFC 5661", "5.8.2.2", "cansettime is TRUE if the server is able to change the times as SETATTR specifies"
)
DELTA_IS_KEPT = should(
    "RFC 5661", "5.8.2.41", "times should be as exact as time_delta, the smallest useful granularity, says"
)
_BILLION = 1_000_000_000
_REFUSALS = frozenset({Nfsstat4.NFS4ERR_ATTRNOTSUPP, Nfsstat4.NFS4ERR_INVAL})
"""What says that the attribute cannot be set."""


def _known(scratch: Nfs4Scratch, name: str) -> bool:
    value = getattr(scratch.attributes(None, name), name)
    if value is None:
        unsupported(f"the server does not support {name}")
    return bool(value)


@proves(LINK_SUPPORT_IS_TRUE, killed_by="getattr4-links-are-not-supported")
def test_link_support(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LINK succeeds where link_support is TRUE, and fails where it is FALSE."""
    says, file = _known(scratch, "link_support"), scratch.file("file")
    reply = compounds.compound(op.putfh(file), op.savefh(), op.putfh(scratch.handle), op.link(b"link"))
    if reply.status not in {Nfsstat4.NFS4_OK, Nfsstat4.NFS4ERR_NOTSUPP}:
        expect(reply).ok()
    known = scratch.attributes(None, "link_support")
    works = reply.status == Nfsstat4.NFS4_OK
    expect(
        says, f"link_support, where LINK answers {reply.status.name}", of=known, field="link_support"
    ).equals(works)


@proves(SYMLINK_SUPPORT_IS_TRUE, killed_by="getattr4-symlinks-are-not-supported")
def test_symlink_support(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CREATE of a symbolic link succeeds where symlink_support is TRUE, and fails where it is FALSE."""
    says = _known(scratch, "symlink_support")
    reply = compounds.compound(op.putfh(scratch.handle), op.symlink(b"link", b"target"))
    if reply.status not in {Nfsstat4.NFS4_OK, Nfsstat4.NFS4ERR_NOTSUPP, Nfsstat4.NFS4ERR_BADTYPE}:
        expect(reply).ok()
    known = scratch.attributes(None, "symlink_support")
    works = reply.status == Nfsstat4.NFS4_OK
    what = f"symlink_support, where CREATE answers {reply.status.name}"
    expect(says, what, of=known, field="symlink_support").equals(works)


@proves(CASE_IS_AS_IT_SAYS, killed_by="getattr4-case-insensitive-is-inverted")
def test_case_insensitive(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOOKUP with another case finds the file where case_insensitive is TRUE, and nothing where it is FALSE."""
    says, file = _known(scratch, "case_insensitive"), scratch.file("MiXed")
    looking = (op.putfh(scratch.handle), op.lookup(b"mIxED"))
    if says:
        found = expect(compounds.compound(*looking, op.getfh())).ok().handle
        expect_same_object(scratch, found, file, "file by a name of another case")
    else:
        expect(compounds.compound(*looking)).refused(Nfsstat4.NFS4ERR_NOENT)


@proves(CASE_IS_PRESERVED, killed_by="readdir4-lists-lower-case")
def test_case_preserving(scratch: Nfs4Scratch) -> None:
    """READDIR lists a name in the case in which it was made, where case_preserving is TRUE."""
    if not _known(scratch, "case_preserving"):
        unsupported("case_preserving is FALSE")
    scratch.file("MiXed")
    expect_names(scratch.names(), [b"MiXed"])


@pytest.mark.parametrize("which", ["access", "modify"])
@proves(CANSETTIME_SETS, killed_by="setattr4-times-are-attrnotsupp")
def test_cansettime(compounds: Compounds, scratch: Nfs4Scratch, which: str) -> None:
    """Where cansettime is TRUE, SETATTR of a time to that of the client, and of the server, succeeds."""
    if not _known(scratch, "cansettime"):
        unsupported("cansettime is FALSE")
    file, name = scratch.file("file"), f"time_{which}_set"
    if name not in supported_names(scratch, file):
        unsupported(f"the server does not support {name}")
    for time in (p.client_time(1_000_000_000), p.SERVER_TIME):
        reply = compounds.compound(op.putfh(file), op.setattr(Fattr4().changed(**{name: time})))
        expect(reply.status, f"status of SETATTR of {name}", of=reply, field="status").satisfies(
            lambda status: status not in _REFUSALS, "one that does not refuse the attribute"
        )
        expect(reply).ok()


@proves(DELTA_IS_KEPT, killed_by="setattr4-times-are-seconds")
def test_time_delta(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR of a time with a fraction of a second keeps that as exactly as time_delta says."""
    delta = scratch.attributes(None, "time_delta").time_delta
    if delta is None:
        unsupported("the server does not support time_delta")
    width = delta.seconds * _BILLION + delta.nseconds
    file, wanted = scratch.file("file"), 1_000_000_000 * _BILLION + 123_456_789
    setting = op.setattr(Fattr4(time_modify_set=p.client_time(*divmod(wanted, _BILLION))))
    reply = compounds.compound(op.putfh(file), setting)
    if reply.status in {Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_ATTRNOTSUPP}:
        skip(f"the server does not set times: {reply.status}")
    expect(reply).ok()
    known = scratch.attributes(file, "time_modify")
    assert known.time_modify is not None
    apart = abs(known.time_modify.seconds * _BILLION + known.time_modify.nseconds - wanted)
    observe("nanoseconds of time_delta", width)
    expect(
        apart, "nanoseconds between the time that was set and time_modify", of=known, field="time_modify"
    ).at_most(width)

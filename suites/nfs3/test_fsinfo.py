# SPDX-License-Identifier: MIT
"""FSINFO (RFC 1813 section 3.3.19): the properties and limits that the server claims are true."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import KnobsView
from nfsclient.clients import Nfs3
from nfsclient.errors import ProcUnavail, SystemErr
from nfsclient.protocol.nfs3 import (
    ACCESS3_EXTEND,
    ACCESS3_MODIFY,
    FSF3_LINK,
    FSF3_SYMLINK,
    Nfsstat3,
    Nfstime3,
    Sattr3,
)
from nfsjudge import (
    Part,
    expect,
    expect_that,
    observe,
    proves,
    should,
    show,
    stated,
    unsupported,
)
from nfsjudge.expect import StatusReply, fail
from suites.nfs3.clauses import NSECONDS_BELOW_ONE_SECOND, SETS_TIMES_TO_TIME_DELTA
from suites.nfs3.limits import fsinfo
from suites.nfs3.permissions import access_of
from suites.nfs3.statuses import NO_PERMISSION
from suites.nfs3.times import A_DAY, WaitForTick, at_client_time, expect_time, is_longer_than_a_day

FSINFO_FOR_ANY_OBJECT = stated(
    "RFC 1813", "3.3.19", "FSINFO accepts the handle of any object of the file system"
)
LINK_BIT_MEANS_SUPPORT = stated("RFC 1813", "3.3.19", "a file system that sets FSF3_LINK supports hard links")
SYMLINK_BIT_MEANS_SUPPORT = stated(
    "RFC 1813", "3.3.19", "a file system that sets FSF3_SYMLINK supports symbolic links"
)
TIME_DELTA_IS_GRANULARITY = should(  # "the server should do its best"
    "RFC 1813",
    "3.3.19",
    "time_delta is the granularity of the server's times, to which it keeps the times that SETATTR sets",
)
STATES_ITS_LIMITS = should(
    "RFC 1813",
    "3.3.19",
    "the server should do its best to state its limits: maxfilesize is not 0",
    part=Part.IMPLEMENTATION,
)
PREFERS_AT_MOST_MAXIMUM = should(
    "RFC 1813", "3.3.19", "the preferred transfer size should be the maximum, or less where less is better"
)
PROPERTIES_CLAIM_SUPPORTED_LINKS = stated(
    "RFC 1813",
    "3.3.19",
    "properties has FSF3_LINK and FSF3_SYMLINK only if the file system supports such links",
)


def _expect_as_claimed(nfs3: Nfs3, directory: bytes, call: Callable[[], StatusReply]) -> None:
    """Expect a call that FSINFO claims to be supported to succeed. Room and JUKEBOX end the check as SKIP.

    So does a denial, unless ACCESS grants the change of the directory before and after the call.
    """
    __tracebackhide__ = True
    change = ACCESS3_MODIFY | ACCESS3_EXTEND
    is_granted = access_of(nfs3, directory, change) == change
    try:
        reply = call()
    except (ProcUnavail, SystemErr) as refusal:
        fail("answer", ("success",), "PROC_UNAVAIL" if isinstance(refusal, ProcUnavail) else "SYSTEM_ERR")
    if reply.status == Nfsstat3.NFS3ERR_NOTSUPP:
        expect_that(False, "success", show(reply.status), "status", reply=reply, field="status")
    if reply.status in NO_PERMISSION and is_granted and access_of(nfs3, directory, change) == change:
        expect(reply).granted()
    expect(reply).ok()


@proves(FSINFO_FOR_ANY_OBJECT, killed_by="fsinfo3-refuses-a-file")
def test_regular_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """FSINFO accepts the handle of a regular file."""
    resok = expect(nfs3.fsinfo(scratch.file("file"))).ok()
    for name in ("rtmax", "rtpref", "wtmax", "wtpref", "dtpref", "maxfilesize", "properties"):
        observe(name, getattr(resok, name))
    observe("time_delta", f"{resok.time_delta.seconds}.{resok.time_delta.nseconds:09}")


@proves(LINK_BIT_MEANS_SUPPORT, killed_by=("link3-is-not-supported", "link3-fails-after-linking"))
def test_hard_links_claimed(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch) -> None:
    """LINK is supported if FSINFO sets FSF3_LINK."""
    if not fsinfo(nfs3, root).properties & FSF3_LINK:
        unsupported("FSINFO does not set FSF3_LINK")
    file = scratch.file("file")
    _expect_as_claimed(nfs3, scratch.handle, lambda: nfs3.link(file, scratch.handle, b"link"))


@proves(SYMLINK_BIT_MEANS_SUPPORT, killed_by=("symlink3-is-not-supported", "symlink3-fails-after-linking"))
def test_symlinks_claimed(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch) -> None:
    """SYMLINK is supported if FSINFO sets FSF3_SYMLINK."""
    if not fsinfo(nfs3, root).properties & FSF3_SYMLINK:
        unsupported("FSINFO does not set FSF3_SYMLINK")
    _expect_as_claimed(nfs3, scratch.handle, lambda: nfs3.symlink(scratch.handle, b"link", b"target"))


@proves(SETS_TIMES_TO_TIME_DELTA, killed_by="setattr3-rounds-times-to-minutes", needs="cansettime")
def test_cansettime(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch) -> None:
    """With FSF3_CANSETTIME, SETATTR sets mtime to the accuracy of time_delta."""
    handle = scratch.file("file")
    asked = Nfstime3(1_000_000_007, 123_456_789)
    expect(nfs3.setattr(handle, Sattr3(mtime=at_client_time(asked)))).ok()
    expect_time(nfs3, root, "mtime", scratch.attributes(handle).mtime, asked)


@proves(NSECONDS_BELOW_ONE_SECOND, killed_by="fsinfo3-malformed-time-delta")
def test_time_delta(nfs3: Nfs3, root: bytes) -> None:
    """time_delta of FSINFO has fewer than 1,000,000,000 nanoseconds."""
    time_delta = fsinfo(nfs3, root).time_delta
    expect(time_delta).field("nseconds", "time_delta.nseconds").at_most(999_999_999)


@proves(TIME_DELTA_IS_GRANULARITY, killed_by="fsinfo3-has-no-granularity", needs="cansettime")
def test_honest_time_delta(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch, wait_for_tick: WaitForTick) -> None:
    """time_delta of FSINFO is no longer than a day if the times of the server differ by less."""
    delta = fsinfo(nfs3, root).time_delta
    observe("time_delta", show(delta))
    if is_longer_than_a_day(delta):
        for name in ("f", "g"):  # of two ticks within seconds, one may be that of such a clock
            wait_for_tick(scratch.attributes(scratch.file(name)).mtime, whatever_delta=True)
        expect(delta).field("seconds", "seconds of time_delta").at_most(A_DAY)


@proves(STATES_ITS_LIMITS, killed_by="fsinfo3-returns-maxfilesize-0")
def test_nonzero_limits(nfs3: Nfs3, root: bytes) -> None:
    """FSINFO returns a maxfilesize above 0."""
    expect(fsinfo(nfs3, root)).field("maxfilesize").at_least(1)


@pytest.mark.parametrize(
    ("preferred", "most"), [("rtpref", "rtmax"), ("wtpref", "wtmax")], ids=["rtpref", "wtpref"]
)
@proves(PREFERS_AT_MOST_MAXIMUM, killed_by="fsinfo3-prefers-more-than-the-maximum")
def test_preferred_size(nfs3: Nfs3, root: bytes, preferred: str, most: str) -> None:
    """FSINFO prefers no transfer size above its maximum."""
    limits = fsinfo(nfs3, root)
    limit: int = getattr(limits, most)
    expect(limits).field(preferred).satisfies(lambda size: size <= limit, f"at most {most} ({limit})")


# ---------------------------------------------------------------- links that the server does not support


@pytest.mark.parametrize(
    ("knob", "bit"), [("hard_links", FSF3_LINK), ("symlinks", FSF3_SYMLINK)], ids=["hard-links", "symlinks"]
)
@proves(PROPERTIES_CLAIM_SUPPORTED_LINKS, killed_by="fsinfo3-always-claims-links")
def test_links_not_claimed(nfs3: Nfs3, root: bytes, knobs: KnobsView, knob: str, bit: int) -> None:
    """FSINFO does not claim links that the server does not support."""
    knobs.set(**{knob: False})
    reply = nfs3.fsinfo(root)
    properties = expect(reply).ok().properties
    name = "FSF3_LINK" if bit == FSF3_LINK else "FSF3_SYMLINK"
    expect_that(
        not properties & bit,
        f"{name} ({bit:#x}) not set",
        f"{properties:#x}",
        "properties",
        reply=reply,
        field="resok.properties",
    )

# SPDX-License-Identifier: MIT
"""COMMIT (RFC 1813 section 3.3.21): data on stable storage, verifier, ranges, wcc_data."""

from __future__ import annotations

import pytest

from fixtures.checks import TargetView
from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import StableHow, Write3ResOk
from nfsjudge import Level, Part, Requirement, expect, proves, unsupported
from suites.nfs3.agreement import expect_same_object
from suites.nfs3.contents import committed, difference, need_kept, pattern, put, read_range

COMMIT_FLUSHES_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.21",
    gist="COMMIT flushes data that was written with UNSTABLE to stable storage",
)
COMMIT_VERIFIER_IS_CONSTANT = Requirement(
    rfc="RFC 1813",
    section="3.3.21",
    gist="verf equals that of earlier WRITEs and COMMITs until the server reboots",
    level=Level.MUST,
)
COMMIT_ZERO_COUNT = Requirement(
    rfc="RFC 1813", section="3.3.21", gist="COMMIT with count 0 flushes from offset to the end of the file"
)
COMMIT_FLUSHES_RANGE = Requirement(
    rfc="RFC 1813", section="3.3.21", gist="COMMIT flushes the range given by offset and count"
)
COMMIT_NOTHING_TO_FLUSH = Requirement(
    rfc="RFC 1813",
    section="3.3.21",
    gist="COMMIT succeeds if there is nothing to flush",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)
COMMIT_CHANGES_NOTHING = Requirement(
    rfc="RFC 1813",
    section="3.3.21",
    gist="COMMIT flushes data and changes neither the contents nor the size of the file",
)
COMMIT_WCC_BEFORE = Requirement(
    rfc="RFC 1813", section="2.5", gist="file_wcc.before has the size of the file before the COMMIT"
)
COMMIT_WCC_AFTER = Requirement(
    rfc="RFC 1813", section="3.3.21", gist="file_wcc.after has the attributes of the file after the COMMIT"
)


def _write_unstable(nfs3: Nfs3, file: bytes, data: bytes) -> list[Write3ResOk]:
    """Write `data` with UNSTABLE and return the results."""
    return put(nfs3, file, 0, data, StableHow.UNSTABLE)


@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-drops-data")
def test_committed_data_can_be_read(nfs3: Nfs3, scratch: Scratch) -> None:
    """COMMIT keeps the data that was written with UNSTABLE."""
    file = scratch.file("f", pattern(3000))
    data = pattern(10_000, salt=1)
    _write_unstable(nfs3, file, data)
    need_kept(scratch, file, data)
    expect(nfs3.commit(file)).ok()
    expect(difference(scratch.read(file), data), "first wrong byte").is_absent()


@pytest.mark.exclusive
@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-flushes-nothing")
def test_committed_data_survives_a_crash(nfs3: Nfs3, scratch: Scratch, target: TargetView) -> None:
    """Committed data survives a crash."""
    file = scratch.file("f")
    data = pattern(10_000)
    committed(nfs3, file, _write_unstable(nfs3, file, data))
    target.crash()
    seen = read_range(target.nfs3(), file, 0, len(data))
    expect(difference(seen, data), "first wrong byte after the crash").is_absent()


@pytest.mark.exclusive
@proves(COMMIT_FLUSHES_RANGE, killed_by="commit3-flushes-no-ranges")
def test_committed_range_survives_a_crash(nfs3: Nfs3, scratch: Scratch, target: TargetView) -> None:
    """A committed range survives a crash."""
    file = scratch.file("f")
    data = pattern(30_000)
    committed(nfs3, file, _write_unstable(nfs3, file, data), 10_000, 9000)
    target.crash()
    seen = read_range(target.nfs3(), file, 10_000, 9000)
    expect(difference(seen, data[10_000:19_000]), "first wrong byte of the range after the crash").is_absent()


@proves(COMMIT_VERIFIER_IS_CONSTANT, killed_by="commit3-has-its-own-verifier")
def test_verifier_is_that_of_write(nfs3: Nfs3, scratch: Scratch) -> None:
    """COMMIT returns the verifier that WRITE returned."""
    file = scratch.file("f")
    verf = _write_unstable(nfs3, file, b"data")[-1].verf
    reply = nfs3.commit(file)
    expect(reply).ok()
    expect(reply).field("resok.verf").equals(verf)


@proves(COMMIT_VERIFIER_IS_CONSTANT, killed_by="commit3-changes-verifier")
def test_verifier_is_the_same_each_time(nfs3: Nfs3, scratch: Scratch) -> None:
    """COMMIT returns the same verifier each time."""
    file = scratch.file("f", b"data")
    verf = expect(nfs3.commit(file)).ok().verf
    reply = nfs3.commit(file)
    expect(reply).ok()
    expect(reply).field("resok.verf").equals(verf)


@proves(COMMIT_ZERO_COUNT, killed_by="commit3-refuses-count-zero")
def test_whole_file_is_offset_0_and_count_0(nfs3: Nfs3, scratch: Scratch) -> None:
    """COMMIT with offset 0 and count 0 succeeds."""
    file = scratch.file("f")
    _write_unstable(nfs3, file, pattern(5000))
    expect(nfs3.commit(file, 0, 0)).ok()


@proves(COMMIT_ZERO_COUNT, killed_by="commit3-refuses-ranges")
def test_rest_of_the_file_is_count_0(nfs3: Nfs3, scratch: Scratch) -> None:
    """COMMIT with count 0 and an offset inside the file succeeds."""
    file = scratch.file("f")
    _write_unstable(nfs3, file, pattern(5000))
    expect(nfs3.commit(file, 1234, 0)).ok()


@proves(COMMIT_FLUSHES_RANGE, killed_by="commit3-refuses-ranges")
def test_part_of_the_file_can_be_committed(nfs3: Nfs3, scratch: Scratch) -> None:
    """COMMIT of a part of a file succeeds and keeps all data."""
    file = scratch.file("f")
    data = pattern(20_000)
    _write_unstable(nfs3, file, data)
    need_kept(scratch, file, data)
    expect(nfs3.commit(file, 4097, 5000)).ok()
    expect(difference(scratch.read(file), data), "first wrong byte").is_absent()


@proves(COMMIT_NOTHING_TO_FLUSH, killed_by="commit3-refuses-clean-files")
def test_nothing_to_flush_is_no_error(nfs3: Nfs3, scratch: Scratch) -> None:
    """COMMIT succeeds when there is nothing to flush."""
    for name, data in (("empty", b""), ("stable", pattern(5000))):
        expect(nfs3.commit(scratch.file(name, data))).ok()


@proves(COMMIT_CHANGES_NOTHING, killed_by="commit3-extends")
def test_range_behind_the_end_does_not_extend(nfs3: Nfs3, scratch: Scratch) -> None:
    """COMMIT of a range beyond the end does not extend the file."""
    file = scratch.file("f")
    _write_unstable(nfs3, file, pattern(1000))
    nfs3.commit(file, 500, 10_000)
    expect(scratch.attributes(file).size, "size").equals(1000)


@proves(COMMIT_WCC_BEFORE, killed_by="commit3-before-has-no-size")
def test_wcc_before_has_the_size_that_getattr_said(nfs3: Nfs3, scratch: Scratch) -> None:
    """COMMIT returns in file_wcc.before the size that GETATTR returned before the call."""
    file = scratch.file("f")
    _write_unstable(nfs3, file, pattern(1000))
    known = scratch.attributes(file)
    reply = nfs3.commit(file)
    if expect(reply).ok().file_wcc.before is None:
        unsupported("COMMIT withholds the attributes from before")
    expect(reply).field("resok.file_wcc.before.size").equals(known.size)


@proves(COMMIT_WCC_AFTER, killed_by="commit3-after-has-another-fileid")
def test_wcc_after_is_what_getattr_says(nfs3: Nfs3, scratch: Scratch) -> None:
    """COMMIT returns in file_wcc.after what GETATTR returns after the call."""
    file = scratch.file("f")
    _write_unstable(nfs3, file, pattern(1000))
    reply = nfs3.commit(file)
    if expect(reply).ok().file_wcc.after is None:
        unsupported("COMMIT withholds the attributes from after")
    expect_same_object(reply, "resok.file_wcc.after", scratch.attributes(file))

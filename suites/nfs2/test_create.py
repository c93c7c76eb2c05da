# SPDX-License-Identifier: MIT
"""CREATE (RFC 1094 section 2.2.10) makes a regular file with the given attributes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Ftype, Nfsstat2, Sattr, Timeval
from nfsjudge import (
    Harm,
    expect,
    expect_attributes,
    expect_data,
    expect_names,
    observe,
    proves,
    should,
    skip,
    stated,
)
from suites.nfs2.clauses import CHECKS_PERMISSIONS, NAME_IS_KEPT_EXACTLY, SUCCESS_ADDS_NAME
from suites.nfs2.names import UNUSUAL, expect_exact_name
from suites.nfs2.objects import expect_same, mode_id, other_user

CREATE_MAKES_FILE = stated(
    "RFC 1094",
    "2.2.10",
    "CREATE creates the file under the given name and returns its handle and attributes",
    harm=Harm.SUCCESS,
)
CREATE_SETS_ATTRIBUTES = should(  # a server may mask them
    "RFC 1094", "2.2.10", "attributes are the initial attributes of the new file"
)
CREATE_NEEDS_NO_ATTRIBUTES = should(  # a server may require a mode: the text defines no default
    "RFC 1094", "2.3.6", "attribute fields of -1 are ignored, so CREATE works without any attribute"
)
CREATE_IGNORES_MINUS_ONE = should(
    "RFC 1094",
    "2.3.6",
    "a field of -1 is ignored: a size of -1 does not truncate an existing file",
    harm=Harm.DATA,
)
CREATE_TRUNCATES_TO_ZERO = should(
    "RFC 1094", "2.3.6", "a size of zero truncates the file, also an existing file of that name"
)
_ROUGHLY = 10
"""Seconds: file systems round times, most of them by less than two."""


@proves(CREATE_MAKES_FILE, killed_by="create2-makes-a-fifo")
def test_makes_regular_file(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """CREATE makes an empty regular file."""
    expect(nfs2.create(scratch.handle, b"new", Sattr(mode=0o644))).ok()
    found = expect(nfs2.lookup(scratch.handle, b"new")).ok()
    expect_attributes(found.attributes, "the new file", type=Ftype.NFREG, size=0)


@proves(CREATE_MAKES_FILE, killed_by="create2-returns-the-handle-of-the-directory")
def test_returns_handle(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """CREATE returns the handle of the new file."""
    made = expect(nfs2.create(scratch.handle, b"new", Sattr(mode=0o644))).ok()
    expect(nfs2.write(made.file, 0, b"data")).ok()
    found = expect(nfs2.lookup(scratch.handle, b"new")).ok()
    expect_data(scratch.read(found.file), b"data", "data of the new file")


@proves(CREATE_MAKES_FILE, killed_by="create2-returns-attributes-of-the-directory")
def test_returns_attributes(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """CREATE returns the attributes of the new file."""
    made = expect(nfs2.create(scratch.handle, b"new", Sattr(mode=0o644))).ok()
    expect_same(made.attributes, scratch.attributes(made.file))


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o644, 0o755], ids=mode_id)
@proves(CREATE_SETS_ATTRIBUTES, killed_by="create2-inverts-group-write")
def test_sets_mode(nfs2: Nfs2, scratch: Nfs2Scratch, mode: int) -> None:
    """CREATE gives the new file the permission bits of the call."""
    made = expect(nfs2.create(scratch.handle, b"new", Sattr(mode=mode))).ok()
    expect(scratch.attributes(made.file).mode & 0o777, "permission bits of mode", field="mode").equals(mode)


@proves(CREATE_NEEDS_NO_ATTRIBUTES, killed_by="create2-requires-attributes")
def test_no_attributes(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """CREATE makes a regular file when no attributes are given."""
    made = expect(nfs2.create(scratch.handle, b"new", Sattr())).granted()
    expect_names(scratch.names(), [b"new"], "names in the directory after CREATE")
    expect(expect(nfs2.getattr(made.file)).ok()).field("type").equals(Ftype.NFREG)


@proves(CREATE_MAKES_FILE, killed_by="create2-makes-a-fifo")
def test_mode_with_type(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """CREATE accepts a mode that includes the type bits of a regular file."""
    # UNIX clients do this: sattr has the fields of fattr, and mode of fattr includes the type.
    made = expect(nfs2.create(scratch.handle, b"new", Sattr(mode=0o100644))).ok()
    expect(scratch.attributes(made.file)).field("type").equals(Ftype.NFREG)


@proves(CREATE_IGNORES_MINUS_ONE, killed_by="create2-truncates-if-size-is-unset")
def test_existing_keeps_data(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """CREATE without a size keeps the data of an existing file."""
    file = scratch.file("f", b"data")
    observe("answer", nfs2.create(scratch.handle, b"f", Sattr(mode=0o644)).status)
    expect_data(scratch.read(file), b"data")


@proves(CREATE_TRUNCATES_TO_ZERO, killed_by="create2-never-truncates")
def test_existing_truncated(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """CREATE with size 0 truncates an existing file."""
    file = scratch.file("f", b"data")
    reply = nfs2.create(scratch.handle, b"f", Sattr(mode=0o644, size=0))
    if reply.status != Nfsstat2.NFS_OK:
        skip(f"CREATE of an existing file is refused: it answers {reply.status}", reply)
    expect(scratch.attributes(file)).field("size", "size after CREATE with size 0").equals(0)


@proves(CHECKS_PERMISSIONS, killed_by="create2-ignores-permissions", needs="other_users")
def test_other_user_refused(as_user: Callable[..., Nfs2], scratch: Nfs2Scratch) -> None:
    """CREATE refuses a user who may not write to the directory."""
    directory = scratch.directory("d", mode=0o755)
    other = other_user(as_user, scratch)
    expect(other.create(directory, b"new", Sattr(mode=0o644))).refused()


@pytest.mark.parametrize("name", list(UNUSUAL.values())[3:], ids=list(UNUSUAL)[3:])
@proves(SUCCESS_ADDS_NAME, NAME_IS_KEPT_EXACTLY, killed_by="nfs2-changes-names-with-special-bytes")
def test_unusual_name(second_client: Nfs2, scratch: Nfs2Scratch, name: bytes) -> None:
    """CREATE makes a file under exactly the given name, or none when it refuses."""
    expect_exact_name(second_client, scratch, "CREATE", name)


@proves(CREATE_SETS_ATTRIBUTES, killed_by="create2-swaps-times")
def test_initial_times(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """CREATE gives the new file the two times of the call."""
    asked = Sattr(mode=0o755, atime=Timeval(1_000_000_000), mtime=Timeval(1_100_000_000, 500_000))
    made = expect(nfs2.create(scratch.handle, b"new", asked)).ok()
    known = scratch.attributes(made.file)
    for which in ("atime", "mtime"):
        apart = abs(getattr(known, which).seconds - getattr(asked, which).seconds)
        expect(apart, f"seconds between {which} of the call and of the new file").at_most(_ROUGHLY)

# SPDX-License-Identifier: MIT
"""READLINK (RFC 1813 section 3.3.5): returns the data of a symbolic link as it was stored."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Harm, Part, expect, proves, should, stated, unsupported
from suites.nfs3.attributes import expect_same_object
from suites.nfs3.clauses import GRANTS_WITH_PERMISSION, SYMLINK_DATA_IS_NOT_INTERPRETED
from suites.nfs3.file_types import SPECIAL, make
from suites.nfs3.permissions import STRANGER

READLINK_RETURNS_DATA = stated(
    "RFC 1813", "3.3.5", "READLINK returns the data of the symbolic link", harm=Harm.DATA
)
READLINK_RETURNS_ATTRIBUTES = stated(
    "RFC 1813", "3.3.5", "symlink_attributes are the attributes of the symbolic link"
)
READLINK_NEEDS_A_SYMLINK = should(
    "RFC 1813",
    "3.3.5",
    "READLINK is allowed only on symbolic links, and returns NFS3ERR_INVAL for other objects",
    part=Part.IMPLEMENTATION,
)
READLINK_FAILURE_RETURNS_ATTRIBUTES = stated(
    "RFC 1813", "3.3.5", "if READLINK fails, symlink_attributes are those of the object, if present"
)


@proves(READLINK_RETURNS_DATA, killed_by="readlink3-drops-last-byte", needs="symlink")
def test_data(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READLINK returns the data of the symbolic link."""
    reply = nfs3.readlink(scratch.symlink("link", b"some/where"))
    expect(reply).ok()
    expect(reply).field("resok.data").equals(b"some/where")


@proves(SYMLINK_DATA_IS_NOT_INTERPRETED, killed_by="symlink3-merges-slashes", needs="symlink")
def test_data_not_normalized(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READLINK returns a path with redundant slashes, dots and blanks unchanged."""
    data = b"//no/./such/..//place/ with blanks "
    reply = nfs3.readlink(scratch.symlink("link", data))
    expect(reply).ok()
    expect(reply).field("resok.data").equals(data)


@proves(READLINK_RETURNS_DATA, killed_by="readlink3-cuts-long-data", needs="symlink")
def test_long_data(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READLINK returns the complete data of a long symbolic link."""
    data = b"/".join([b"directory-%03d" % number for number in range(64)])
    reply = nfs3.readlink(scratch.symlink("link", data))
    expect(reply).ok()
    expect(reply).field("resok.data").equals(data)


@proves(READLINK_RETURNS_ATTRIBUTES, killed_by="readlink3-attributes-of-the-root", needs="symlink")
def test_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READLINK returns the attributes of the symbolic link."""
    handle = scratch.symlink("link", b"target")
    reply = nfs3.readlink(handle)
    if expect(reply).ok().symlink_attributes is None:
        unsupported("READLINK returned no symlink_attributes, which are optional")
    expect(reply).field("resok.symlink_attributes.fileid").equals(scratch.attributes(handle).fileid)


@proves(READLINK_NEEDS_A_SYMLINK, killed_by="readlink3-reads-files")
def test_regular_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READLINK of a regular file fails with NFS3ERR_INVAL."""
    reply = nfs3.readlink(scratch.file("file", b"no link"))
    expect(reply).refused(Nfsstat3.NFS3ERR_INVAL, because=READLINK_NEEDS_A_SYMLINK)


# ---------------------------------------------------------------- other users


@proves(GRANTS_WITH_PERMISSION, killed_by="readlink3-needs-permission", needs=("other_users", "symlink"))
def test_other_user(as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """READLINK works for every user."""
    reply = as_user(*STRANGER).readlink(scratch.symlink("link", b"target"))
    expect(reply).granted()


# ---------------------------------------------------------------- objects that are not symbolic links


@pytest.mark.parametrize("kind", ["directory", *SPECIAL])
@proves(READLINK_NEEDS_A_SYMLINK, killed_by="readlink3-reads-non-links")
def test_not_a_symlink(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """READLINK of an object that is not a symbolic link fails with NFS3ERR_INVAL."""
    reply = nfs3.readlink(make(nfs3, scratch, kind))
    expect(reply).refused(Nfsstat3.NFS3ERR_INVAL, because=READLINK_NEEDS_A_SYMLINK)


@pytest.mark.parametrize("kind", ["regular", "directory", *SPECIAL])
@proves(READLINK_FAILURE_RETURNS_ATTRIBUTES, killed_by="readlink3-refusals-show-a-link")
def test_failure_attributes(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """A READLINK that fails returns the attributes of the object."""
    handle = make(nfs3, scratch, kind)
    reply = nfs3.readlink(handle)
    if reply.resfail is None or reply.resfail.symlink_attributes is None:
        unsupported("READLINK succeeded, or returned an error without symlink_attributes, which are optional")
    expect_same_object(reply, "resfail.symlink_attributes", scratch.attributes(handle))

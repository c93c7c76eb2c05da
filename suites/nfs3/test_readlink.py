# SPDX-License-Identifier: MIT
"""READLINK (RFC 1813 section 3.3.5): returns the data of a symbolic link as it was stored."""

from __future__ import annotations

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Part, Requirement, expect, proves, unsupported

READLINK_RETURNS_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.5",
    gist="READLINK returns the data of the symbolic link",
)
SYMLINK_DATA_IS_NOT_INTERPRETED = Requirement(
    rfc="RFC 1813", section="3.3.5", gist="the data of a symbolic link is stored as it is, not interpreted"
)
READLINK_RETURNS_ATTRIBUTES = Requirement(
    rfc="RFC 1813", section="3.3.5", gist="symlink_attributes are the attributes of the symbolic link"
)
READLINK_NEEDS_A_SYMLINK = Requirement(
    rfc="RFC 1813",
    section="3.3.5",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="READLINK is allowed only on symbolic links, and returns NFS3ERR_INVAL for other objects",
)


@proves(READLINK_RETURNS_DATA, killed_by="readlink3-drops-last-byte", needs="symlink")
def test_returns_what_was_stored(nfs3: Nfs3, scratch: Scratch) -> None:
    """READLINK returns the data of the symbolic link."""
    reply = nfs3.readlink(scratch.symlink("link", b"some/where"))
    expect(reply).ok()
    expect(reply).field("resok.data").equals(b"some/where")


@proves(SYMLINK_DATA_IS_NOT_INTERPRETED, killed_by="symlink3-tidies-the-data", needs="symlink")
def test_the_data_is_not_tidied(nfs3: Nfs3, scratch: Scratch) -> None:
    """READLINK returns a path with redundant slashes, dots and blanks unchanged."""
    data = b"//no/./such/..//place/ with blanks "
    reply = nfs3.readlink(scratch.symlink("link", data))
    expect(reply).ok()
    expect(reply).field("resok.data").equals(data)


@proves(READLINK_RETURNS_DATA, killed_by="readlink3-cuts-long-data", needs="symlink")
def test_long_data_is_returned_whole(nfs3: Nfs3, scratch: Scratch) -> None:
    """READLINK returns the complete data of a long symbolic link."""
    data = b"/".join([b"directory-%03d" % number for number in range(64)])
    reply = nfs3.readlink(scratch.symlink("link", data))
    expect(reply).ok()
    expect(reply).field("resok.data").equals(data)


@proves(READLINK_RETURNS_ATTRIBUTES, killed_by="readlink3-attributes-of-the-root", needs="symlink")
def test_attributes_are_those_of_the_link(nfs3: Nfs3, scratch: Scratch) -> None:
    """READLINK returns the attributes of the symbolic link."""
    handle = scratch.symlink("link", b"target")
    reply = nfs3.readlink(handle)
    if expect(reply).ok().symlink_attributes is None:
        unsupported("the server withholds the attributes")
    expect(reply).field("resok.symlink_attributes.fileid").equals(scratch.attributes(handle).fileid)


@proves(READLINK_NEEDS_A_SYMLINK, killed_by="readlink3-reads-files")
def test_refuses_a_file(nfs3: Nfs3, scratch: Scratch) -> None:
    """READLINK of a regular file fails with NFS3ERR_INVAL."""
    reply = nfs3.readlink(scratch.file("file", b"no link"))
    expect(reply).refused(Nfsstat3.NFS3ERR_INVAL, because=READLINK_NEEDS_A_SYMLINK)

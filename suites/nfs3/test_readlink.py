# SPDX-License-Identifier: MIT
"""READLINK (RFC 1813 section 3.3.5): the data of a symbolic link, as it was stored."""

from __future__ import annotations

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Part, Requirement, expect, proves, unsupported

RETURNS_THE_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.5",
    gist="READLINK returns the data that is associated with the symbolic link",
)
NOT_INTERPRETED = Requirement(
    rfc="RFC 1813", section="3.3.5", gist="the data of a symbolic link is not interpreted, but simply stored"
)
ATTRIBUTES = Requirement(
    rfc="RFC 1813", section="3.3.5", gist="symlink_attributes are those of the symbolic link"
)
OF_A_LINK = Requirement(
    rfc="RFC 1813",
    section="3.3.5",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="READLINK is only allowed on symbolic links; INVAL is the error for other objects",
)


@proves(RETURNS_THE_DATA, killed_by="readlink3-drops-last-byte", needs="symlink")
def test_returns_what_was_stored(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = nfs3.readlink(scratch.symlink("link", b"some/where"))
    expect(reply).ok()
    expect(reply).field("resok.data").equals(b"some/where")


@proves(NOT_INTERPRETED, killed_by="symlink3-tidies-the-data", needs="symlink")
def test_the_data_is_not_tidied(nfs3: Nfs3, scratch: Scratch) -> None:
    data = b"//no/./such/..//place/ with blanks "
    reply = nfs3.readlink(scratch.symlink("link", data))
    expect(reply).ok()
    expect(reply).field("resok.data").equals(data)


@proves(RETURNS_THE_DATA, killed_by="readlink3-cuts-long-data", needs="symlink")
def test_long_data_is_returned_whole(nfs3: Nfs3, scratch: Scratch) -> None:
    data = b"/".join([b"directory-%03d" % number for number in range(64)])
    reply = nfs3.readlink(scratch.symlink("link", data))
    expect(reply).ok()
    expect(reply).field("resok.data").equals(data)


@proves(ATTRIBUTES, killed_by="readlink3-attributes-of-the-root", needs="symlink")
def test_attributes_are_those_of_the_link(nfs3: Nfs3, scratch: Scratch) -> None:
    handle = scratch.symlink("link", b"target")
    reply = nfs3.readlink(handle)
    if expect(reply).ok().symlink_attributes is None:
        unsupported("the server withholds the attributes")
    expect(reply).field("resok.symlink_attributes.fileid").equals(scratch.attributes(handle).fileid)


@proves(OF_A_LINK, killed_by="readlink3-reads-files")
def test_refuses_a_file(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = nfs3.readlink(scratch.file("file", b"no link"))
    expect(reply).refused(Nfsstat3.NFS3ERR_INVAL, because=OF_A_LINK)

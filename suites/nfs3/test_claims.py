# SPDX-License-Identifier: MIT
"""FSSTAT, FSINFO and PATHCONF (RFC 1813 sections 3.3.18 to 3.3.20): objects of every type, and whether claims hold."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import (
    LINK,
    MKDIR,
    REMOVE,
    RMDIR,
    Diropargs3,
    Link3Args,
    Mkdir3Args,
    Nfsstat3,
    Remove3Args,
    Rmdir3Args,
    Sattr3,
)
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Level, Requirement, expect, observe, proves, skip, unsupported
from suites.nfs3 import kinds
from suites.nfs3.agreement import expect_same_object
from suites.nfs3.limits import fsinfo

FS_INFO_FOR_ANY_OBJECT = Requirement(
    rfc="RFC 1813",
    section="3.3.18",
    gist="FSSTAT, FSINFO (3.3.19) and PATHCONF (3.3.20) accept the handle of any object of the file system",
)
FS_INFO_RETURNS_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.18",
    gist="obj_attributes of FSSTAT (and FSINFO, PATHCONF) are the attributes of the object in the call",
)
HOMOGENEOUS_MEANS_SAME_PATHCONF = Requirement(
    rfc="RFC 1813",
    section="3.3.19",
    gist="if FSF3_HOMOGENEOUS is set, PATHCONF returns the same for every file and directory of the file system",
)
PREFERS_AT_MOST_MAXIMUM = Requirement(
    rfc="RFC 1813",
    section="3.3.19",
    level=Level.SHOULD,
    gist="the preferred transfer size should be the maximum, or less where less is better",
)
LINKMAX_LIMITS_LINKS = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    level=Level.SHOULD,  # a server of several kinds of file system may not know the exact limit of each
    gist="linkmax is the maximum number of hard links to an object",
)
RETURNS_MLINK = Requirement(
    rfc="RFC 1813", section="2.6", level=Level.SHOULD, gist="NFS3ERR_MLINK reports too many hard links"
)

FS_INFO: t.Final[dict[str, Callable[[Nfs3, bytes], t.Any]]] = {
    "FSSTAT": lambda nfs3, handle: nfs3.fsstat(handle),
    "FSINFO": lambda nfs3, handle: nfs3.fsinfo(handle),
    "PATHCONF": lambda nfs3, handle: nfs3.pathconf(handle),
}
TYPES: t.Final = ("directory", "symlink", "fifo", "socket")
"""Types other than regular files. Devices would add nothing: servers treat all special files alike here."""
PATHCONF_FIELDS: t.Final = (
    "linkmax",
    "name_max",
    "no_trunc",
    "chown_restricted",
    "case_insensitive",
    "case_preserving",
)
MOST_LINKS: t.Final = 2000
"""The checks do not try a linkmax above this."""


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("procedure", FS_INFO, ids=str.lower)
@proves(FS_INFO_FOR_ANY_OBJECT, killed_by="info3-refuses-what-is-no-file")
def test_is_answered_for_a(nfs3: Nfs3, scratch: Scratch, procedure: str, kind: str) -> None:
    """FSSTAT, FSINFO and PATHCONF accept handles of objects that are not regular files."""
    expect(FS_INFO[procedure](nfs3, kinds.make(nfs3, scratch, kind))).ok()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("procedure", FS_INFO, ids=str.lower)
@proves(FS_INFO_RETURNS_ATTRIBUTES, killed_by="info3-attributes-of-the-root")
def test_attributes_are_those_of_the(nfs3: Nfs3, scratch: Scratch, procedure: str, kind: str) -> None:
    """FSSTAT, FSINFO and PATHCONF return the attributes of the object, whatever its type."""
    handle = kinds.make(nfs3, scratch, kind)
    reply = FS_INFO[procedure](nfs3, handle)
    if reply.resok is None:
        skip(f"{procedure} answers {reply.status}")
    if reply.resok.obj_attributes is None:
        unsupported("the server withholds the attributes")
    expect_same_object(reply, "resok.obj_attributes", scratch.attributes(handle))


@pytest.mark.parametrize("kind", ["symlink", *kinds.SPECIAL])
@proves(HOMOGENEOUS_MEANS_SAME_PATHCONF, killed_by="pathconf3-differs-by-type", needs="homogeneous")
def test_pathconf_is_as_claimed_the_same_for_a(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """With FSF3_HOMOGENEOUS, PATHCONF returns the same for objects of every type."""
    handle = kinds.make(nfs3, scratch, kind)
    directory = expect(nfs3.pathconf(scratch.handle)).ok()
    other = expect(nfs3.pathconf(handle)).ok()
    for name in PATHCONF_FIELDS:
        expect(getattr(other, name), f"{name} of a {kind}").equals(getattr(directory, name))


@pytest.mark.parametrize(
    ("preferred", "most"), [("rtpref", "rtmax"), ("wtpref", "wtmax")], ids=["rtpref", "wtpref"]
)
@proves(PREFERS_AT_MOST_MAXIMUM, killed_by="fsinfo3-prefers-more-than-it-moves")
def test_no_more_than_the_most_is_preferred(nfs3: Nfs3, root: bytes, preferred: str, most: str) -> None:
    """FSINFO prefers no transfer size above its maximum."""
    told = fsinfo(nfs3, root)
    expect(getattr(told, preferred), preferred).at_most(getattr(told, most))


Links: t.TypeAlias = Callable[[bytes, int], t.Any]


@pytest.fixture
def links(scratch: Scratch, rpc_connect: Callable[..., RpcClient]) -> Iterator[Links]:
    """Makes many hard links to a file and returns the first reply that is not OK, or None. Removes the links later."""
    rpc = rpc_connect("nfs")
    names: list[bytes] = []

    def act(file: bytes, count: int) -> t.Any:
        names.extend(b"link-%05d" % number for number in range(count))
        places = (Link3Args(file, Diropargs3(scratch.handle, name)) for name in names)
        refused = None
        # One at a time: with many in flight, the first refused link need not be the one that exceeds the limit.
        for _, reply in rpc.pipeline(LINK, places, outstanding=1):
            if reply.status != Nfsstat3.NFS3_OK:
                refused = reply
                break
        return refused

    yield act
    if rpc.is_open:
        gone = (Remove3Args(Diropargs3(scratch.handle, name)) for name in names)
        for _ in rpc.pipeline(REMOVE, gone):
            pass


@proves(LINKMAX_LIMITS_LINKS, RETURNS_MLINK, killed_by="pathconf3-understates-linkmax", needs="hardlink")
def test_no_more_links_than_linkmax(nfs3: Nfs3, scratch: Scratch, links: Links) -> None:
    """LINK fails with MLINK once a file has linkmax links."""
    file = scratch.file("f")
    linkmax = expect(nfs3.pathconf(file)).ok().linkmax
    observe("linkmax", linkmax)
    if not 1 <= linkmax <= MOST_LINKS:
        skip(f"linkmax is {linkmax}: checks do not make so many links")
    refused = links(file, linkmax - 1)
    if refused is not None:
        # linkmax is a maximum: the server does not promise that so many links work.
        observe("a link below linkmax", refused.status)
        return
    reply = nfs3.link(file, scratch.handle, b"one too many")
    expect(reply).refused(Nfsstat3.NFS3ERR_MLINK, because=RETURNS_MLINK)


@pytest.fixture
def subdirectories(rpc_connect: Callable[..., RpcClient], scratch: Scratch) -> Iterator[Links]:
    """Makes many subdirectories and returns the first reply that is not OK, or None. Removes them later."""
    del scratch  # only so that it is removed after them
    rpc = rpc_connect("nfs")
    places: list[Diropargs3] = []

    def act(directory: bytes, count: int) -> t.Any:
        places.extend(Diropargs3(directory, b"directory-%05d" % number) for number in range(count))
        asked = (Mkdir3Args(place, Sattr3(mode=0o755)) for place in places)
        for _, reply in rpc.pipeline(MKDIR, asked, outstanding=1):
            if reply.status != Nfsstat3.NFS3_OK:
                return reply
        return None

    yield act
    if rpc.is_open:
        for _ in rpc.pipeline(RMDIR, (Rmdir3Args(place) for place in places)):
            pass


@proves(RETURNS_MLINK, killed_by="rename3-too-many-directories-is-io")
def test_a_directory_too_many_is_told_as_such(nfs3: Nfs3, scratch: Scratch, subdirectories: Links) -> None:
    """RENAME of a directory into a parent with linkmax links succeeds or fails with MLINK."""
    full = scratch.directory("full")
    linkmax = expect(nfs3.pathconf(full)).ok().linkmax
    observe("linkmax", linkmax)
    if not 2 <= linkmax <= MOST_LINKS:
        skip(f"linkmax is {linkmax}: checks do not make so many directories")
    # On UNIX the ".." of each is a link to the parent, which also has its own name and its ".".
    refused = subdirectories(full, linkmax - 2)
    if refused is not None and refused.status != Nfsstat3.NFS3ERR_MLINK:
        skip(f"so many directories are not made: {refused.status}")
    scratch.directory("moved")
    reply = nfs3.rename(scratch.handle, b"moved", full, b"moved")
    observe("RENAME of one too many", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:  # the server need not count links of directories
        expect(reply).refused(Nfsstat3.NFS3ERR_MLINK, because=RETURNS_MLINK)

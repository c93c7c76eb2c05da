# SPDX-License-Identifier: MIT
"""FSSTAT, FSINFO and PATHCONF (RFC 1813 sections 3.3.18 to 3.3.20): objects of any type, and claims held."""

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

OF_AN_OBJECT = Requirement(
    rfc="RFC 1813",
    section="3.3.18",
    gist="FSSTAT, FSINFO (3.3.19) and PATHCONF (3.3.20) answer for a handle of an object of the file system",
)
ATTRIBUTES = Requirement(
    rfc="RFC 1813", section="3.3.18", gist="obj_attributes are those of the object that was asked about"
)
HOMOGENEOUS_BIT = Requirement(
    rfc="RFC 1813",
    section="3.3.19",
    gist="with FSF3_HOMOGENEOUS, PATHCONF is the same for every file and directory of the file system",
)
PREFERRED = Requirement(
    rfc="RFC 1813",
    section="3.3.19",
    level=Level.SHOULD,
    gist="the preferred size of a transfer is the largest one, unless a smaller one is better",
)
LINKMAX = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    level=Level.SHOULD,  # servers that serve file systems of several kinds may state the limit of none exactly
    gist="linkmax is the most hard links that an object may have",
)
MLINK_IS_MEANT = Requirement(
    rfc="RFC 1813", section="2.6", level=Level.SHOULD, gist="MLINK says that there are too many hard links"
)

ASKING: t.Final[dict[str, Callable[[Nfs3, bytes], t.Any]]] = {
    "FSSTAT": lambda nfs3, handle: nfs3.fsstat(handle),
    "FSINFO": lambda nfs3, handle: nfs3.fsinfo(handle),
    "PATHCONF": lambda nfs3, handle: nfs3.pathconf(handle),
}
CLAIMS: t.Final = (
    "linkmax",
    "name_max",
    "no_trunc",
    "chown_restricted",
    "case_insensitive",
    "case_preserving",
)
MOST_LINKS: t.Final = 2000
"""A linkmax above this is not tried."""


@pytest.mark.parametrize("kind", kinds.NOT_REGULAR)
@pytest.mark.parametrize("procedure", ASKING)
@proves(OF_AN_OBJECT, killed_by="info3-refuses-what-is-no-file")
def test_is_answered_for_a(nfs3: Nfs3, scratch: Scratch, procedure: str, kind: str) -> None:
    expect(ASKING[procedure](nfs3, kinds.make(nfs3, scratch, kind))).ok()


@pytest.mark.parametrize("kind", kinds.NOT_REGULAR)
@pytest.mark.parametrize("procedure", ASKING)
@proves(ATTRIBUTES, killed_by="info3-attributes-of-the-root")
def test_attributes_are_those_of_the(nfs3: Nfs3, scratch: Scratch, procedure: str, kind: str) -> None:
    handle = kinds.make(nfs3, scratch, kind)
    reply = ASKING[procedure](nfs3, handle)
    if reply.resok is None:
        skip(f"{procedure} answers {reply.status}")
    if reply.resok.obj_attributes is None:
        unsupported("the server withholds the attributes")
    expect_same_object(reply, "resok.obj_attributes", scratch.attributes(handle))


@pytest.mark.parametrize("kind", ["symlink", *kinds.SPECIAL])
@proves(HOMOGENEOUS_BIT, killed_by="pathconf3-differs-by-type", needs="homogeneous")
def test_pathconf_is_as_claimed_the_same_for_a(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    handle = kinds.make(nfs3, scratch, kind)
    directory = expect(nfs3.pathconf(scratch.handle)).ok()
    other = expect(nfs3.pathconf(handle)).ok()
    for name in CLAIMS:
        expect(getattr(other, name), f"{name} of a {kind}").equals(getattr(directory, name))


@pytest.mark.parametrize(("preferred", "most"), [("rtpref", "rtmax"), ("wtpref", "wtmax")])
@proves(PREFERRED, killed_by="fsinfo3-prefers-more-than-it-moves")
def test_no_more_than_the_most_is_preferred(nfs3: Nfs3, root: bytes, preferred: str, most: str) -> None:
    told = fsinfo(nfs3, root)
    expect(getattr(told, preferred), preferred).at_most(getattr(told, most))


Links: t.TypeAlias = Callable[[bytes, int], t.Any]


@pytest.fixture
def links(scratch: Scratch, rpc_connect: Callable[..., RpcClient]) -> Iterator[Links]:
    """Gives a file many names at once; the first answer that is not OK, or None. Takes the names away again."""
    rpc = rpc_connect("nfs")
    names: list[bytes] = []

    def act(file: bytes, count: int) -> t.Any:
        names.extend(b"link-%05d" % number for number in range(count))
        places = (Link3Args(file, Diropargs3(scratch.handle, name)) for name in names)
        refused = None
        # One after the other: with many under way the first that is refused need not be one too many.
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


@proves(LINKMAX, MLINK_IS_MEANT, killed_by="pathconf3-understates-linkmax", needs="hardlink")
def test_no_more_links_than_linkmax(nfs3: Nfs3, scratch: Scratch, links: Links) -> None:
    file = scratch.file("f")
    linkmax = expect(nfs3.pathconf(file)).ok().linkmax
    observe("linkmax", linkmax)
    if not 1 <= linkmax <= MOST_LINKS:
        skip(f"linkmax is {linkmax}: checks do not make so many links")
    refused = links(file, linkmax - 1)
    if refused is not None:
        # What is claimed is a limit; that the last link below it works is not.
        observe("a link below linkmax", refused.status)
        return
    reply = nfs3.link(file, scratch.handle, b"one too many")
    expect(reply).refused(Nfsstat3.NFS3ERR_MLINK, because=MLINK_IS_MEANT)


@pytest.fixture
def subdirectories(rpc_connect: Callable[..., RpcClient], scratch: Scratch) -> Iterator[Links]:
    """Gives a directory many subdirectories at once, up to the first refusal. Takes them away again."""
    del scratch  # removed after them
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


@proves(MLINK_IS_MEANT, killed_by="rename3-too-many-directories-is-io")
def test_a_directory_too_many_is_told_as_such(nfs3: Nfs3, scratch: Scratch, subdirectories: Links) -> None:
    full = scratch.directory("full")
    linkmax = expect(nfs3.pathconf(full)).ok().linkmax
    observe("linkmax", linkmax)
    if not 2 <= linkmax <= MOST_LINKS:
        skip(f"linkmax is {linkmax}: checks do not make so many directories")
    # On UNIX each is a link to the one above, by its dotdot; that one has its own name and its dot besides.
    refused = subdirectories(full, linkmax - 2)
    if refused is not None and refused.status != Nfsstat3.NFS3ERR_MLINK:
        skip(f"so many directories are not made: {refused.status}")
    scratch.directory("moved")
    reply = nfs3.rename(scratch.handle, b"moved", full, b"moved")
    observe("RENAME of one too many", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:  # links of directories may not be counted at all
        expect(reply).refused(Nfsstat3.NFS3ERR_MLINK, because=MLINK_IS_MEANT)

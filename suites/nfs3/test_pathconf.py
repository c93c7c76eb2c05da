# SPDX-License-Identifier: MIT
"""PATHCONF (RFC 1813 section 3.3.20): its claims about names and owners are true."""

from __future__ import annotations

from collections.abc import Callable

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Nfsstat3, Pathconf3ResOk, Sattr3
from nfsjudge import Level, Requirement, expect, observe, proves, skip, unsupported
from suites.nfs3.listing import page, read_all

PATHCONF_RETURNS_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    gist="obj_attributes of PATHCONF are the attributes of the object in the call",
)
# SHOULD: a server of several kinds of file system may not know the exact limit of each.
NAME_MAX = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    level=Level.SHOULD,
    gist="name_max is the maximum length of a name in the directory",
)
NO_TRUNC = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    gist="with no_trunc, a name longer than name_max is refused with NFS3ERR_NAMETOOLONG, not truncated",
)
CHOWN_RESTRICTED = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    gist="with chown_restricted, only uid 0 can change the owner of a file",
)
CASE_SENSITIVE = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    level=Level.SHOULD,
    gist="without case_insensitive, names that differ only in case are different names",
)
CASE_PRESERVING = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    gist="with case_preserving, a name keeps the case in which it was created",
)

_LONGEST = 4096
"""A name_max above this counts as "no limit": the checks do not try it."""


def _pathconf(nfs3: Nfs3, scratch: Scratch) -> Pathconf3ResOk:
    resok = expect(nfs3.pathconf(scratch.handle)).ok()
    observe("name_max", resok.name_max)
    observe("no_trunc", resok.no_trunc)
    if not 1 <= resok.name_max <= _LONGEST:
        skip(f"name_max is {resok.name_max}: no length to try")
    return resok


@proves(PATHCONF_RETURNS_ATTRIBUTES, killed_by="pathconf3-attributes-of-the-root")
def test_attributes_are_those_of_the_object(nfs3: Nfs3, scratch: Scratch) -> None:
    """PATHCONF returns the attributes of the object."""
    handle = scratch.file("file")
    reply = nfs3.pathconf(handle)
    if expect(reply).ok().obj_attributes is None:
        unsupported("the server withholds the attributes")
    expect(reply).field("resok.obj_attributes.fileid").equals(scratch.attributes(handle).fileid)


@proves(NAME_MAX, killed_by="pathconf3-overstates-name-max")
def test_a_name_of_name_max_bytes_is_taken(nfs3: Nfs3, scratch: Scratch) -> None:
    """CREATE does not refuse a name of name_max bytes as too long."""
    name = b"n" * _pathconf(nfs3, scratch).name_max
    reply = nfs3.create(scratch.handle, name, CreateMode3.GUARDED, Sattr3(mode=0o644))
    expect(reply.status, "status of CREATE").differs_from(Nfsstat3.NFS3ERR_NAMETOOLONG)


@proves(NO_TRUNC, killed_by="pathconf3-understates-name-max", needs="no_trunc")
def test_a_longer_name_is_refused(nfs3: Nfs3, scratch: Scratch) -> None:
    """With no_trunc, CREATE refuses a name longer than name_max with NAMETOOLONG."""
    name = b"n" * (_pathconf(nfs3, scratch).name_max + 1)
    reply = nfs3.create(scratch.handle, name, CreateMode3.GUARDED, Sattr3(mode=0o644))
    expect(reply).status(Nfsstat3.NFS3ERR_NAMETOOLONG)


@proves(NO_TRUNC, killed_by="create3-cuts-long-names", needs="no_trunc")
def test_a_longer_name_makes_nothing(nfs3: Nfs3, scratch: Scratch) -> None:
    """With no_trunc, CREATE with a name longer than name_max creates nothing."""
    name = b"n" * (_pathconf(nfs3, scratch).name_max + 1)
    nfs3.create(scratch.handle, name, CreateMode3.GUARDED, Sattr3(mode=0o644))
    expect(scratch.names(), "the names in the directory").equals([])


@proves(CHOWN_RESTRICTED, killed_by="setattr3-owners-give-files-away", needs=("root", "other_users"))
def test_an_owner_does_not_give_a_file_away(
    nfs3: Nfs3, scratch: Scratch, nfs3_as: Callable[..., Nfs3]
) -> None:
    """With chown_restricted, the owner of a file cannot give it to another user."""
    if not _pathconf(nfs3, scratch).chown_restricted:
        unsupported("PATHCONF does not claim chown_restricted")
    handle = scratch.file("file")
    expect(nfs3.setattr(handle, Sattr3(uid=4242, gid=4242))).ok()
    nfs3_as(4242, 4242).setattr(handle, Sattr3(uid=4343))
    expect(scratch.attributes(handle).uid, "the owner").equals(4242)


@proves(CASE_SENSITIVE, killed_by="lookup3-folds-case")
def test_names_differ_by_case_unless_said_otherwise(nfs3: Nfs3, scratch: Scratch) -> None:
    """Names that differ in case are different names unless PATHCONF sets case_insensitive."""
    if _pathconf(nfs3, scratch).case_insensitive:
        unsupported("PATHCONF says that case does not count")
    scratch.file("lower")
    expect(scratch.lookup("LOWER"), "what LOWER names where only lower was made").is_absent()


@proves(CASE_PRESERVING, killed_by="readdir3-lowers-names")
def test_names_keep_their_case(nfs3: Nfs3, scratch: Scratch) -> None:
    """With case_preserving, READDIR returns a name in the case in which it was created."""
    if not _pathconf(nfs3, scratch).case_preserving:
        unsupported("PATHCONF does not claim case_preserving")
    scratch.file("MiXeD")
    expect(read_all(page, nfs3, scratch.handle).names, "the names").contains(b"MiXeD")

# SPDX-License-Identifier: MIT
"""PATHCONF (RFC 1813 section 3.3.20): what it claims of names and owners holds."""

from __future__ import annotations

from collections.abc import Callable

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Nfsstat3, Pathconf3ResOk, Sattr3
from nfsjudge import Level, Requirement, expect, observe, proves, skip, unsupported
from suites.nfs3.listing import page, read_all

ATTRIBUTES = Requirement(
    rfc="RFC 1813", section="3.3.20", gist="obj_attributes are those of the object that was asked about"
)
# Servers that serve file systems of several kinds may state the limit of none of them exactly: not more than SHOULD.
NAME_MAX = Requirement(
    rfc="RFC 1813", section="3.3.20", level=Level.SHOULD, gist="name_max is the longest that a name may be"
)
NO_TRUNC = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    gist="with no_trunc, a request with a name longer than name_max is refused with NAMETOOLONG",
)
CHOWN_RESTRICTED = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    gist="with chown_restricted, nobody but uid 0 changes the owner of a file",
)
CASE_SENSITIVE = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    level=Level.SHOULD,
    gist="a file system that does not call itself case_insensitive tells names apart by case",
)
CASE_PRESERVING = Requirement(
    rfc="RFC 1813", section="3.3.20", gist="with case_preserving, a name keeps the case in which it was made"
)

_LONGEST = 4096
"""name_max above this is taken for "no limit" and not tried."""


def _pathconf(nfs3: Nfs3, scratch: Scratch) -> Pathconf3ResOk:
    resok = expect(nfs3.pathconf(scratch.handle)).ok()
    observe("name_max", resok.name_max)
    observe("no_trunc", resok.no_trunc)
    if not 1 <= resok.name_max <= _LONGEST:
        skip(f"name_max is {resok.name_max}: no length to try")
    return resok


@proves(ATTRIBUTES, killed_by="pathconf3-attributes-of-the-root")
def test_attributes_are_those_of_the_object(nfs3: Nfs3, scratch: Scratch) -> None:
    handle = scratch.file("file")
    reply = nfs3.pathconf(handle)
    if expect(reply).ok().obj_attributes is None:
        unsupported("the server withholds the attributes")
    expect(reply).field("resok.obj_attributes.fileid").equals(scratch.attributes(handle).fileid)


@proves(NAME_MAX, killed_by="pathconf3-overstates-name-max")
def test_a_name_of_name_max_bytes_is_taken(nfs3: Nfs3, scratch: Scratch) -> None:
    name = b"n" * _pathconf(nfs3, scratch).name_max
    reply = nfs3.create(scratch.handle, name, CreateMode3.GUARDED, Sattr3(mode=0o644))
    expect(reply.status, "status of CREATE").differs_from(Nfsstat3.NFS3ERR_NAMETOOLONG)


@proves(NO_TRUNC, killed_by="pathconf3-understates-name-max", needs="no_trunc")
def test_a_longer_name_is_refused(nfs3: Nfs3, scratch: Scratch) -> None:
    name = b"n" * (_pathconf(nfs3, scratch).name_max + 1)
    reply = nfs3.create(scratch.handle, name, CreateMode3.GUARDED, Sattr3(mode=0o644))
    expect(reply).status(Nfsstat3.NFS3ERR_NAMETOOLONG)


@proves(NO_TRUNC, killed_by="create3-cuts-long-names", needs="no_trunc")
def test_a_longer_name_makes_nothing(nfs3: Nfs3, scratch: Scratch) -> None:
    name = b"n" * (_pathconf(nfs3, scratch).name_max + 1)
    nfs3.create(scratch.handle, name, CreateMode3.GUARDED, Sattr3(mode=0o644))
    expect(scratch.names(), "the names in the directory").equals([])


@proves(CHOWN_RESTRICTED, killed_by="setattr3-owners-give-files-away", needs=("root", "other_users"))
def test_an_owner_does_not_give_a_file_away(
    nfs3: Nfs3, scratch: Scratch, nfs3_as: Callable[..., Nfs3]
) -> None:
    if not _pathconf(nfs3, scratch).chown_restricted:
        unsupported("PATHCONF does not claim chown_restricted")
    handle = scratch.file("file")
    expect(nfs3.setattr(handle, Sattr3(uid=4242, gid=4242))).ok()
    nfs3_as(4242, 4242).setattr(handle, Sattr3(uid=4343))
    expect(scratch.attributes(handle).uid, "the owner").equals(4242)


@proves(CASE_SENSITIVE, killed_by="lookup3-folds-case")
def test_names_differ_by_case_unless_said_otherwise(nfs3: Nfs3, scratch: Scratch) -> None:
    if _pathconf(nfs3, scratch).case_insensitive:
        unsupported("PATHCONF says that case does not count")
    scratch.file("lower")
    expect(scratch.lookup("LOWER"), "what LOWER names where only lower was made").is_absent()


@proves(CASE_PRESERVING, killed_by="readdir3-lowers-names")
def test_names_keep_their_case(nfs3: Nfs3, scratch: Scratch) -> None:
    if not _pathconf(nfs3, scratch).case_preserving:
        unsupported("PATHCONF does not claim case_preserving")
    scratch.file("MiXeD")
    expect(read_all(page, nfs3, scratch.handle).names, "the names").contains(b"MiXeD")

# SPDX-License-Identifier: MIT
"""PATHCONF (RFC 1813 section 3.3.20): its claims about names and owners are true."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator

import pytest

from fixtures.checks.budget import Budget
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.errors import GarbageArgs
from nfsclient.protocol.nfs3 import (
    LINK,
    REMOVE,
    CreateMode3,
    Diropargs3,
    Link3Args,
    Nfsstat3,
    Pathconf3ResOk,
    Remove3Args,
    Sattr3,
)
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import (
    expect,
    expect_names,
    expect_that,
    expect_unchanged,
    observe,
    proves,
    should,
    show,
    skip,
    stated,
    unsupported,
)
from nfsjudge.answers import answer_name
from suites.nfs3 import file_types
from suites.nfs3.clauses import CASE_SENSITIVE, NAME_MAX, NO_TRUNC, RETURNS_MLINK, RETURNS_NAMETOOLONG
from suites.nfs3.limits import MOST_LINKS, MakeMany, name_limit_of, need_name_max
from suites.nfs3.listing import page, read_all
from suites.nfs3.permissions import STRANGER
from suites.nfs3.pipelines import pipelined
from suites.nfs3.statuses import NO_SPACE

CHOWN_RESTRICTED = stated(
    "RFC 1813", "3.3.20", "with chown_restricted, only uid 0 can change the owner of a file"
)
CASE_PRESERVING = stated(
    "RFC 1813", "3.3.20", "with case_preserving, a name keeps the case in which it was created"
)
HOMOGENEOUS_MEANS_SAME_PATHCONF = stated(
    "RFC 1813",
    "3.3.19",
    "if FSF3_HOMOGENEOUS is set, PATHCONF returns the same for every file and directory of the file system",
)
TRUNCATES_WITHOUT_NO_TRUNC = should(  # to refuse the name does less harm, and PATHCONF may be simulated
    "RFC 1813",
    "3.3.20",
    "without no_trunc, a name longer than name_max is silently truncated to name_max bytes",
)
LINKMAX_LIMITS_LINKS = should(
    # a server of several kinds of file system may not know the exact limit of each
    "RFC 1813",
    "3.3.20",
    "linkmax is the maximum number of hard links to an object",
)
PATHCONF_FIELDS: t.Final = (
    "linkmax",
    "name_max",
    "no_trunc",
    "chown_restricted",
    "case_insensitive",
    "case_preserving",
)


def _pathconf(nfs3: Nfs3, scratch: Nfs3Scratch) -> Pathconf3ResOk:
    resok = expect(nfs3.pathconf(scratch.handle)).ok()
    observe("name_max", resok.name_max)
    observe("no_trunc", show(resok.no_trunc))
    need_name_max(resok.name_max)
    return resok


@proves(NAME_MAX, killed_by="pathconf3-overstates-name-max")
def test_name_max_accepted(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE does not refuse a name of name_max bytes as too long."""
    name = b"n" * _pathconf(nfs3, scratch).name_max
    reply = nfs3.create(scratch.handle, name, CreateMode3.GUARDED, Sattr3(mode=0o644))
    expect(reply).field("status", "status of CREATE").differs_from(Nfsstat3.NFS3ERR_NAMETOOLONG)


@proves(NO_TRUNC, RETURNS_NAMETOOLONG, killed_by="pathconf3-understates-name-max", needs="no_trunc")
def test_longer_name_refused(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE refuses a name longer than name_max with NAMETOOLONG, unless it truncates names."""
    limit = name_limit_of(nfs3, scratch.handle)
    name = b"n" * (limit.name_max + 1)
    reply = nfs3.create(scratch.handle, name, CreateMode3.GUARDED, Sattr3(mode=0o644))
    expect(reply, because=limit.status_if_new).status(Nfsstat3.NFS3ERR_NAMETOOLONG)


@proves(
    NO_TRUNC, TRUNCATES_WITHOUT_NO_TRUNC, killed_by=("create3-cuts-long-names", "pathconf3-denies-no-trunc")
)
def test_no_trunc(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE with a name longer than name_max does what no_trunc says: nothing, or truncate the name."""
    limits = _pathconf(nfs3, scratch)
    name = b"n" * (limits.name_max + 1)
    long = "CREATE with a name longer than name_max"
    rule = NO_TRUNC if limits.no_trunc else TRUNCATES_WITHOUT_NO_TRUNC
    try:
        reply = nfs3.create(scratch.handle, name, CreateMode3.GUARDED, Sattr3(mode=0o644))
    except GarbageArgs as refusal:
        observe(long, answer_name(refusal))
        expect_that(False, "a status of NFS", answer_name(refusal), f"answer to {long}", because=rule)
        return
    observe(long, reply.status)
    if reply.status in NO_SPACE:
        skip(f"no room for a file: CREATE answers {reply.status}", reply)
    if reply.resok is None:
        expect(reply).refused()  # ends the check after JUKEBOX and NOTSUPP, which say nothing about names
    wanted, what = (
        [] if limits.no_trunc else [name[:-1]],
        "names after CREATE with one byte more than name_max",
    )
    expect_names(scratch.names(), wanted, what, because=rule)
    if not limits.no_trunc:
        expect(nfs3.lookup(scratch.handle, name), because=rule).ok()


@proves(CHOWN_RESTRICTED, killed_by="setattr3-owners-give-files-away", needs=("root", "other_users"))
def test_chown_restricted(nfs3: Nfs3, scratch: Nfs3Scratch, as_user: Callable[..., Nfs3]) -> None:
    """With chown_restricted, the owner of a file cannot give it to another user."""
    if not _pathconf(nfs3, scratch).chown_restricted:
        unsupported("PATHCONF returns chown_restricted FALSE")
    handle = scratch.file("file")
    expect(nfs3.setattr(handle, Sattr3(uid=STRANGER[0], gid=STRANGER[1]))).ok()
    as_user(*STRANGER).setattr(handle, Sattr3(uid=4343))
    expect(scratch.attributes(handle)).field("uid").equals(STRANGER[0])


@proves(CASE_SENSITIVE, killed_by="lookup3-folds-case")
def test_case_sensitive(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """Names that differ in case are different names unless PATHCONF sets case_insensitive."""
    if _pathconf(nfs3, scratch).case_insensitive:
        unsupported("PATHCONF returns case_insensitive TRUE")
    scratch.file("lower")
    found = scratch.lookup("LOWER")
    expect_that(
        found is None,
        "NFS3ERR_NOENT",
        "success",
        "status of LOOKUP of 'LOWER' if only 'lower' exists",
        operation="LOOKUP",
    )


@proves(CASE_PRESERVING, killed_by="readdir3-lowers-names")
def test_case_preserving(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """With case_preserving, READDIR returns a name in the case in which it was created."""
    if not _pathconf(nfs3, scratch).case_preserving:
        unsupported("PATHCONF returns case_preserving FALSE")
    scratch.file("MiXeD")
    expect_names(read_all(page, nfs3, scratch.handle).names, [b"MiXeD"], "names in READDIR", others=True)


# ---------------------------------------------------------------- objects of other types


@pytest.mark.parametrize("kind", ["symlink", *file_types.SPECIAL])
@proves(HOMOGENEOUS_MEANS_SAME_PATHCONF, killed_by="pathconf3-differs-by-type", needs="homogeneous")
def test_homogeneous_types(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """With FSF3_HOMOGENEOUS, PATHCONF returns the same for objects of every type."""
    handle = file_types.make(nfs3, scratch, kind)
    directory = expect(nfs3.pathconf(scratch.handle)).ok()
    other = expect(nfs3.pathconf(handle)).ok()
    expect_unchanged(directory, other, PATHCONF_FIELDS, f"a {kind} compared with its directory")


# ---------------------------------------------------------------- linkmax


@pytest.fixture
def links(
    nfs3: Nfs3, scratch: Nfs3Scratch, rpc_connect: Callable[..., RpcClient], budget: Budget
) -> Iterator[MakeMany]:
    """Makes many hard links to a file and returns the first reply that is not OK, or None. Removes the links later."""
    rpc = rpc_connect("nfs")
    names: list[bytes] = []

    def act(file: bytes, count: int) -> t.Any:
        names.extend(b"link-%05d" % number for number in range(count))
        places = (Link3Args(file, Diropargs3(scratch.handle, name)) for name in names)
        refused = None
        # One at a time: with many in flight, the first refused link need not be the one that exceeds the limit.
        for _, reply in pipelined(nfs3, rpc, LINK, places, outstanding=1):
            if reply.status != Nfsstat3.NFS3_OK:
                refused = reply
                break
        return refused

    yield act
    if rpc.is_usable and not budget.leaves_names:
        gone = (Remove3Args(Diropargs3(scratch.handle, name)) for name in names)
        for _ in pipelined(nfs3, rpc, REMOVE, gone):
            pass


@proves(LINKMAX_LIMITS_LINKS, RETURNS_MLINK, killed_by="pathconf3-understates-linkmax", needs="hardlink")
def test_linkmax(nfs3: Nfs3, scratch: Nfs3Scratch, links: MakeMany) -> None:
    """LINK fails with MLINK once a file has linkmax links."""
    file = scratch.file("f")
    linkmax = expect(nfs3.pathconf(file)).ok().linkmax
    observe("linkmax", linkmax)
    if not 1 <= linkmax <= MOST_LINKS:
        skip(f"linkmax is {linkmax}: this check creates 1 to {MOST_LINKS} links")
    refused = links(file, linkmax - 1)
    if refused is not None:
        # linkmax is a maximum: the server does not promise that this number of links works.
        observe("LINK below linkmax", refused.status)
        return
    reply = nfs3.link(file, scratch.handle, b"one too many")
    expect(reply).refused(Nfsstat3.NFS3ERR_MLINK, because=RETURNS_MLINK)


# ---------------------------------------------------------------- files and directories


@proves(HOMOGENEOUS_MEANS_SAME_PATHCONF, killed_by="pathconf3-differs-by-type", needs="homogeneous")
def test_homogeneous(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """With FSF3_HOMOGENEOUS, PATHCONF returns the same for a file and its directory."""
    directory = expect(nfs3.pathconf(scratch.handle)).ok()
    file = expect(nfs3.pathconf(scratch.file("file"))).ok()
    expect_unchanged(directory, file, PATHCONF_FIELDS, "a file compared with its directory")

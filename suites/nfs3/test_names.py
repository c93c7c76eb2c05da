# SPDX-License-Identifier: MIT
"""Names (RFC 1813 section 3.2) in every procedure that takes one: what is none, and what is another one.

First what a call does, then how it is answered: a name that a server cannot have is refused with whatever error
it has for that, and "." and ".." may do nothing and be answered with success.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.errors import ConnectionLost, GarbageArgs, RpcTimeout, SystemErr
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Requirement, expect, observe, proves, skip, unsupported
from nfsjudge.expect import StatusReply
from suites.nfs3.by_name import CALLS, MAKING, TAKING, Place, raw_names
from suites.nfs3.naming import NO_EMPTY_NAME, expect_name_refused, heard

IN_ONE_DIRECTORY = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="a name is one of the directory whose handle stands beside it: no other directory is touched",
)
HANDLED_OR_REFUSED = Requirement(
    rfc="RFC 1813",
    section="3.2",
    level=Level.SHOULD,
    gist="a name with characters that the server cannot handle should be refused",
)
THE_NAME_ITSELF = Requirement(
    rfc="RFC 1813",
    section="2.5",
    level=Level.SHOULD,  # a string of XDR is one of ASCII, and what to do with other bytes is a "should" (3.2)
    gist="filename3 has all of its bytes: what stands under another name is not the object of this one",
)
ALIASES = Requirement(
    rfc="RFC 1813",
    section="3.2",
    level=Level.SHOULD,
    gist=". and .. stand for the directory and its parent: nothing is made, lost or moved under them",
)
KEPT_AS_GIVEN = Requirement(
    rfc="RFC 1813",
    section="3.2",
    level=Level.SHOULD,
    gist="a name that was taken is the name of the object: what the server cannot handle is to be refused",
)
NAME_MAX = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    level=Level.SHOULD,  # what PATHCONF says may be the best that a server knows
    gist="name_max is the maximum length of a name in the directory",
)
NO_TRUNC_MAKES = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    gist="with no_trunc, a name longer than name_max is refused, not cut",
)
TOO_LONG = Requirement(
    rfc="RFC 1813",
    section="3.2",
    level=Level.SHOULD,  # such a name does not exist either, and errors have no order (section 2.5)
    gist="with no_trunc, an operation on a name longer than name_max fails with NAMETOOLONG",
)
CASE = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    level=Level.SHOULD,  # the text says what TRUE promises, and servers of several file systems may not know
    gist="without case_insensitive, names that differ by case are different names",
)

NOT_UTF_8 = b"caf\xe9-\xff"
_ANOTHER = b"caf\xe8-\xfe"
_LONGEST = 4096
"""name_max above this is taken for "no limit" and not tried."""


@pytest.fixture
def place(scratch: Scratch) -> Place:
    """Where names are tried."""
    return Place(scratch)


def _name_max(nfs3: Nfs3, place: Place) -> int:
    longest = expect(nfs3.pathconf(place.here)).ok().name_max
    if not 1 <= longest <= _LONGEST:
        skip(f"name_max is {longest}: no length to try")
    return longest


def _distinguishes_case(nfs3: Nfs3, place: Place) -> None:
    if expect(nfs3.pathconf(place.here)).ok().case_insensitive:
        unsupported("PATHCONF says that case does not count")


# ---------------------------------------------------------------- the empty name


@pytest.mark.parametrize("procedure", ["mkdir", "symlink", "mknod"])
@proves(NO_EMPTY_NAME, killed_by="names3-take-the-empty-name")
def test_nothing_is_made_without_a_name(nfs3: Nfs3, place: Place, procedure: str) -> None:
    what = f"{procedure.upper()} of the empty name"
    reply = heard(nfs3, lambda: CALLS[procedure](nfs3, place, place.here, b""), what)
    expect(place.names(), "the names in the directory").equals([])
    expect_name_refused(reply, what)


@pytest.mark.parametrize("procedure", ["lookup", "rename_from"])
@proves(NO_EMPTY_NAME, killed_by="names3-take-the-empty-name")
def test_nothing_is_found_without_a_name(nfs3: Nfs3, place: Place, procedure: str) -> None:
    place.put(procedure, b"file")
    what = f"{procedure.upper()} of the empty name"
    reply = heard(nfs3, lambda: CALLS[procedure](nfs3, place, place.here, b""), what)
    # Where the empty name stands for the directory, RENAME takes it away with all that is in it.
    expect(nfs3.lookup(place.here, b"file")).ok()
    expect(sorted(place.scratch.names()), "the names in its parent").equals([b"elsewhere", b"here"])
    expect(place.names(), "the names in the directory").equals([b"file"])
    expect_name_refused(reply, what)


# ---------------------------------------------------------------- . and ..


@pytest.mark.parametrize("name", [b".", b".."], ids=["dot", "dotdot"])
@pytest.mark.parametrize("procedure", MAKING)
@proves(ALIASES, killed_by="names3-make-aliases")
def test_nothing_is_made_under_an_alias(nfs3: Nfs3, place: Place, procedure: str, name: bytes) -> None:
    known = [raw_names(nfs3, handle) for handle in (place.here, place.scratch.handle, place.elsewhere)]
    reply = MAKING[procedure](nfs3, place, place.here, name)
    observe(f"{procedure.upper()} of {name.decode()}", reply.status)
    seen = [raw_names(nfs3, handle) for handle in (place.here, place.scratch.handle, place.elsewhere)]
    expect(seen, "the names in the directory, its parent and its neighbour").equals(known)


@pytest.mark.parametrize("name", [b".", b".."], ids=["dot", "dotdot"])
@pytest.mark.parametrize("procedure", ["remove", "rename_from"])
@proves(ALIASES, killed_by="names3-empty-by-aliases")
def test_nothing_is_taken_by_an_alias(nfs3: Nfs3, place: Place, procedure: str, name: bytes) -> None:
    place.put(procedure, b"file")
    place.scratch.file("file", b"precious")
    reply = TAKING[procedure](nfs3, place, place.here, name)
    observe(f"{procedure.upper()} of {name.decode()}", reply.status)
    # The parent first: a directory that was moved away cannot be read.
    expect(sorted(place.scratch.names()), "the names in its parent").equals([b"elsewhere", b"file", b"here"])
    expect(place.names(), "the names in the directory").equals([b"file"])


# ---------------------------------------------------------------- bytes that may not be


@pytest.mark.parametrize("procedure", MAKING)
@proves(IN_ONE_DIRECTORY, killed_by="names3-walk-paths")
def test_a_slash_makes_nothing_in_another_directory(nfs3: Nfs3, place: Place, procedure: str) -> None:
    below = place.scratch.directory("below", directory=place.here)
    what = f"{procedure.upper()} of a name with a slash"
    reply = heard(nfs3, lambda: MAKING[procedure](nfs3, place, place.here, b"below/new"), what)
    expect(place.scratch.names(below), "the names in the directory below").equals([])
    if b"below/new" not in place.names():  # a server may handle slashes in names
        expect_name_refused(reply, what, because=HANDLED_OR_REFUSED)


@pytest.mark.parametrize("procedure", TAKING)
@proves(IN_ONE_DIRECTORY, killed_by="names3-walk-paths")
def test_a_slash_takes_nothing_from_another_directory(nfs3: Nfs3, place: Place, procedure: str) -> None:
    below = place.scratch.directory("below", directory=place.here)
    place.put(procedure, b"inside", below)
    what = f"{procedure.upper()} of a name with a slash"
    reply = heard(nfs3, lambda: TAKING[procedure](nfs3, place, place.here, b"below/inside"), what)
    expect(place.scratch.names(below), "the names in the directory below").equals([b"inside"])
    expect_name_refused(reply, what, because=HANDLED_OR_REFUSED)


@pytest.mark.parametrize("procedure", MAKING)
@proves(HANDLED_OR_REFUSED, killed_by="names3-end-at-a-nul")
def test_a_name_does_not_end_at_a_nul(nfs3: Nfs3, place: Place, procedure: str) -> None:
    what = f"{procedure.upper()} of a name with a NUL"
    reply = heard(nfs3, lambda: MAKING[procedure](nfs3, place, place.here, b"cut\0tail"), what)
    if reply is not None:
        observe(what, reply.status)
    expect(place.names(), "the names in the directory").lacks(b"cut")


@pytest.mark.parametrize("procedure", TAKING)
@proves(THE_NAME_ITSELF, killed_by="names3-end-at-a-nul")
def test_a_name_with_a_nul_is_not_the_one_before_it(nfs3: Nfs3, place: Place, procedure: str) -> None:
    place.put(procedure, b"cut")
    what = f"{procedure.upper()} of a name with a NUL"
    reply = heard(nfs3, lambda: TAKING[procedure](nfs3, place, place.here, b"cut\0tail"), what)
    expect(place.names(), "the names in the directory").equals([b"cut"])
    expect_name_refused(reply, what, because=HANDLED_OR_REFUSED)


@pytest.mark.parametrize("procedure", MAKING)
@proves(KEPT_AS_GIVEN, killed_by="names3-replace-bytes")
def test_a_name_that_is_not_utf_8_is_kept_or_refused(nfs3: Nfs3, place: Place, procedure: str) -> None:
    reply = MAKING[procedure](nfs3, place, place.here, NOT_UTF_8)
    observe(f"{procedure.upper()} of a name that is not UTF-8", reply.status)
    if reply.status == Nfsstat3.NFS3_OK:
        expect(nfs3.lookup(place.here, NOT_UTF_8)).ok()
        expect(place.names(), "the names in the directory").equals([NOT_UTF_8])
    else:
        expect(reply).refused()
        expect(place.names(), "the names in the directory").equals([])


@pytest.mark.parametrize("procedure", TAKING)
@proves(KEPT_AS_GIVEN, killed_by="names3-mix-bytes-up")
def test_names_that_are_not_utf_8_are_not_mixed_up(nfs3: Nfs3, place: Place, procedure: str) -> None:
    place.put(procedure, NOT_UTF_8)
    reply = TAKING[procedure](nfs3, place, place.here, _ANOTHER)
    expect(place.names(), "the names in the directory").equals([NOT_UTF_8])
    expect(reply).refused()


# ---------------------------------------------------------------- lengths


@pytest.mark.parametrize("procedure", [name for name in MAKING if name != "create"])
@proves(NAME_MAX, killed_by="names3-are-a-byte-shorter")
def test_a_name_may_be_as_long_as_name_max(nfs3: Nfs3, place: Place, procedure: str) -> None:
    name = b"n" * _name_max(nfs3, place)
    reply = MAKING[procedure](nfs3, place, place.here, name)
    expect(reply.status, f"status of {procedure.upper()}").differs_from(Nfsstat3.NFS3ERR_NAMETOOLONG)
    if reply.status == Nfsstat3.NFS3_OK:
        expect(place.names(), "the names in the directory").equals([name])


@pytest.mark.parametrize("procedure", TAKING)
@proves(NAME_MAX, killed_by="names3-are-found-a-byte-shorter")
def test_a_name_as_long_as_name_max_can_be_taken(nfs3: Nfs3, place: Place, procedure: str) -> None:
    name = b"n" * _name_max(nfs3, place)
    place.put(procedure, name)
    expect(TAKING[procedure](nfs3, place, place.here, name)).ok()


@pytest.mark.parametrize("procedure", ["mkdir", "symlink", "mknod"])
@proves(NO_TRUNC_MAKES, killed_by="names3-are-cut", needs="no_trunc")
def test_a_longer_name_makes_nothing(nfs3: Nfs3, place: Place, procedure: str) -> None:
    name = b"n" * (_name_max(nfs3, place) + 1)
    reply = MAKING[procedure](nfs3, place, place.here, name)
    expect(place.names(), "the names in the directory").equals([])
    expect(reply).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, because=NO_TRUNC_MAKES)


@pytest.mark.parametrize("procedure", TAKING)
@proves(NO_TRUNC_MAKES, killed_by="names3-are-cut", needs="no_trunc")
def test_a_longer_name_is_not_that_of_its_beginning(nfs3: Nfs3, place: Place, procedure: str) -> None:
    name = b"n" * _name_max(nfs3, place)
    place.put(procedure, name)
    reply = TAKING[procedure](nfs3, place, place.here, name + b"n")
    expect(place.names(), "the names in the directory").equals([name])
    expect(reply).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, because=TOO_LONG)


def _tried(call: Callable[[], StatusReply], what: str) -> StatusReply | None:
    """The reply to a call with a name that a server may find too long to read at all: None when it does."""
    try:
        reply = call()
    except (GarbageArgs, SystemErr, ConnectionLost, RpcTimeout) as refusal:
        observe(what, type(refusal).__name__)
        return None
    observe(what, reply.status)
    return reply


@pytest.mark.parametrize("length", [1024, 8192, 100_000])
@pytest.mark.parametrize("procedure", MAKING)
@proves(NO_TRUNC_MAKES, killed_by="names3-are-cut", needs="no_trunc")
def test_a_name_that_is_far_too_long_makes_nothing(
    nfs3: Nfs3, second_client: Nfs3, place: Place, procedure: str, length: int
) -> None:
    if _name_max(nfs3, place) >= length:
        skip("names may be as long as this")
    call = functools.partial(MAKING[procedure], second_client, place, place.here, b"n" * length)
    reply = _tried(call, f"{procedure.upper()} of {length} bytes")
    expect(place.names(), "the names in the directory").equals([])
    if reply is not None:
        expect(reply).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, because=TOO_LONG)


@pytest.mark.parametrize("length", [1024, 8192, 100_000])
@pytest.mark.parametrize("procedure", TAKING)
@proves(NO_TRUNC_MAKES, killed_by="names3-are-cut", needs="no_trunc")
def test_a_name_that_is_far_too_long_takes_nothing(
    nfs3: Nfs3, second_client: Nfs3, place: Place, procedure: str, length: int
) -> None:
    longest = _name_max(nfs3, place)
    if longest >= length:
        skip("names may be as long as this")
    place.put(procedure, b"n" * longest)
    call = functools.partial(TAKING[procedure], second_client, place, place.here, b"n" * length)
    reply = _tried(call, f"{procedure.upper()} of {length} bytes")
    expect(place.names(), "the names in the directory").equals([b"n" * longest])
    if reply is not None:
        expect(reply).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, because=TOO_LONG)


# ---------------------------------------------------------------- case


@pytest.mark.parametrize("procedure", MAKING)
@proves(CASE, killed_by="names3-fold-case")
def test_a_name_can_be_made_beside_its_other_case(nfs3: Nfs3, place: Place, procedure: str) -> None:
    _distinguishes_case(nfs3, place)
    place.put("lookup", b"name")
    reply = MAKING[procedure](nfs3, place, place.here, b"NAME")
    expect(reply.status, f"status of {procedure.upper()}").differs_from(Nfsstat3.NFS3ERR_EXIST)
    if reply.status == Nfsstat3.NFS3_OK:
        expect(place.names(), "the names in the directory").equals([b"NAME", b"name"])


@pytest.mark.parametrize("procedure", ["remove", "rmdir", "rename_from"])
@proves(CASE, killed_by="names3-fold-case")
def test_a_name_in_another_case_is_not_taken(nfs3: Nfs3, place: Place, procedure: str) -> None:
    _distinguishes_case(nfs3, place)
    place.put(procedure, b"name")
    reply = TAKING[procedure](nfs3, place, place.here, b"NAME")
    expect(place.names(), "the names in the directory").equals([b"name"])
    expect(reply).refused()

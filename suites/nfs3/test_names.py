# SPDX-License-Identifier: MIT
"""Names (RFC 1813 section 3.2) in every procedure that takes one: invalid names, long names, similar names.

Each check judges first what a call did, then its status. A server may refuse a name that it cannot store with any
error, and may answer success to a call with "." or ".." that does nothing.
"""

from __future__ import annotations

import functools

import pytest

from fixtures.checks.target import KnobsView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import (
    Harm,
    expect,
    expect_names,
    observe,
    proves,
    should,
    skip,
    stated,
    unsupported,
)
from suites.nfs3.bad_names import BelowNfs, expect_name_refused, expect_status, reply_if_decoded
from suites.nfs3.calls import CREATING_NAMES, USING_NAMES, Place, procedure_name
from suites.nfs3.clauses import (
    CASE_SENSITIVE,
    NAME_MAX,
    NAMES_RETURN_A_STATUS,
    NO_TRUNC,
    REFUSES_EMPTY_NAMES,
    RETURNS_NAMETOOLONG,
    TREATS_LONG_NAMES_ALIKE,
)
from suites.nfs3.limits import name_limit_of, name_max_of
from suites.nfs3.listing import page, read_all
from suites.replies import reply_or_none

NAMES_ONE_DIRECTORY_ENTRY = stated(
    "RFC 1813",
    "2.5",
    "a name refers to an entry of the given directory: no other directory is affected",
    harm=Harm.OBJECT,
)
REFUSES_BAD_CHARACTERS = should(
    "RFC 1813",
    "3.2",
    "a name with characters that the server cannot handle should be refused",
    is_general=True,
)
COMPARES_WHOLE_NAMES = should(
    # XDR strings are ASCII, and the text on other bytes says "should" (section 3.2)
    "RFC 1813",
    "2.5",
    "all bytes of a filename count: a name does not refer to the entry of a different name",
    harm=Harm.OBJECT,
)
DOT_NAMES_ARE_RESERVED = should(
    "RFC 1813",
    "3.2",
    '"." and ".." are the directory and its parent: nothing is created, removed or renamed by these names',
)
DOT_NAMES_LOSE_NOTHING = should(
    "RFC 1813",
    "3.2",
    '"." and ".." are the directory and its parent: no entry of these is removed by such a name',
    harm=Harm.OBJECT,
)
STORES_NAMES_UNCHANGED = should(
    "RFC 1813", "3.2", "a name is stored exactly as given, or refused if the server cannot handle it"
)
NOT_UTF_8 = b"caf\xe9-\xff"
ALSO_NOT_UTF_8 = b"caf\xe8-\xfe"
LENGTHS = (1024, 8192, 100_000)
"""Bytes in names that are much longer than name_max."""
MUCH_TOO_LONG = [
    (procedure, length)
    for procedure in CREATING_NAMES
    for length in LENGTHS
    if length < 100_000 or procedure in {"create", "link", "rename_to"}
]
"""Servers were seen to fail on 1024 and 8192 bytes in every one of these procedures."""


def _raw_names(nfs3: Nfs3, directory: bytes) -> list[bytes]:
    """All names in a directory, with ``.`` and ``..`` as often as they are listed. SKIP if it cannot be read."""
    listing = read_all(page, nfs3, directory)
    if not listing.ended:
        skip("READDIR never returns eof TRUE for the directory")
    return sorted(entry.name for entry in listing.entries)


def _need_case_sensitivity(nfs3: Nfs3, place: Place) -> None:
    if expect(nfs3.pathconf(place.here)).ok().case_insensitive:
        unsupported("PATHCONF returns case_insensitive TRUE")


# ---------------------------------------------------------------- the empty name


@pytest.mark.parametrize("procedure", ["mkdir", "symlink", "mknod"])
@proves(
    REFUSES_EMPTY_NAMES,
    NAMES_RETURN_A_STATUS,
    killed_by=("names3-accept-the-empty-name", "names3-refused-are-garbage-args"),
)
def test_empty_create(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """An operation that creates a name refuses the empty name."""
    what = f"{procedure_name(procedure)} of the empty name"
    reply = reply_if_decoded(nfs3, lambda: place.call(nfs3, procedure, b""), what)
    expect_names(place.names(), [], "names in the directory")
    expect_name_refused(reply, what)


@pytest.mark.parametrize("procedure", ["lookup", "rename_from"])
@proves(
    REFUSES_EMPTY_NAMES,
    NAMES_RETURN_A_STATUS,
    killed_by=("names3-accept-the-empty-name", "names3-refused-are-garbage-args"),
)
def test_empty_use(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """LOOKUP and RENAME refuse the empty name as the name of an existing object."""
    place.arrange(procedure, b"file")
    what = f"{procedure_name(procedure)} of the empty name"
    reply = reply_if_decoded(nfs3, lambda: place.call(nfs3, procedure, b""), what)
    # If the server takes the empty name for the directory, RENAME moves the whole directory away.
    expect(nfs3.lookup(place.here, b"file")).ok()
    expect_names(place.scratch.names(), [b"elsewhere", b"here"], "names in the parent directory")
    expect_names(place.names(), [b"file"], "names in the directory")
    expect_name_refused(reply, what)


# ---------------------------------------------------------------- . and ..


@pytest.mark.parametrize("name", [b".", b".."], ids=["dot", "dotdot"])
@pytest.mark.parametrize("procedure", CREATING_NAMES)
@proves(DOT_NAMES_ARE_RESERVED, killed_by="names3-create-dots-under-other-names")
def test_dots_create(nfs3: Nfs3, place: Place, procedure: str, name: bytes) -> None:
    """No operation creates an entry named "." or ".."."""
    directories = {
        "names in the directory": place.here,
        "names in the parent directory": place.scratch.handle,
        "names in another directory": place.elsewhere,
    }
    known = [_raw_names(nfs3, handle) for handle in directories.values()]
    reply = place.call(nfs3, procedure, name)
    observe(f"{procedure_name(procedure)} of {name.decode()!r}", reply.status)
    seen = [_raw_names(nfs3, handle) for handle in directories.values()]
    for what, now, before in zip(directories, seen, known, strict=True):
        expect_names(now, before, what)


@pytest.mark.parametrize("name", [b".", b".."], ids=["dot", "dotdot"])
@pytest.mark.parametrize("procedure", ["remove", "rename_from"])
@proves(DOT_NAMES_LOSE_NOTHING, killed_by="names3-dots-empty-the-directory")
def test_dots_use(nfs3: Nfs3, place: Place, procedure: str, name: bytes) -> None:
    """REMOVE and RENAME of "." or ".." remove nothing."""
    place.arrange(procedure, b"file")
    place.scratch.file("file", b"precious")
    reply = place.call(nfs3, procedure, name)
    observe(f"{procedure_name(procedure)} of {name.decode()!r}", reply.status)
    expect_names(place.scratch.names(), [b"file"], "names in the parent directory", others=True)
    expect_names(place.names(), [b"file"], "names in the directory")


@pytest.mark.parametrize("name", [b".", b".."], ids=["dot", "dotdot"])
@proves(DOT_NAMES_ARE_RESERVED, killed_by="rename3-moves-by-dots")
def test_dots_rename(nfs3: Nfs3, place: Place, name: bytes) -> None:
    """RENAME of "." or ".." moves no directory."""
    inside = place.scratch.directory("inside", directory=place.here)
    reply = nfs3.rename(inside, name, place.scratch.handle, b"taken")
    observe(f"RENAME of {name.decode()!r}", reply.status)
    expect_names(place.scratch.names(), [b"elsewhere", b"here"], "names in the directory of both")
    expect_names(place.names(), [b"inside"], "names in the parent directory")


# ---------------------------------------------------------------- slash, NUL, bytes that are not UTF-8


@pytest.mark.parametrize("procedure", CREATING_NAMES)
@proves(
    NAMES_ONE_DIRECTORY_ENTRY,
    NAMES_RETURN_A_STATUS,
    killed_by=("names3-follow-paths", "names3-refused-are-garbage-args"),
)
def test_slash_create(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """A new name with a slash creates nothing in a subdirectory."""
    below = place.scratch.directory("below", directory=place.here)
    what = f"{procedure_name(procedure)} of a name with a slash"
    reply = reply_if_decoded(nfs3, lambda: place.call(nfs3, procedure, b"below/new"), what)
    expect_names(place.scratch.names(below), [], "names in the subdirectory")
    if b"below/new" not in place.names():  # a server may store names with slashes
        expect_name_refused(reply, what, because=REFUSES_BAD_CHARACTERS)


@pytest.mark.parametrize("procedure", USING_NAMES)
@proves(
    NAMES_ONE_DIRECTORY_ENTRY,
    NAMES_RETURN_A_STATUS,
    killed_by=("names3-follow-paths", "names3-refused-are-garbage-args"),
)
def test_slash_use(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """A name with a slash does not reach an entry of a subdirectory."""
    below = place.scratch.directory("below", directory=place.here)
    place.arrange(procedure, b"inside", below)
    what = f"{procedure_name(procedure)} of a name with a slash"
    reply = reply_if_decoded(nfs3, lambda: place.call(nfs3, procedure, b"below/inside"), what)
    expect_names(place.scratch.names(below), [b"inside"], "names in the subdirectory")
    expect_name_refused(reply, what, because=REFUSES_BAD_CHARACTERS)


@pytest.mark.parametrize("procedure", CREATING_NAMES)
@proves(
    REFUSES_BAD_CHARACTERS,
    NAMES_RETURN_A_STATUS,
    killed_by=("names3-end-at-a-nul", "names3-refused-are-garbage-args"),
)
def test_nul_create(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """A new name with a NUL byte is not truncated at the NUL."""
    what = f"{procedure_name(procedure)} of a name with a NUL"
    reply = reply_if_decoded(nfs3, lambda: place.call(nfs3, procedure, b"cut\0tail"), what)
    expect(place.names(), "names in the directory", field="entries").lacks(b"cut")
    expect_status(reply, what)
    if not isinstance(reply, BelowNfs):
        observe(what, reply.status)


@pytest.mark.parametrize("procedure", USING_NAMES)
@proves(
    COMPARES_WHOLE_NAMES,
    NAMES_RETURN_A_STATUS,
    killed_by=("names3-end-at-a-nul", "names3-refused-are-garbage-args"),
)
def test_nul_use(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """A name with a NUL byte does not refer to the entry named by the part before it."""
    place.arrange(procedure, b"cut")
    what = f"{procedure_name(procedure)} of a name with a NUL"
    reply = reply_if_decoded(nfs3, lambda: place.call(nfs3, procedure, b"cut\0tail"), what)
    expect_names(place.names(), [b"cut"], "names in the directory")
    expect_name_refused(reply, what, because=REFUSES_BAD_CHARACTERS)


@pytest.mark.parametrize("procedure", CREATING_NAMES)
@proves(STORES_NAMES_UNCHANGED, killed_by="names3-replace-non-ascii-bytes")
def test_non_utf8_create(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """A new name that is not UTF-8 is stored unchanged or refused."""
    reply = place.call(nfs3, procedure, NOT_UTF_8)
    observe(f"{procedure_name(procedure)} of a name that is not UTF-8", reply.status)
    if reply.status == Nfsstat3.NFS3_OK:
        expect(nfs3.lookup(place.here, NOT_UTF_8)).ok()
        expect_names(place.names(), [NOT_UTF_8], "names in the directory")
    else:
        expect(reply).refused()
        expect_names(place.names(), [], "names in the directory")


@pytest.mark.parametrize("procedure", USING_NAMES)
@proves(STORES_NAMES_UNCHANGED, killed_by="names3-ignore-non-ascii-bytes")
def test_non_utf8_use(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """Two different names that are not UTF-8 do not refer to the same entry."""
    place.arrange(procedure, NOT_UTF_8)
    reply = place.call(nfs3, procedure, ALSO_NOT_UTF_8)
    expect_names(place.names(), [NOT_UTF_8], "names in the directory")
    expect(reply).refused()


# ---------------------------------------------------------------- lengths


@pytest.mark.parametrize("procedure", [name for name in CREATING_NAMES if name != "create"])
@proves(NAME_MAX, killed_by="names3-of-name-max-are-refused")
def test_name_max_create(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """A new name may be as long as name_max."""
    name = b"n" * name_max_of(nfs3, place.here)
    reply = place.call(nfs3, procedure, name)
    expect(reply).field("status", f"status of {procedure_name(procedure)}").differs_from(
        Nfsstat3.NFS3ERR_NAMETOOLONG
    )
    if reply.status == Nfsstat3.NFS3_OK:
        expect_names(place.names(), [name], "names in the directory")


@pytest.mark.parametrize("procedure", USING_NAMES)
@proves(NAME_MAX, killed_by="names3-of-name-max-are-not-found")
def test_name_max_use(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """An entry whose name is as long as name_max can be found, renamed and removed."""
    name = b"n" * name_max_of(nfs3, place.here)
    place.arrange(procedure, name)
    expect(place.call(nfs3, procedure, name)).ok()


@pytest.mark.parametrize("procedure", ["mkdir", "symlink", "mknod"])
@proves(NO_TRUNC, TREATS_LONG_NAMES_ALIKE, killed_by="names3-too-long-are-cut", needs="no_trunc")
def test_over_name_max_create(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """A new name one byte longer than name_max is refused, not truncated."""
    limit = name_limit_of(nfs3, place.here)
    reply = place.call(nfs3, procedure, b"n" * (limit.name_max + 1))
    expect_names(place.names(), [], "names in the directory", because=limit.effect)
    expect(reply, because=limit.effect).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, because=limit.status_if_new)


@pytest.mark.parametrize("procedure", USING_NAMES)
@proves(NO_TRUNC, TREATS_LONG_NAMES_ALIKE, killed_by="names3-too-long-are-cut", needs="no_trunc")
def test_over_name_max_use(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """A name longer than name_max does not refer to the entry named by its first bytes."""
    limit = name_limit_of(nfs3, place.here)
    name = b"n" * limit.name_max
    place.arrange(procedure, name)
    reply = place.call(nfs3, procedure, name + b"n")
    expect_names(place.names(), [name], "names in the directory", because=limit.effect)
    expect(reply, because=limit.effect).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, because=limit.status)


@pytest.mark.parametrize(("procedure", "length"), MUCH_TOO_LONG)
@proves(NO_TRUNC, TREATS_LONG_NAMES_ALIKE, killed_by="names3-too-long-are-cut", needs="no_trunc")
def test_huge_create(nfs3: Nfs3, second_client: Nfs3, place: Place, procedure: str, length: int) -> None:
    """A new name that is very much longer than name_max is refused, not truncated."""
    limit = name_limit_of(nfs3, place.here)
    if limit.name_max >= length:
        skip(f"names of {length} bytes are not too long: name_max is {limit.name_max}")
    call = functools.partial(place.call, second_client, procedure, b"n" * length)
    reply = reply_or_none(call, f"{procedure_name(procedure)} of a name of {length} bytes")
    expect_names(place.names(), [], "names in the directory", because=limit.effect)
    if reply is not None:
        expect(reply, because=limit.effect).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, because=limit.status)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("procedure", ["lookup", "rename_from"])
@proves(NO_TRUNC, TREATS_LONG_NAMES_ALIKE, killed_by="names3-too-long-are-cut", needs="no_trunc")
def test_huge_use(nfs3: Nfs3, second_client: Nfs3, place: Place, procedure: str, length: int) -> None:
    """A name very much longer than name_max does not refer to any entry."""
    limit = name_limit_of(nfs3, place.here)
    if limit.name_max >= length:
        skip(f"names of {length} bytes are not too long: name_max is {limit.name_max}")
    name = b"n" * limit.name_max
    place.arrange(procedure, name)
    call = functools.partial(place.call, second_client, procedure, b"n" * length)
    reply = reply_or_none(call, f"{procedure_name(procedure)} of a name of {length} bytes")
    expect_names(place.names(), [name], "names in the directory", because=limit.effect)
    if reply is not None:
        expect(reply, because=limit.effect).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, because=limit.status)


# ---------------------------------------------------------------- case


@pytest.mark.parametrize("procedure", CREATING_NAMES)
@proves(CASE_SENSITIVE, killed_by="names3-fold-case")
def test_case_create(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """A case-sensitive server creates a name that differs from another only in case."""
    _need_case_sensitivity(nfs3, place)
    place.arrange("lookup", b"name")
    reply = place.call(nfs3, procedure, b"NAME")
    expect(reply).field("status", f"status of {procedure_name(procedure)}").differs_from(
        Nfsstat3.NFS3ERR_EXIST
    )
    if reply.status == Nfsstat3.NFS3_OK:
        expect_names(place.names(), [b"NAME", b"name"], "names in the directory")


@pytest.mark.parametrize("procedure", ["remove", "rmdir", "rename_from"])
@proves(CASE_SENSITIVE, killed_by="names3-fold-case")
def test_case_use(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """A case-sensitive server does not remove or rename an entry by its name in another case."""
    _need_case_sensitivity(nfs3, place)
    place.arrange(procedure, b"name")
    reply = place.call(nfs3, procedure, b"NAME")
    expect_names(place.names(), [b"name"], "names in the directory")
    expect(reply).refused()


# ---------------------------------------------------------------- a small limit


@pytest.mark.parametrize("procedure", ["create", "lookup"])
@proves(RETURNS_NAMETOOLONG, killed_by="names3-too-long-is-io", needs="no_trunc")
def test_small_name_max(nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str) -> None:
    """A name longer than the file system's limit is refused with NAMETOOLONG."""
    knobs.set(name_max=25)
    reply = place.call(nfs3, procedure, b"n" * 26)
    expect_names(place.names(), [], "names in the directory")
    expect(reply).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, because=RETURNS_NAMETOOLONG)

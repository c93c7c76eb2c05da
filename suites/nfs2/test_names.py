# SPDX-License-Identifier: MIT
"""Names that CREATE, MKDIR, SYMLINK, LINK and RENAME add (RFC 1094 sections 2.2.10 to 2.2.15, 2.3.7)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import MAXNAMLEN, Nfsstat2, Sattr
from nfsjudge import (
    Harm,
    expect,
    expect_names,
    expect_that,
    observe,
    proves,
    should,
    stated,
)
from suites.nfs2 import oversized
from suites.nfs2.clauses import (
    LONG_NAME_IS_REFUSED,
    NAME_IS_KEPT_EXACTLY,
    ONLY_DIRECTORIES_HAVE_NAMES,
    SUCCESS_ADDS_NAME,
)
from suites.nfs2.names import ADDING, ADDING_NEW, UNUSUAL, expect_exact_name, make_directories, need_procedure
from suites.nfs2.objects import KINDS, NOT_DIRECTORIES, expect_same, make

REFUSED_CREATES_NOTHING = stated(
    "RFC 1094", "2.2.10", "any status but NFS_OK means that nothing was created", harm=Harm.SUCCESS
)
BAD_NAME_IS_REFUSED = should(
    "RFC 1094", "2.2.10", "a name that the server cannot store is refused, not changed into another name"
)
EXISTING_OBJECT_STAYS = stated(
    "RFC 1094",
    "2.2.15",
    "MKDIR, SYMLINK (2.2.14) and LINK (2.2.13) create a new entry and never change an existing object",
    harm=Harm.OBJECT,
)
CREATE_KEEPS_EXISTING_OBJECT = should(
    "RFC 1094",
    "2.2.10",
    "CREATE creates a file: it neither replaces nor empties an existing object of that name",
    harm=Harm.OBJECT,
)
CREATE_IS_EXCLUSIVE = should(
    "RFC 1094",
    "2.2.10",
    "CREATE leaves the attributes of an existing object as they are: they are those of a new file only",
)
_WHICH_OBJECT = ("type", "size", "fsid", "fileid")
"""Fields of fattr that tell whether an object is still the same, with the same contents."""
RETURNS_EXIST = should("RFC 1094", "2.3.1", "EXIST means that the file already exists")
ILLEGAL = {"empty": b"", "dot": b".", "dotdot": b"..", "slash": b"a/b", "nul": b"a\0b"}


def _each(cases: list[tuple[str, str]], names: dict[str, bytes]) -> pytest.MarkDecorator:
    """Parametrize a check over (key of a name, procedure)."""
    return pytest.mark.parametrize(
        ("name", "how"),
        [(names[key], how) for key, how in cases],
        ids=[f"{key}-{how.lower()}" for key, how in cases],
    )


# Every procedure gets the name that most often goes wrong.
@_each([("space", "CREATE"), ("utf8", "CREATE"), *(("not-utf8", how) for how in ADDING)], UNUSUAL)
@proves(SUCCESS_ADDS_NAME, NAME_IS_KEPT_EXACTLY, killed_by="nfs2-changes-names-with-special-bytes")
def test_unusual(second_client: Nfs2, scratch: Nfs2Scratch, how: str, name: bytes) -> None:
    """A procedure adds an unusual name exactly as given, or adds nothing when it refuses."""
    expect_exact_name(second_client, scratch, how, name)


# Servers check slashes and NUL when they decode a call, but empty names and dots in each procedure.
@_each(
    [(name, how) for name in ILLEGAL for how in ADDING if how == "CREATE" or name in {"empty", "dotdot"}],
    ILLEGAL,
)
@proves(REFUSED_CREATES_NOTHING, BAD_NAME_IS_REFUSED, killed_by="nfs2-refuses-a-name-and-creates-another")
def test_illegal(second_client: Nfs2, scratch: Nfs2Scratch, how: str, name: bytes) -> None:
    """A procedure that gets an illegal name adds no other name."""
    directories = make_directories(second_client, scratch)
    reply = oversized.tolerate(lambda: directories.add(how, name))
    others = [found for found in scratch.names(directories.empty) if found != name]
    is_refused = reply is not None and reply.status != Nfsstat2.NFS_OK
    because = REFUSED_CREATES_NOTHING if is_refused else BAD_NAME_IS_REFUSED
    expect_names(others, [], f"other names in the directory after {how}", because=because)


@pytest.mark.parametrize(
    ("how", "kind"),
    [*(("CREATE", kind) for kind in KINDS), *((how, "file") for how in ADDING_NEW)],
    ids=str.lower,
)
@proves(EXISTING_OBJECT_STAYS, CREATE_KEEPS_EXISTING_OBJECT, killed_by="nfs2-replaces-existing-names")
def test_existing_unchanged(nfs2: Nfs2, scratch: Nfs2Scratch, how: str, kind: str) -> None:
    """A procedure that creates a name does not change an existing object of that name."""
    known = scratch.attributes(make(scratch, kind))
    reply = make_directories(nfs2, scratch).add(how, b"object", scratch.handle)
    observe("answer", reply.status)
    found = expect(nfs2.lookup(scratch.handle, b"object")).ok()
    if how == "CREATE":
        expect_same(found.attributes, known, _WHICH_OBJECT, because=CREATE_KEEPS_EXISTING_OBJECT)
    else:
        expect_same(found.attributes, known)


@pytest.mark.parametrize("kind", KINDS)
@proves(CREATE_IS_EXCLUSIVE, killed_by="create2-sets-attributes-of-existing")
def test_existing_keeps_attributes(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """CREATE does not change the attributes of an existing object of that name."""
    there = make(scratch, kind)
    known = scratch.attributes(there)
    asked = Sattr(mode=0o600 if known.mode & 0o777 != 0o600 else 0o644)
    observe("answer", nfs2.create(scratch.handle, b"object", asked).status)
    expect_same(scratch.attributes(there), known)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ADDING_NEW, ids=str.lower)
@proves(RETURNS_EXIST, killed_by="nfs2-accepts-existing-names")
def test_existing_is_exist(nfs2: Nfs2, scratch: Nfs2Scratch, how: str, kind: str) -> None:
    """A procedure that creates a name returns EXIST if the name exists."""
    make(scratch, kind)
    directories = make_directories(nfs2, scratch)
    need_procedure(directories, how)
    reply = directories.add(how, b"object", scratch.handle)
    expect(reply).refused(Nfsstat2.NFSERR_EXIST, because=RETURNS_EXIST)


@pytest.mark.parametrize(
    ("how", "kind"),
    [*(("CREATE", kind) for kind in NOT_DIRECTORIES), *((how, "file") for how in ADDING if how != "CREATE")],
    ids=str.lower,
)
@proves(ONLY_DIRECTORIES_HAVE_NAMES, killed_by="nfs2-creates-in-non-directories")
def test_not_a_directory(nfs2: Nfs2, scratch: Nfs2Scratch, how: str, kind: str) -> None:
    """A procedure refuses to add a name to an object that is not a directory."""
    expect(make_directories(nfs2, scratch).add(how, b"name", make(scratch, kind))).refused()


@pytest.mark.parametrize("length", [MAXNAMLEN + 1, 1024, 10_000])
@pytest.mark.parametrize("how", ["CREATE", "MKDIR"], ids=str.lower)
@proves(LONG_NAME_IS_REFUSED, killed_by="nfs2-cuts-long-names")
def test_too_long(second_client: Nfs2, scratch: Nfs2Scratch, how: str, length: int) -> None:
    """A procedure does not create a name of more than 255 bytes."""
    where = oversized.WideDiropargs(scratch.handle, b"n" * length)
    making, removing = (
        (oversized.CREATE, oversized.REMOVE) if how == "CREATE" else (oversized.MKDIR, oversized.RMDIR)
    )
    reply = oversized.attempt(second_client, making, oversized.WideCreateargs(where, Sattr(mode=0o755)))
    is_taken = reply is not None and reply.resok is not None
    if is_taken:  # READDIR cannot return such an entry
        oversized.attempt(second_client, removing, where)
    what = f"{how} of a name of {length} bytes"
    expect_that(not is_taken, "an error", "success", what, reply=reply, field="status")
    expect_names(scratch.names(), [], "names in the directory")

# SPDX-License-Identifier: MIT
"""Names: what CREATE, MKDIR, SYMLINK, LINK and RENAME do with them (RFC 1094 sections 2.2.10 to 2.2.15, 2.3.7)."""

from __future__ import annotations

import pytest

from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import MAXNAMLEN, Nfsstat2, Sattr
from nfsjudge import Level, Requirement, expect, observe, proves
from suites.nfs2 import wide
from suites.nfs2.entering import ENTERING, NEW, entrance, need_procedure
from suites.nfs2.objects import KINDS, NOT_DIRECTORIES, expect_same, make

NAMED_AS_ASKED = Requirement(
    rfc="RFC 1094",
    section="2.2.10",
    gist="with NFS_OK, the file of the name that was given is in the directory that was given",
)
LISTED_AS_ASKED = Requirement(
    rfc="RFC 1094",
    section="2.2.10",
    level=Level.SHOULD,  # a server may have to map odd names, or cut long ones, for its file system
    gist="what is created has the name that was given, byte by byte",
)
REFUSED_MEANS_NOTHING = Requirement(
    rfc="RFC 1094",
    section="2.2.10",
    gist="any status but NFS_OK says that nothing was created",
)
NO_OTHER_NAME = Requirement(
    rfc="RFC 1094",
    section="2.2.10",
    level=Level.SHOULD,
    gist="a name that a server does not have is refused, not made into another",
)
NOTHING_IS_REPLACED = Requirement(
    rfc="RFC 1094",
    section="2.2.15",
    gist="MKDIR, SYMLINK (2.2.14) and LINK (2.2.13) make something new: what has the name already stays what it is",
)
CREATED_OVER = Requirement(
    rfc="RFC 1094",
    section="2.2.10",
    level=Level.SHOULD,  # of a name that is there the text says only that an exclusive flag should have been passed
    gist="CREATE creates a file: what has the name already should stay what it is",
)
EXIST_IS_MEANT = Requirement(
    rfc="RFC 1094", section="2.3.1", level=Level.SHOULD, gist="EXIST says that the file exists already"
)
IN_A_DIRECTORY = Requirement(
    rfc="RFC 1094", section="2.3.10", gist="dir is a directory: nothing else has room for names"
)
TOO_LONG = Requirement(
    rfc="RFC 1094",
    section="2.3.1",
    level=Level.SHOULD,
    gist="a name of more than 255 bytes is too long, and not another one",
)

ODD = {
    "space": b"sp ace",
    "utf8": "\u65e5\u672c".encode(),
    "not-utf8": b"\xff\xfe",
    "backslash": b"back\\slash",
    "dash": b"-dash",
    "newline": b"new\nline",
    "dots": b"...",
    "longest": b"-" * MAXNAMLEN,
}
FORBIDDEN = {"empty": b"", "dot": b".", "dotdot": b"..", "slash": b"a/b", "nul": b"a\0b"}
some_names = pytest.mark.parametrize("name", list(ODD.values())[:3], ids=list(ODD)[:3])
more_names = pytest.mark.parametrize("name", list(ODD.values())[3:], ids=list(ODD)[3:])
forbidden_names = pytest.mark.parametrize("name", list(FORBIDDEN.values()), ids=list(FORBIDDEN))
procedures = pytest.mark.parametrize("how", ENTERING)


def _enters_as_asked(second_nfs2: Nfs2, scratch2: Scratch2, how: str, name: bytes) -> None:
    """What was answered with success is there under its name; what was refused is not there under any."""
    __tracebackhide__ = True
    place = entrance(second_nfs2, scratch2)
    # A server need not have names of every kind: a string of XDR is one of ASCII.
    reply = wide.tolerate(lambda: place.enter(how, name))
    if reply is None:
        return
    found = scratch2.names(place.where)
    if reply.status != Nfsstat2.NFS_OK:
        expect(found, "the names in the directory after a refusal").equals([])
        return
    expect(second_nfs2.lookup(place.where, name)).ok()
    expect(found, "the names in the directory", because=LISTED_AS_ASKED).equals([name])


@procedures
@some_names
@proves(NAMED_AS_ASKED, LISTED_AS_ASKED, killed_by="nfs2-changes-odd-names")
def test_enters_the_name_as_it_is(second_nfs2: Nfs2, scratch2: Scratch2, how: str, name: bytes) -> None:
    _enters_as_asked(second_nfs2, scratch2, how, name)


@more_names
@proves(NAMED_AS_ASKED, LISTED_AS_ASKED, killed_by="nfs2-changes-odd-names")
def test_creates_a_file_of_any_name(second_nfs2: Nfs2, scratch2: Scratch2, name: bytes) -> None:
    _enters_as_asked(second_nfs2, scratch2, "CREATE", name)


@procedures
@forbidden_names
@proves(REFUSED_MEANS_NOTHING, NO_OTHER_NAME, killed_by="nfs2-creates-in-spite-of-it")
def test_a_name_that_cannot_be_makes_no_other(
    second_nfs2: Nfs2, scratch2: Scratch2, how: str, name: bytes
) -> None:
    place = entrance(second_nfs2, scratch2)
    reply = wide.tolerate(lambda: place.enter(how, name))
    others = [found for found in scratch2.names(place.where) if found != name]
    is_refused = reply is not None and reply.status != Nfsstat2.NFS_OK
    because = REFUSED_MEANS_NOTHING if is_refused else NO_OTHER_NAME
    expect(others, "other names in the directory", because=because).equals([])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["CREATE", *NEW])
@proves(NOTHING_IS_REPLACED, CREATED_OVER, killed_by="nfs2-replaces-what-is-there")
def test_what_has_the_name_stays(nfs2: Nfs2, scratch2: Scratch2, how: str, kind: str) -> None:
    known = scratch2.attributes(make(scratch2, kind))
    reply = entrance(nfs2, scratch2).enter(how, b"object", scratch2.handle)
    observe("answer", reply.status)
    found = expect(nfs2.lookup(scratch2.handle, b"object")).ok()
    expect_same(found.attributes, known, because=CREATED_OVER if how == "CREATE" else NOTHING_IS_REPLACED)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", NEW)
@proves(EXIST_IS_MEANT, killed_by="nfs2-takes-existing-for-new")
def test_a_name_that_is_taken_is_exist(nfs2: Nfs2, scratch2: Scratch2, how: str, kind: str) -> None:
    make(scratch2, kind)
    place = entrance(nfs2, scratch2)
    need_procedure(place, how)
    reply = place.enter(how, b"object", scratch2.handle)
    expect(reply).refused(Nfsstat2.NFSERR_EXIST, because=EXIST_IS_MEANT)


@pytest.mark.parametrize("kind", NOT_DIRECTORIES)
@procedures
@proves(IN_A_DIRECTORY, killed_by="nfs2-takes-anything-for-a-directory")
def test_nothing_is_made_in_what_is_no_directory(nfs2: Nfs2, scratch2: Scratch2, how: str, kind: str) -> None:
    expect(entrance(nfs2, scratch2).enter(how, b"name", make(scratch2, kind))).refused()


@pytest.mark.parametrize("length", [MAXNAMLEN + 1, 1024, 10_000])
@pytest.mark.parametrize("how", ["CREATE", "MKDIR"])
@proves(TOO_LONG, killed_by="nfs2-cuts-long-names")
def test_a_name_beyond_the_limit_is_not_taken(
    second_nfs2: Nfs2, scratch2: Scratch2, how: str, length: int
) -> None:
    where = wide.WideDiropargs(scratch2.handle, b"n" * length)
    making, removing = (wide.CREATE, wide.REMOVE) if how == "CREATE" else (wide.MKDIR, wide.RMDIR)
    reply = wide.attempt(second_nfs2, making, wide.WideCreateargs(where, Sattr(mode=0o755)))
    is_taken = reply is not None and reply.resok is not None
    if is_taken:  # its entry would not fit into what READDIR answers
        wide.attempt(second_nfs2, removing, where)
    expect(is_taken, "that the name is taken").is_false()
    expect(scratch2.names(), "the names in the directory").equals([])


@pytest.mark.parametrize("length", [MAXNAMLEN + 1, 1024, 10_000])
@proves(TOO_LONG, killed_by="nfs2-cuts-long-names")
def test_a_name_beyond_the_limit_finds_nothing(second_nfs2: Nfs2, scratch2: Scratch2, length: int) -> None:
    scratch2.file(b"n" * MAXNAMLEN)
    reply = wide.attempt(second_nfs2, wide.LOOKUP, wide.WideDiropargs(scratch2.handle, b"n" * length))
    expect(reply is not None and reply.resok is not None, "that the name is found").is_false()

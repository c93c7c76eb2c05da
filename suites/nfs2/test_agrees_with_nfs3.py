# SPDX-License-Identifier: MIT
"""NFSv2 and NFSv3 of one target: two views of the same files (RFC 1094 section 2.3.5 beside RFC 1813 section 2.5).

What version 2 cannot say is left out: sizes from 2^32 on, halves of wide numbers, FIFOs, nanoseconds.
"""

from __future__ import annotations

import pytest

from fixtures.checks import TargetView
from fixtures.scratch import Scratch
from fixtures.scratch2 import list_names2
from nfsclient.clients import Nfs2, Nfs3
from nfsclient.protocol import nfs3 as p3
from nfsclient.protocol.nfs2 import MAXDATA, Fattr, Ftype, Sattr
from nfsjudge import Level, Requirement, expect, observe, proves, skip, unsupported
from suites.nfs2.objects import OF_DIRECTORIES
from suites.nfs3.contents import difference, pattern

ONE_FILE = Requirement(
    rfc="RFC 1094",
    section="2.3.5",
    gist="attributes are those of the file: they do not depend on the version of NFS that asks",
)
ONE_NUMBER = Requirement(
    rfc="RFC 1094",
    section="2.3.5",
    level=Level.SHOULD,
    gist="fileid is the number of the file, as far as it goes into 32 bits",
)
ONE_CONTENT = Requirement(
    rfc="RFC 1094", section="2.2.7", gist="data is that of the file, whichever version wrote it"
)
PROGRESS = Requirement(
    rfc="RFC 1094",
    section="2.2.7",
    level=Level.SHOULD,
    gist="READ returns data where there are some: a reply says in no other way that the file ends",
)
ONE_TREE = Requirement(
    rfc="RFC 1094", section="2.1", gist="names are those of the file system, whichever version made them"
)
TYPE = Requirement(
    rfc="RFC 1094",
    section="2.3.2",
    gist="type is that of the object: NFBLK and NFCHR are devices, NFNON is what is no file",
)
TYPE_IN_MODE = Requirement(
    rfc="RFC 1094",
    section="2.3.5",
    level=Level.SHOULD,
    gist="mode has the type of the file as well, and type should be the one that it says",
)
NO_SUCH_SIZE = Requirement(
    rfc="RFC 1094",
    section="2.3.5",
    level=Level.SHOULD,
    gist="the size of a file that 32 bits cannot say is cut or clamped, or the call refused; the file stays",
)

KINDS = ("file", "directory", "symlink")
LOW = 0xFFFF_FFFF
SPECIAL: dict[str, tuple[p3.Ftype3, set[int], set[int]]] = {
    "block": (p3.Ftype3.NF3BLK, {Ftype.NFBLK}, {0o060000}),
    "character": (p3.Ftype3.NF3CHR, {Ftype.NFCHR}, {0o020000}),
    # For FIFOs the RFC has nothing; servers take a type that it has, or one that came later.
    "socket": (p3.Ftype3.NF3SOCK, {Ftype.NFNON, Ftype.NFCHR, 6}, {0o140000, 0o020000}),
    "fifo": (p3.Ftype3.NF3FIFO, {Ftype.NFNON, Ftype.NFCHR, 8}, {0o010000, 0o020000}),
}


@pytest.fixture
def both(nfs2: Nfs2, scratch: Scratch, root2: bytes) -> bytes:
    """The scratch directory of NFSv3, as NFSv2 sees it."""
    reply = nfs2.lookup(root2, scratch.name)
    if reply.resok is None:
        skip(f"NFSv2 does not see what NFSv3 makes: LOOKUP answers {reply.status}")
    return reply.resok.file


def _make(target: TargetView, scratch: Scratch, kind: str) -> bytes:
    if kind == "symlink" and not (target.has("symlink") and target.has("symlink2")):
        unsupported("the target has no symbolic links")
    match kind:
        case "file":
            return scratch.file("object", b"data", mode=0o640)
        case "directory":
            return scratch.directory("object", mode=0o750)
        case _:
            return scratch.symlink("object", b"some/where")


def _seen(nfs2: Nfs2, directory: bytes, name: bytes = b"object") -> Fattr:
    return expect(nfs2.lookup(directory, name)).ok().attributes


@pytest.mark.parametrize("kind", KINDS)
@proves(ONE_FILE, killed_by="lookup2-owners-are-others")
def test_attributes_agree(target: TargetView, nfs2: Nfs2, scratch: Scratch, both: bytes, kind: str) -> None:
    known = scratch.attributes(_make(target, scratch, kind))
    seen = _seen(nfs2, both)
    for fields, because in (
        (("uid", "gid"), ONE_FILE),
        (("nlink", "size"), OF_DIRECTORIES if kind == "directory" else ONE_FILE),
    ):
        expect([getattr(seen, name) for name in fields], " and ".join(fields), because=because).equals(
            [getattr(known, name) for name in fields]
        )


@pytest.mark.parametrize("kind", KINDS)
@proves(ONE_FILE, killed_by="lookup2-modes-are-others")
def test_permissions_agree(target: TargetView, nfs2: Nfs2, scratch: Scratch, both: bytes, kind: str) -> None:
    known = scratch.attributes(_make(target, scratch, kind))
    expect(_seen(nfs2, both).mode & 0o7777, "mode without type").equals(known.mode & 0o7777)


@pytest.mark.parametrize("kind", KINDS)
@proves(TYPE, killed_by="lookup2-types-are-others")
def test_types_agree(target: TargetView, nfs2: Nfs2, scratch: Scratch, both: bytes, kind: str) -> None:
    known = scratch.attributes(_make(target, scratch, kind))
    # Those that both versions have are numbered alike.
    expect(int(_seen(nfs2, both).type), "type").equals(int(known.type))


@pytest.mark.parametrize("kind", KINDS)
@proves(ONE_NUMBER, killed_by="lookup2-fileids-are-others")
def test_fileids_agree(target: TargetView, nfs2: Nfs2, scratch: Scratch, both: bytes, kind: str) -> None:
    known = scratch.attributes(_make(target, scratch, kind)).fileid
    if known > LOW:
        skip("the fileid does not go into 32 bits")
    expect(_seen(nfs2, both).fileid, "fileid").equals(known)


@pytest.mark.parametrize("field", ["atime", "mtime", "ctime"])
@proves(ONE_FILE, killed_by="lookup2-times-are-others")
def test_times_agree(target: TargetView, nfs2: Nfs2, scratch: Scratch, both: bytes, field: str) -> None:
    file = _make(target, scratch, "file")
    known = getattr(scratch.attributes(file), field)
    seen = getattr(_seen(nfs2, both), field)
    if getattr(scratch.attributes(file), field) != known:
        skip(f"{field} drifts by itself")
    expect(seen.seconds, f"the seconds of {field}").equals(known.seconds)
    fine = abs(seen.useconds - known.nseconds // 1000)
    observe("microseconds apart", fine)


@pytest.mark.parametrize("kind", SPECIAL)
@proves(TYPE, TYPE_IN_MODE, killed_by="lookup2-special-files-are-links", needs="mknod")
def test_special_files_have_a_type(nfs2: Nfs2, nfs3: Nfs3, scratch: Scratch, both: bytes, kind: str) -> None:
    _make_special(nfs3, scratch, kind)
    seen = _seen(nfs2, both).type
    observe("type", seen)
    because = TYPE if kind in {"block", "character"} else TYPE_IN_MODE
    expect(int(seen), "type", because=because).one_of(*SPECIAL[kind][1])


@pytest.mark.parametrize("kind", SPECIAL)
@proves(TYPE_IN_MODE, killed_by="lookup2-special-files-are-links", needs="mknod")
def test_special_files_have_the_type_in_mode(
    nfs2: Nfs2, nfs3: Nfs3, scratch: Scratch, both: bytes, kind: str
) -> None:
    _make_special(nfs3, scratch, kind)
    expect(_seen(nfs2, both).mode & 0o170000, "the type bits of mode").one_of(*SPECIAL[kind][2])


def _make_special(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    ftype = SPECIAL[kind][0]
    if kind in {"block", "character"}:
        what = p3.Mknoddata3(ftype, device=p3.Devicedata3(p3.Sattr3(mode=0o600), p3.Specdata3(1, 3)))
    else:
        what = p3.Mknoddata3(ftype, pipe_attributes=p3.Sattr3(mode=0o600))
    reply = nfs3.mknod(scratch.handle, b"object", what)
    if reply.resok is None:
        skip(f"such an object cannot be made: MKNOD answers {reply.status}")


@pytest.mark.parametrize("size", [1, 4097, 100_000])
@proves(ONE_CONTENT, PROGRESS, killed_by="read2-has-data-of-its-own")
def test_reads_what_version_3_wrote(nfs2: Nfs2, scratch: Scratch, both: bytes, size: int) -> None:
    scratch.file("f", pattern(size, salt=7))
    file = expect(nfs2.lookup(both, b"f")).ok().file
    data = bytes(expect(nfs2.read(file, 0, MAXDATA)).ok().data)
    wanted = pattern(size, salt=7)[: len(data)]
    expect(difference(data, wanted), "where the data differs").is_absent()
    expect(len(data), "the number of bytes", because=PROGRESS).at_least(1)


@pytest.mark.parametrize("size", [1, 4097, MAXDATA])
@proves(ONE_CONTENT, killed_by="write2-writes-data-of-its-own")
def test_version_3_reads_what_was_written(nfs2: Nfs2, scratch: Scratch, both: bytes, size: int) -> None:
    handle = scratch.file("f")
    file = expect(nfs2.lookup(both, b"f")).ok().file
    data = pattern(size, salt=7)
    expect(nfs2.write(file, 0, data)).ok()
    expect(difference(scratch.read(handle), data), "where the data differs").is_absent()


@proves(ONE_TREE, killed_by="readdir2-lists-names-in-upper-case")
def test_lists_the_same_names(nfs2: Nfs2, scratch: Scratch, both: bytes) -> None:
    for name in ("one", "two", "three"):
        scratch.file(name)
    expect(sorted(list_names2(nfs2, both)), "the names").equals(sorted(scratch.names()))


@proves(ONE_TREE, killed_by="create2-makes-names-of-its-own")
def test_version_3_finds_what_was_made(nfs2: Nfs2, scratch: Scratch, both: bytes) -> None:
    expect(nfs2.create(both, b"made", Sattr(mode=0o644))).ok()
    expect(scratch.names(), "the names by version 3").equals([b"made"])


@proves(ONE_TREE, killed_by="remove2-does-nothing")
def test_version_3_misses_what_was_removed(nfs2: Nfs2, scratch: Scratch, both: bytes) -> None:
    scratch.file("f")
    expect(nfs2.remove(both, b"f")).ok()
    expect(scratch.lookup("f"), "the handle of the name by version 3").is_absent()


@pytest.mark.parametrize("text", [b"plain", b"../up//./"], ids=["plain", "odd"])
@proves(ONE_CONTENT, killed_by="readlink2-cleans-the-text", needs=("symlink", "symlink2"))
def test_links_have_the_same_text(nfs2: Nfs2, scratch: Scratch, both: bytes, text: bytes) -> None:
    scratch.symlink("l", text)
    link = expect(nfs2.lookup(both, b"l")).ok().file
    expect(expect(nfs2.readlink(link)).ok(), "the text of the link").equals(text)


@pytest.mark.parametrize("size", [2**32, 2**32 + 5, 2**40])
@proves(NO_SUCH_SIZE, killed_by="lookup2-cuts-files-to-its-measure")
def test_a_file_that_is_too_large_stays_as_it_is(
    nfs2: Nfs2, nfs3: Nfs3, scratch: Scratch, both: bytes, size: int
) -> None:
    file = scratch.file("f", b"data")
    if nfs3.setattr(file, p3.Sattr3(size=size)).status != p3.Nfsstat3.NFS3_OK:
        skip(f"a file of {size} bytes cannot be made")
    reply = nfs2.lookup(both, b"f")
    observe("answer", reply.status if reply.resok is None else f"size {reply.resok.attributes.size}")
    expect(scratch.attributes(file).size, "the size by version 3").equals(size)

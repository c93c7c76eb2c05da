# SPDX-License-Identifier: MIT
"""NFSv2 agrees with NFSv3 about the same files (RFC 1094 section 2.3.5, RFC 1813 section 2.5).

The checks do not compare what NFSv2 cannot express: sizes of 2^32 or more, wide numbers, FIFOs, nanoseconds.
"""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Dialect, list_names
from fixtures.checks.dialects.nfs3 import Nfs3Dialect, Nfs3Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs2, Nfs3
from nfsclient.protocol import nfs3 as p3
from nfsclient.protocol.nfs2 import MAXDATA, Fattr, Ftype, Sattr
from nfsjudge import (
    Harm,
    expect,
    expect_data,
    expect_names,
    expect_that,
    expect_unchanged,
    observe,
    proves,
    should,
    skip,
    stated,
    unsupported,
)
from suites.nfs2.clauses import (
    DIRECTORY_SIZE_IS_STEADY,
    READ_MAKES_PROGRESS,
    TYPE_IS_IN_MODE,
    TYPE_NAMES_KIND,
)
from suites.nfs2.objects import KINDS
from suites.nfs3.contents import pattern
from suites.nfs3.limits import need_far

V3_SEES_SAME_ATTRIBUTES = stated(
    "RFC 1094", "2.3.5", "attributes belong to the file and do not depend on the NFS version of the call"
)
V3_SEES_SAME_FILEID = should(
    "RFC 1094", "2.3.5", "fileid identifies the file in every NFS version, as far as it fits into 32 bits"
)
V3_SEES_SAME_DATA = stated(
    "RFC 1094", "2.2.7", "data belongs to the file, whichever NFS version wrote it", harm=Harm.DATA
)
V3_SEES_SAME_NAMES = stated(
    "RFC 1094", "2.1", "names belong to the file system, whichever NFS version created them"
)
LARGE_FILE_IS_KEPT = should(
    "RFC 1094",
    "2.3.5",
    "a size that needs more than 32 bits is cut or clamped, or the call is refused; the file does not change",
    harm=Harm.DATA,
)
LOW = 0xFFFF_FFFF
"""The largest fileid of NFSv2."""
SPECIAL: dict[str, tuple[p3.Ftype3, set[int], set[int]]] = {
    "block": (p3.Ftype3.NF3BLK, {Ftype.NFBLK}, {0o060000}),
    "character": (p3.Ftype3.NF3CHR, {Ftype.NFCHR}, {0o020000}),
    # The RFC has no type for FIFOs; servers use a type of the RFC, or one that was added later.
    "socket": (p3.Ftype3.NF3SOCK, {Ftype.NFNON, Ftype.NFCHR, 6}, {0o140000, 0o020000}),
    "fifo": (p3.Ftype3.NF3FIFO, {Ftype.NFNON, Ftype.NFCHR, 8}, {0o010000, 0o020000}),
}
"""Name -> type in NFSv3, and the types and type bits of mode that NFSv2 may show for it."""


@pytest.fixture
def directory(nfs2: Nfs2, v3: Nfs3Dialect, v2: Nfs2Dialect) -> bytes:
    """Return the NFSv2 handle of the NFSv3 scratch directory."""
    reply = nfs2.lookup(v2.root, v3.scratch.name)
    if reply.resok is None:
        skip(f"NFSv2 does not find a directory that NFSv3 made: LOOKUP answers {reply.status}", reply)
    return reply.resok.file


def _make(target: TargetView, scratch: Nfs3Scratch, kind: str) -> bytes:
    if kind == "symlink" and not (target.has("symlink") and target.has("nfs2_symlink")):
        unsupported("the target has no symbolic links")
    match kind:
        case "file":
            return scratch.file("object", b"data", mode=0o640)
        case "directory":
            return scratch.directory("object", mode=0o750)
        case _:
            return scratch.symlink("object", b"some/where")


def _attributes(nfs2: Nfs2, directory: bytes, name: bytes = b"object") -> Fattr:
    return expect(nfs2.lookup(directory, name)).ok().attributes


@pytest.mark.parametrize("kind", KINDS)
@proves(V3_SEES_SAME_ATTRIBUTES, killed_by="lookup2-returns-another-owner")
def test_attributes(target: TargetView, nfs2: Nfs2, v3: Nfs3Dialect, directory: bytes, kind: str) -> None:
    """NFSv2 shows the same owner, group, nlink and size as NFSv3."""
    known = v3.scratch.attributes(_make(target, v3.scratch, kind))
    seen = _attributes(nfs2, directory)
    for fields, because in (
        (("uid", "gid"), V3_SEES_SAME_ATTRIBUTES),
        (("nlink", "size"), DIRECTORY_SIZE_IS_STEADY if kind == "directory" else V3_SEES_SAME_ATTRIBUTES),
    ):
        expect_unchanged(known, seen, fields, "the object in NFSv2", because=because)


@pytest.mark.parametrize("kind", KINDS)
@proves(V3_SEES_SAME_ATTRIBUTES, killed_by="lookup2-returns-another-mode")
def test_permissions(target: TargetView, nfs2: Nfs2, v3: Nfs3Dialect, directory: bytes, kind: str) -> None:
    """NFSv2 shows the same permission bits as NFSv3."""
    known = v3.scratch.attributes(_make(target, v3.scratch, kind))
    expect(
        _attributes(nfs2, directory).mode & 0o7777, "mode without file type in NFSv2", field="mode"
    ).equals(known.mode & 0o7777)


@pytest.mark.parametrize("kind", KINDS)
@proves(TYPE_NAMES_KIND, killed_by="lookup2-returns-another-type")
def test_type(target: TargetView, nfs2: Nfs2, v3: Nfs3Dialect, directory: bytes, kind: str) -> None:
    """NFSv2 shows the same type as NFSv3."""
    known = v3.scratch.attributes(_make(target, v3.scratch, kind))
    # Types that both versions have are numbered alike.
    expect(_attributes(nfs2, directory)).field("type", "type in NFSv2").equals(Ftype(int(known.type)))


@pytest.mark.parametrize("kind", KINDS)
@proves(V3_SEES_SAME_FILEID, killed_by="lookup2-returns-another-fileid")
def test_fileid(target: TargetView, nfs2: Nfs2, v3: Nfs3Dialect, directory: bytes, kind: str) -> None:
    """NFSv2 shows the same fileid as NFSv3 if it fits into 32 bits."""
    known = v3.scratch.attributes(_make(target, v3.scratch, kind)).fileid
    if known > LOW:
        skip("the fileid does not fit into 32 bits")
    expect(_attributes(nfs2, directory)).field("fileid", "fileid in NFSv2").equals(known)


@pytest.mark.parametrize("field", ["atime", "mtime", "ctime"])
@proves(V3_SEES_SAME_ATTRIBUTES, killed_by="lookup2-returns-other-times")
def test_times(target: TargetView, nfs2: Nfs2, v3: Nfs3Dialect, directory: bytes, field: str) -> None:
    """NFSv2 shows the same times as NFSv3, to the second."""
    file = _make(target, v3.scratch, "file")
    known = getattr(v3.scratch.attributes(file), field)
    seen = getattr(_attributes(nfs2, directory), field)
    if getattr(v3.scratch.attributes(file), field) != known:
        skip(f"{field} changes although nobody uses the file")
    expect(seen).field("seconds", f"{field} in NFSv2, in seconds").equals(known.seconds)
    fine = abs(seen.useconds - known.nseconds // 1000)
    observe("microseconds apart", fine)


def _make_special(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    ftype = SPECIAL[kind][0]
    if kind in {"block", "character"}:
        what = p3.Mknoddata3(ftype, device=p3.Devicedata3(p3.Sattr3(mode=0o600), p3.Specdata3(1, 3)))
    else:
        what = p3.Mknoddata3(ftype, pipe_attributes=p3.Sattr3(mode=0o600))
    reply = nfs3.mknod(scratch.handle, b"object", what)
    if reply.resok is None:
        skip(f"the server does not make such an object: MKNOD answers {reply.status}", reply)


@pytest.mark.parametrize("kind", SPECIAL)
@proves(TYPE_NAMES_KIND, TYPE_IS_IN_MODE, killed_by="lookup2-reports-special-files-as-links", needs="mknod")
def test_special_file_type(nfs2: Nfs2, nfs3: Nfs3, v3: Nfs3Dialect, directory: bytes, kind: str) -> None:
    """NFSv2 shows a fitting type for a special file that NFSv3 made."""
    _make_special(nfs3, v3.scratch, kind)
    seen: int = _attributes(nfs2, directory).type
    observe("type", seen)
    because = TYPE_NAMES_KIND if kind in {"block", "character"} else TYPE_IS_IN_MODE
    expect(seen, "type in NFSv2", field="type", because=because).one_of(*SPECIAL[kind][1])


@pytest.mark.parametrize("kind", SPECIAL)
@proves(TYPE_IS_IN_MODE, killed_by="lookup2-reports-special-files-as-links", needs="mknod")
def test_special_file_mode(nfs2: Nfs2, nfs3: Nfs3, v3: Nfs3Dialect, directory: bytes, kind: str) -> None:
    """NFSv2 shows a mode with the type bits of a special file that NFSv3 made."""
    _make_special(nfs3, v3.scratch, kind)
    seen = _attributes(nfs2, directory)
    expect(seen.mode & 0o170000, "file type bits of mode in NFSv2", of=seen, field="mode").one_of(
        *SPECIAL[kind][2]
    )


@pytest.mark.parametrize("size", [1, 4097, 100_000])
@proves(V3_SEES_SAME_DATA, READ_MAKES_PROGRESS, killed_by="read2-inverts-the-data")
def test_read_v3_data(nfs2: Nfs2, v3: Nfs3Dialect, directory: bytes, size: int) -> None:
    """NFSv2 READ returns the data that NFSv3 wrote."""
    v3.scratch.file("f", pattern(size, salt=7))
    file = expect(nfs2.lookup(directory, b"f")).ok().file
    data = bytes(expect(nfs2.read(file, 0, MAXDATA)).ok().data)
    wanted = pattern(size, salt=7)[: len(data)]
    expect_data(data, wanted, of="reply")
    expect(len(data), "bytes of data", because=READ_MAKES_PROGRESS).at_least(1)


@pytest.mark.parametrize("size", [1, 4097, MAXDATA])
@proves(V3_SEES_SAME_DATA, killed_by="write2-inverts-the-data")
def test_v3_reads_v2_data(nfs2: Nfs2, v3: Nfs3Dialect, directory: bytes, size: int) -> None:
    """NFSv3 READ returns the data that NFSv2 wrote."""
    handle = v3.scratch.file("f")
    file = expect(nfs2.lookup(directory, b"f")).ok().file
    data = pattern(size, salt=7)
    expect(nfs2.write(file, 0, data)).ok()
    expect_data(v3.scratch.read(handle), data)


@proves(V3_SEES_SAME_NAMES, killed_by="readdir2-lists-names-in-upper-case")
def test_names(nfs2: Nfs2, v3: Nfs3Dialect, directory: bytes) -> None:
    """NFSv2 READDIR lists the same names as NFSv3."""
    for name in ("one", "two", "three"):
        v3.scratch.file(name)
    expect_names(list_names(nfs2, directory), v3.scratch.names(), "names in NFSv2")


@proves(V3_SEES_SAME_NAMES, killed_by="create2-appends-a-version-to-names")
def test_v3_sees_create(nfs2: Nfs2, v3: Nfs3Dialect, directory: bytes) -> None:
    """NFSv3 lists a file that NFSv2 created."""
    expect(nfs2.create(directory, b"made", Sattr(mode=0o644))).ok()
    expect_names(v3.scratch.names(), [b"made"], "names in NFSv3")


@proves(V3_SEES_SAME_NAMES, killed_by="remove2-does-nothing")
def test_v3_sees_remove(nfs2: Nfs2, v3: Nfs3Dialect, directory: bytes) -> None:
    """NFSv3 does not find a file that NFSv2 removed."""
    v3.scratch.file("f")
    expect(nfs2.remove(directory, b"f")).ok()
    expect_that(v3.scratch.lookup("f") is None, "no file", "the removed file", "LOOKUP by NFSv3")


@pytest.mark.parametrize("text", [b"plain", b"../up//./"], ids=["plain", "odd"])
@proves(V3_SEES_SAME_DATA, killed_by="readlink2-drops-the-last-byte", needs=("symlink", "nfs2_symlink"))
def test_symlink_text(nfs2: Nfs2, v3: Nfs3Dialect, directory: bytes, text: bytes) -> None:
    """NFSv2 READLINK returns the text that NFSv3 SYMLINK stored."""
    v3.scratch.symlink("l", text)
    link = expect(nfs2.lookup(directory, b"l")).ok().file
    expect(expect(nfs2.readlink(link)).ok(), "text of the link in NFSv2").equals(text)


@pytest.mark.parametrize("size", [2**32, 2**32 + 5, 2**40], ids=["4g", "4g+5", "1t"])
@proves(LARGE_FILE_IS_KEPT, killed_by="lookup2-truncates-large-files")
def test_large_file_kept(nfs2: Nfs2, nfs3: Nfs3, v3: Nfs3Dialect, directory: bytes, size: int) -> None:
    """NFSv2 LOOKUP does not change the size of a file beyond 32 bits."""
    file = v3.scratch.file("f", b"data")
    with need_far(nfs3, v3.scratch, size, by_setattr=True):
        grown = nfs3.setattr(file, p3.Sattr3(size=size))
    if grown.status != p3.Nfsstat3.NFS3_OK:
        skip(f"the server does not make a file of {size} bytes")
    reply = nfs2.lookup(directory, b"f")
    observe("answer", reply.status if reply.resok is None else f"size {reply.resok.attributes.size}")
    expect(v3.scratch.attributes(file)).field("size", "size in NFSv3 after LOOKUP by NFSv2").equals(size)

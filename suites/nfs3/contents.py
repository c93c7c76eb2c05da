# SPDX-License-Identifier: MIT
"""Test data that differs at every offset, and helpers to store, read and compare it."""

from __future__ import annotations

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, StableHow, Write3ResOk
from nfsjudge import expect, skip, unsupported
from nfsjudge.differences import difference_of_data
from nfsjudge.records import deviation_text
from suites.nfs3.clauses import COMMIT_FLUSHES_DATA

MOST_IN_A_WRITE = 8192
"""Bytes in one WRITE of `put`: below the wtmax of nearly all servers (RFC 1813 section 3.3.19)."""
_PERIOD = 251
"""A prime number, so that blocks whose size is a power of two all differ."""


def pattern(size: int, salt: int = 0) -> bytes:
    """`size` nonzero bytes, which differ at every offset from those of another `salt` (0 to 250)."""
    period = bytes((number + salt) % _PERIOD + 1 for number in range(_PERIOD))
    return (period * (size // _PERIOD + 1))[:size]


def stored(scratch: Nfs3Scratch, name: str, content: bytes) -> bytes:
    """Make a file, verify that it holds `content`, and return its handle.

    For checks that change the file afterwards. If READ does not return what was written, another check fails, and
    this one ends as SKIP.
    """
    file = scratch.file(name, content)
    need_content(scratch, file, content)
    return file


def need_content(scratch: Nfs3Scratch, file: bytes, content: bytes) -> None:
    """SKIP the check unless the file holds `content`."""
    found = difference_of_data(scratch.read(file), content)
    if found is not None:
        text = deviation_text(found.what, [found.expected], found.observed)
        skip(f"READ does not return what was written to the file: {text}")


def read_range(nfs3: Nfs3, file: bytes, offset: int, count: int) -> bytes:
    """Read a range in as many READs as the target needs. Returns fewer bytes at the end of the file.

    For checks that are not about READ: a READ that fails ends the check as SKIP.
    """
    parts = bytearray()
    while len(parts) < count:
        reply = nfs3.read(file, offset + len(parts), count - len(parts))
        if reply.resok is None:
            skip(f"cannot read the file back: READ answers {reply.status}", reply)
        parts += reply.resok.data
        if reply.resok.eof or not reply.resok.data:
            break
    return bytes(parts[:count])


def write_far(nfs3: Nfs3, file: bytes, offset: int, data: bytes) -> None:
    """Write all of `data` at a large offset. UNSUPPORTED if the target refuses the offset."""
    at = 0
    while at < len(data):
        reply = nfs3.write(file, offset + at, data[at:])
        if reply.resok is None:
            unsupported(f"the server writes no data at offset {offset}: WRITE answers {reply.status}", reply)
        if reply.resok.count == 0:
            skip("WRITE makes no progress: it answers success with count 0")
        at += reply.resok.count


def _size(nfs3: Nfs3, file: bytes) -> int:
    reply = nfs3.getattr(file)
    if reply.resok is None:
        skip(f"cannot get the size of the file: GETATTR answers {reply.status}", reply)
    return reply.resok.obj_attributes.size


def commit(nfs3: Nfs3, file: bytes, answers: list[Write3ResOk], offset: int = 0, count: int = 0) -> None:
    """COMMIT a range of the file, after the WRITEs that returned `answers`.

    SKIP if the verifier differs from that of the WRITEs: the server then says that it may have lost data
    (RFC 1813 section 3.3.21), and guarantees nothing about it.
    """
    __tracebackhide__ = True
    verf = expect(nfs3.commit(file, offset, count), because=COMMIT_FLUSHES_DATA).ok().verf
    if any(answer.verf != verf for answer in answers if answer.committed == StableHow.UNSTABLE):
        skip("COMMIT returned another verifier than the WRITEs: the server says that it may have lost data")


def write_all(
    nfs3: Nfs3, file: bytes, offset: int, data: bytes, stable: StableHow = StableHow.FILE_SYNC
) -> list[Write3ResOk]:
    """Write all of `data` in as many WRITEs as the target needs, and return their results.

    For checks that are not about how much one WRITE accepts: no progress ends the check as SKIP. A file that is too
    large ends it as UNSUPPORTED, and so does a refused gap before the data, since RFC 1813 requires no server to make
    gaps. Any other refusal counts against the requirement of the check.
    """
    at = 0
    answers: list[Write3ResOk] = []
    while at < len(data):
        reply = nfs3.write(file, offset + at, data[at : at + MOST_IN_A_WRITE], stable)
        if reply.status == Nfsstat3.NFS3ERR_FBIG:
            unsupported(
                f"files cannot be this large: WRITE at offset {offset + at} answers {reply.status}", reply
            )
        if reply.status == Nfsstat3.NFS3ERR_INVAL and _size(nfs3, file) < offset + at:
            unsupported(f"files cannot have gaps: WRITE beyond the end answers {reply.status}", reply)
        resok = expect(reply).ok()
        if resok.count == 0:
            skip("WRITE makes no progress: it answers success with count 0")
        at += resok.count
        answers.append(resok)
    return answers


class Unstable:
    """Data that the server has acknowledged with UNSTABLE and may lose."""

    def __init__(self) -> None:
        self._pieces: list[tuple[bytes, int, bytes, bytes]] = []

    def write(self, nfs3: Nfs3, file: bytes, offset: int, data: bytes) -> None:
        """Write data. What the server has committed at once does not count."""
        for answer in write_all(nfs3, file, offset, data, StableHow.UNSTABLE):
            piece, data = data[: answer.count], data[answer.count :]
            if answer.committed == StableHow.UNSTABLE:
                self._pieces.append((file, offset, piece, answer.verf))
            offset += answer.count
        if not self._pieces:
            unsupported("the server commits all data at once: no WRITE returned committed UNSTABLE")

    def lost(self, nfs3: Nfs3) -> set[bytes]:
        """The verifiers of acknowledged data that is lost."""
        return {
            verf
            for file, offset, data, verf in self._pieces
            if read_range(nfs3, file, offset, len(data)) != data
        }

# SPDX-License-Identifier: MIT
"""Files and clients of NFSv4.1 before and after a crash or a restart.

Files are written by clients that have nothing open and end before the server dies (`leave_nothing`): a server without
a client that may have something to reclaim has no grace period, and READ works at once.
"""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4, StableHow4
from nfsjudge import Harm, Requirement, expect, expect_that, must, show, skip, stated, unsupported
from suites.nfs4.opens import BOTH, open_file

FILE_SYNC4_IS_STABLE = must(
    "RFC 5661",
    "18.32.3",
    "data written with FILE_SYNC4 and the metadata of the file are on stable storage before WRITE returns",
    harm=Harm.DATA,
)
DATA_SYNC4_IS_STABLE = must(
    "RFC 5661",
    "18.32.3",
    "data written with DATA_SYNC4, and the metadata to reach it, are on stable storage before WRITE returns",
    harm=Harm.DATA,
)
COMMITTED4_IS_TRUE = must(
    "RFC 5661",
    "18.32.3",
    "the data is committed at a level at least as high as `committed` in the results of WRITE",
    harm=Harm.DATA,
)
COMMIT4_FLUSHES_DATA = stated(
    "RFC 5661", "18.3.3", "COMMIT flushes uncommitted data of the file to stable storage", harm=Harm.DATA
)
MOST_IN_A_WRITE: t.Final = 8192
"""Bytes in one WRITE: below the maxwrite of nearly all servers."""


def write_all(
    v4: Nfs4Dialect, file: bytes, offset: int, data: bytes, stable: StableHow4
) -> list[p.Write4ResOk]:
    """Write all of `data` by one OPEN, in as many WRITEs as the target needs, and CLOSE; the results of WRITE."""
    compounds = v4.compounds
    opened = open_file(compounds, file, BOTH)
    at, results = 0, list[p.Write4ResOk]()
    while at < len(data):
        piece = data[at : at + MOST_IN_A_WRITE]
        reply = compounds.compound(op.putfh(file), op.write(opened.stateid, offset + at, piece, stable))
        if reply.status == Nfsstat4.NFS4ERR_FBIG:
            unsupported(f"files cannot be this large: WRITE at offset {offset + at} answers FBIG", reply)
        result = expect(reply).of(p.WRITE).ok()
        if result.count == 0:
            skip("WRITE makes no progress: it answers success with count 0")
        at += result.count
        results.append(result)
    expect(compounds.compound(op.putfh(file), op.close(opened.stateid))).ok()
    return results


def verifier(v4: Nfs4Dialect, file: bytes) -> bytes:
    """The verifier that WRITE with UNSTABLE4 returns now."""
    return bytes(write_all(v4, file, 0, b"data", StableHow4.UNSTABLE4)[0].writeverf)


def commit(
    v4: Nfs4Dialect, file: bytes, results: list[p.Write4ResOk], offset: int = 0, count: int = 0
) -> None:
    """COMMIT, after the WRITEs with these results. SKIP if its verifier is another one: then data may be lost."""
    __tracebackhide__ = True
    reply = v4.compounds.compound(op.putfh(file), op.commit(offset, count))
    verf = expect(reply).of(p.COMMIT).ok().writeverf
    if any(result.writeverf != verf for result in results if result.committed == StableHow4.UNSTABLE4):
        skip("COMMIT returned another verifier than the WRITEs: the server says that it may have lost data")


def leave_nothing(v4: Nfs4Dialect) -> None:
    """End the clients of the check: what they might reclaim would let the server begin with a grace period."""
    v4.end_sessions()


# ---------------------------------------------------------------- after the crash


def again(v4: Nfs4Dialect) -> Nfs4Scratch:
    """The scratch directory of the check, by a new connection. SKIP if it is lost."""
    scratch = v4.scratch
    v4.move_scratch(scratch)
    reply = v4.compounds.compound(op.putfh(v4.root), op.lookup(scratch.name), op.getfh())
    if reply.status != Nfsstat4.NFS4_OK:
        skip(f"the directory of the check did not survive: LOOKUP answers {reply.status}")
    scratch.handle = reply.handle
    return scratch


def file_again(v4: Nfs4Dialect, name: bytes = b"f") -> bytes:
    """A file in the scratch directory. SKIP if its name is lost."""
    found = again(v4).lookup(name)
    if found is None:
        skip(f"the file {show(name)} did not survive")
    return found


def found(v4: Nfs4Dialect, name: bytes, because: Requirement, directory: bytes | None = None) -> bytes:
    """Expect LOOKUP to find a name; its handle."""
    __tracebackhide__ = True
    handle = v4.scratch.lookup(name, directory=directory)
    what = f"LOOKUP of {show(name)} after the crash"
    expect_that(handle is not None, "a handle", "no such name", what, because=because, operation="LOOKUP")
    assert handle is not None
    return handle


def range_of(v4: Nfs4Dialect, file: bytes, offset: int, count: int) -> bytes:
    """Data of a file after the crash; READ waits for the end of a grace period."""
    parts = bytearray()
    while len(parts) < count:
        reading = op.read(op.ANONYMOUS, offset + len(parts), count - len(parts))
        reply = v4.scratch.run(op.putfh(file), reading)
        if reply.status != Nfsstat4.NFS4_OK:
            skip(f"cannot read the file back: READ answers {reply.status}", reply)
        result = reply.of(p.READ).resok4
        assert result is not None
        parts += result.data
        if result.eof or not result.data:
            break
    return bytes(parts[:count])


class Unstable4:
    """Data that WRITE has acknowledged with UNSTABLE4, and that the server may lose."""

    def __init__(self) -> None:
        self._pieces: list[tuple[bytes, int, bytes, bytes]] = []

    def write(self, v4: Nfs4Dialect, name: bytes, file: bytes, offset: int, data: bytes) -> None:
        """Write data. What the server has committed at once does not count."""
        for result in write_all(v4, file, offset, data, StableHow4.UNSTABLE4):
            piece, data = data[: result.count], data[result.count :]
            if result.committed == StableHow4.UNSTABLE4:
                self._pieces.append((name, offset, piece, bytes(result.writeverf)))
            offset += result.count
        if not self._pieces:
            unsupported("the server commits all data at once: no WRITE returned committed UNSTABLE4")

    def lost(self, v4: Nfs4Dialect) -> set[bytes]:
        """The verifiers of acknowledged data that is lost."""
        lost = set()
        for name, offset, data, verf in self._pieces:
            if range_of(v4, file_again(v4, name), offset, len(data)) != data:
                lost.add(verf)
        return lost

# SPDX-License-Identifier: MIT
"""Files that are open by SNFS and accessed by other versions of NFS (section 6.1)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs2 import Nfs2Dialect
from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.dialects.snfs import SnfsScratch
from nfsclient.clients import Nfs2, Nfs3
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs2 as p2
from nfsclient.protocol import nfs3 as p3
from nfsclient.protocol.nfs3 import Nfsstat3, Sattr3
from nfsclient.protocol.snfs import CbMode
from nfsjudge import expect, expect_that, proves, skip
from suites.nfs4.opens import WRITE, open_file
from suites.snfs.clauses import NFS_COUNTS, NFS_WRITES_COUNT
from suites.snfs.players import Table, arrange

_DATA = b"new data"
_TRIES = 5


def _handle(v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> bytes:
    """The file of the table, as NFSv3 finds it."""
    directory = expect(nfs3.lookup(v3.root, scratch.name)).ok()
    return bytes(expect(nfs3.lookup(directory.object, b"file")).ok().object)


def _expect_called(table: Table, *modes: str) -> None:
    seen = [mode.name for mode in table.a.called]
    expect_that(
        seen == list(modes), " ".join(modes) or "none", " ".join(seen) or "none", operation="CALLBACK"
    )


@proves(NFS_COUNTS, killed_by="nfs3-ignores-spritely-clients")
def test_read_of_writer(table: Table, v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> None:
    """A READ by NFSv3 of a file that a client writes has it write back and stop caching."""
    file = _handle(v3, scratch, nfs3)
    arrange(table, "ONE_WRITER")
    expect(nfs3.read(file, 0, 100)).ok()
    _expect_called(table, "SNFS_WRINVAL")


@proves(NFS_COUNTS, killed_by="nfs3-ignores-spritely-clients")
def test_read_of_dirty(table: Table, v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> None:
    """A READ by NFSv3 of a closed file with dirty blocks has the last writer write them back."""
    file = _handle(v3, scratch, nfs3)
    arrange(table, "CLOSED_DIRTY")
    expect(nfs3.read(file, 0, 100)).ok()
    _expect_called(table, "SNFS_CBWRITE")


@proves(NFS_COUNTS, killed_by="nfs3-ignores-spritely-clients")
def test_write_to_reader(table: Table, v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> None:
    """A WRITE by NFSv3 to a file that a client reads makes it drop what it has cached."""
    file = _handle(v3, scratch, nfs3)
    arrange(table, "ONE_READER")
    expect(nfs3.write(file, 0, b"data")).ok()
    _expect_called(table, "SNFS_CBINVAL")


@proves(NFS_COUNTS, killed_by="nfs3-reads-as-if-it-wrote")
def test_read_of_reader(table: Table, v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> None:
    """A READ by NFSv3 of a file that a client reads calls nobody."""
    file = _handle(v3, scratch, nfs3)
    arrange(table, "ONE_READER")
    expect(nfs3.read(file, 0, 100)).ok()
    _expect_called(table)


@proves(NFS_COUNTS, killed_by="nfs3-writes-to-what-is-written")
def test_write_to_writer(table: Table, v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> None:
    """A WRITE by NFSv3 to a file that a client writes has it write back and stop caching."""
    file = _handle(v3, scratch, nfs3)
    arrange(table, "ONE_WRITER")
    expect(nfs3.write(file, 0, b"data")).ok()
    _expect_called(table, "SNFS_WRINVAL")


@proves(NFS_COUNTS, killed_by="nfs3-setattr-ignores-spritely-clients")
def test_truncation_of_reader(table: Table, v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> None:
    """A SETATTR of the size by NFSv3 of a file that a client reads makes it drop what it has cached."""
    file = _handle(v3, scratch, nfs3)
    arrange(table, "ONE_READER")
    expect(nfs3.setattr(file, Sattr3(size=5))).ok()
    _expect_called(table, "SNFS_CBINVAL")


@proves(NFS_COUNTS, killed_by="nfs3-reads-before-the-write-back")
def test_waits(table: Table, v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> None:
    """A READ by NFSv3 of a file that a client writes returns what that writes back."""
    file = _handle(v3, scratch, nfs3)
    arrange(table, "ONE_WRITER")
    table.a.callbacks.holds = True
    rpc, calls = v3.connections.connect("nfs"), table.a.callbacks.received
    for _ in range(_TRIES):  # JUKEBOX has many reasons
        first = rpc.submit(p3.READ, p3.Read3Args(file, 0, 100))
        rpc.loop.run_until(lambda: first.done or bool(calls), rpc.loop.clock() + table.a.patience)  # noqa: B023
        if calls or first.result is None or first.result.status != Nfsstat3.NFS3ERR_JUKEBOX:
            break
    if table.a.snfs.write(table.file, 0, _DATA).resok is None:
        skip("the writer was given up: how long the server waits is its choice")
    table.a.callbacks.holds = False
    table.a.callbacks.release()
    found = rpc.wait(first)
    if found.status == Nfsstat3.NFS3ERR_JUKEBOX:
        found = nfs3.read(file, 0, 100)
    expect(bytes(expect(found).ok().data), "data", of=found, field="resok.data").equals(_DATA)


@proves(NFS_COUNTS, killed_by="nfs2-ignores-spritely-clients")
def test_v2_read_of_writer(table: Table, v2: Nfs2Dialect, scratch: SnfsScratch, nfs2: Nfs2) -> None:
    """A READ by NFSv2 of a file that a client writes has it write back and stop caching."""
    directory = expect(nfs2.lookup(v2.root, scratch.name)).ok()
    file = bytes(expect(nfs2.lookup(directory.file, b"file")).ok().file)
    arrange(table, "ONE_WRITER")
    rpc = v2.connections.connect("nfs")
    reading = rpc.submit(p2.READ, p2.Readargs(file, 0, 100, 0))
    loop, calls = rpc.loop, table.a.callbacks.received
    loop.run_until(  # it may get no reply: no JUKEBOX
        lambda: reading.done or any(each.cbmode != CbMode.SNFS_CBWRITE for each in calls),
        loop.clock() + table.a.patience,
    )
    _expect_called(table, "SNFS_WRINVAL")


def _v4_handle(compounds: Compounds, v4: Nfs4Dialect, scratch: SnfsScratch) -> bytes:
    """The file of the table, as NFSv4 finds it."""
    path = op.putfh(v4.root), op.lookup(scratch.name), op.lookup(b"file"), op.getfh()
    return bytes(expect(compounds.compound(*path)).ok().handle)


@proves(NFS_COUNTS, killed_by="nfs4-ignores-spritely-clients")
def test_v4_read_of_writer(table: Table, compounds: Compounds, v4: Nfs4Dialect, scratch: SnfsScratch) -> None:
    """A READ by NFSv4 of a file that a client writes has it write back and stop caching."""
    file = _v4_handle(compounds, v4, scratch)
    arrange(table, "ONE_WRITER")
    opened = open_file(compounds, file)
    expect(compounds.compound(op.putfh(file), op.read(opened.stateid, 0, 100))).ok()
    _expect_called(table, "SNFS_WRINVAL")


@proves(NFS_COUNTS, killed_by="nfs4-ignores-spritely-clients")
def test_v4_write_to_reader(
    table: Table, compounds: Compounds, v4: Nfs4Dialect, scratch: SnfsScratch
) -> None:
    """A WRITE by NFSv4 to a file that a client reads makes it drop what it has cached."""
    file = _v4_handle(compounds, v4, scratch)
    arrange(table, "ONE_READER")
    opened = open_file(compounds, file, WRITE)
    expect(compounds.compound(op.putfh(file), op.write(opened.stateid, 0, b"data"))).ok()
    _expect_called(table, "SNFS_CBINVAL")


@proves(NFS_COUNTS, killed_by="nfs3-ignores-spritely-clients")
def test_open_after_read(table: Table, v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> None:
    """A file that NFSv3 reads while it is open is not cached by who opens it for writing."""
    file = _handle(v3, scratch, nfs3)
    arrange(table, "ONE_READER")
    expect(nfs3.read(file, 0, 100)).ok()
    opened = table.a.open(table.file, write=True)
    expect(opened).field("cache_enabled").equals(False)


@proves(NFS_WRITES_COUNT, killed_by="nfs3-writes-keep-the-version")
def test_version(table: Table, v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> None:
    """After a WRITE by NFSv3 to a closed file, who had cached it gets its version as neither of the two."""
    file = _handle(v3, scratch, nfs3)
    known = table.a.open(table.file).cache_version
    table.a.close(table.file)
    expect(nfs3.write(file, 0, b"data")).ok()
    opened = table.a.open(table.file)
    both = opened.cache_version, opened.old_cache_vers
    expect_that(known not in both, f"versions other than {known}", f"versions {both}", reply=opened)

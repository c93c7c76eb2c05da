# SPDX-License-Identifier: MIT
"""WRITE (RFC 5661 section 18.32) more than once: times of the second UNSTABLE4 WRITE, and a megabyte."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4
from nfsjudge import Harm, Part, expect, expect_data, proves, should, skip, stated
from suites.model.player4 import Player4
from suites.nfs3.contents import pattern
from suites.nfs4.opens import BOTH, Opened, another_session, open_file

WRITING_MOVES_TIMES = should(  # "it is assumed"
    "RFC 5661",
    "18.32.4",
    "writing other data to a file updates its time_modify and its change",
    part=Part.IMPLEMENTATION,
)
CHANGE_TELLS = stated(
    "RFC 5661",
    "5.8.1.4",
    "by the value of change a client can tell whether data or attributes of the object have been modified",
    also={"4.0": ("RFC 7530", "5.8.1.4")},
)
WRITES_ALL_DATA = stated(
    "RFC 5661",
    "18.32.3",
    "WRITE writes count bytes of the data at the offset, however many they are",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.36.4")},
)
MEGABYTE = 1 << 20
LONG_AGO = 946_684_800
"""The year 2000: no server's clock shows it by chance."""
MOST_CALLS = 300
OFFSETS = (0, 3)


def _write(compounds: Compounds, opened: Opened, offset: int, data: bytes) -> None:
    """Write with UNSTABLE4; a short WRITE will do."""
    writing = op.write(opened.stateid, offset, data, p.StableHow4.UNSTABLE4)
    expect(compounds.compound(op.putfh(opened.handle), writing)).of(p.WRITE).ok()


@proves(WRITING_MOVES_TIMES, CHANGE_TELLS, killed_by="write4-second-unstable-keeps-time-modify")
def test_second_unstable_time(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A second WRITE with UNSTABLE4 updates change, and time_modify once the file is committed and closed."""
    file = scratch.file("file", b"0123456789")
    opened = open_file(compounds, file, BOTH)
    _write(compounds, opened, 0, b"first")
    old = Fattr4(time_modify_set=p.client_time(LONG_AGO))
    compounds.compound(op.putfh(file), op.setattr(old, opened.stateid))
    before = scratch.attributes(file, "time_modify", "change")
    if before.time_modify is None or before.time_modify.seconds != LONG_AGO:
        skip("SETATTR does not set time_modify to the year 2000, so a later change would not show")
    _write(compounds, opened, 0, b"SECOND")
    if scratch.read(file).startswith(b"SECOND"):
        change = scratch.attributes(file, "change").change
        expect(change, "change", field="change", because=CHANGE_TELLS).differs_from(before.change)
    # Servers that write back, or keep a time that was set for as long as the file is open, have it by then.
    expect(compounds.compound(op.putfh(file), op.commit())).ok()
    expect(compounds.compound(op.putfh(file), op.close(opened.stateid))).ok()
    expect(scratch.attributes(file, "time_modify")).field("time_modify").differs_from(before.time_modify)


@proves(
    WRITES_ALL_DATA,
    killed_by=("write4-large-unaligned-loses-a-byte", "read4-ends-large-data-with-a-zero"),
)
def test_megabyte(v4: Nfs4Dialect, session: Session, scratch: Nfs4Scratch) -> None:
    """Another client reads a megabyte as it was written, in pieces as large as the server takes."""
    writer = Player4(session, v4.root)
    other = another_session(v4)
    reader = Player4(other, v4.root)
    for offset in OFFSETS:
        file, data = scratch.file(f"file-{offset}"), pattern(MEGABYTE + 1, salt=offset)
        opened = open_file(session, file, BOTH)
        at, calls = 0, 0
        while at < len(data):
            piece = data[at : at + writer.per_write]
            writing = op.write(opened.stateid, offset + at, piece, p.StableHow4.UNSTABLE4)
            result = expect(session.compound(op.putfh(file), writing)).of(p.WRITE).ok()
            at, calls = at + min(result.count, len(piece)), calls + 1
            if not result.count or calls > MOST_CALLS:
                skip(f"after {calls} WRITEs {at} bytes of a megabyte are written")
        expect(session.compound(op.putfh(file), op.close(opened.stateid))).ok()
        seen = _read(other, file, offset, len(data), reader.per_read)
        expect_data(seen, data[: len(seen)], of="range")


def _read(compounds: Compounds, file: bytes, offset: int, count: int, most: int) -> bytes:
    """Read in as many READs as the server needs."""
    opened, found = open_file(compounds, file), bytearray()
    for _ in range(MOST_CALLS):
        reading = op.read(opened.stateid, offset + len(found), min(most, count - len(found)))
        result = expect(compounds.compound(op.putfh(file), reading)).of(p.READ).ok()
        found += result.data
        if len(found) >= count or not result.data:
            break
        if result.eof:
            expect(len(found), "bytes up to eof").equals(count)
    if len(found) < count:
        skip(f"READ returns {len(found)} bytes of a megabyte in {MOST_CALLS} calls")
    return bytes(found)

# SPDX-License-Identifier: MIT
"""Limits that a server announces, of sessions (RFC 5661 section 18.36) and of files (section 5.8.2): it keeps them."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds, Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import (
    Harm,
    Requirement,
    expect,
    expect_data,
    must,
    observe,
    proves,
    should,
    skip,
    stated,
    unsupported,
)
from suites.nfs4.gaps import need_far
from suites.nfs4.opens import BOTH, open_file
from suites.nfs4.test_kept_data import READ_MAKES_PROGRESS

ACCEPTS_OPERATIONS = stated(
    "RFC 5661", "18.36.3", "ca_maxoperations is how many operations the server accepts in a COMPOUND"
)
ACCEPTS_REQUESTS = stated(
    "RFC 5661",
    "18.36.3",
    "ca_maxrequestsize is the size of a request that the server accepts, RPC headers included",
)
LARGER_IS_REFUSED = stated(
    "RFC 5661", "2.10.6.4", "a request that exceeds ca_maxrequestsize gets NFS4ERR_REQ_TOO_BIG"
)
REPLIES_FIT = stated(
    "RFC 5661",
    "2.10.6.4",
    "a reply does not exceed ca_maxresponsesize: NFS4ERR_REP_TOO_BIG, or a READ that returns less",
)
CACHED_REPLIES_FIT = must(
    "RFC 5661",
    "2.10.6.4",
    "a reply to be cached that exceeds ca_maxresponsesize_cached is NFS4ERR_REP_TOO_BIG_TO_CACHE",
)
SLOTS_ARE_THERE = stated(
    "RFC 5661", "18.36.3", "requests of a new session have the slots from 0 to ca_maxrequests - 1"
)
FILES_AS_LARGE_AS_SAID = should(
    # As maxname below: the same sentence of section 5.2, and maxfilesize of NFSv3 (RFC 1813 section 3.3.19).
    "RFC 5661",
    "5.8.2.17",
    "maxfilesize is the maximum supported size of a file",
    also={"4.0": ("RFC 7530", "5.8.2.13")},
)
TWO_GIB_FIT_BELOW_MAXFILESIZE = stated(
    "RFC 5661",
    "5.8.2.17",
    # As TWO_GIB_FIT_BELOW_MAXFILESIZE of NFSv3: a server with 31 bits of an offset fails, though the sentence is short.
    "a file of 2 GiB and a few bytes, far below maxfilesize, the maximum supported size, is supported",
    also={"4.0": ("RFC 7530", "5.8.2.13")},
)
WRITES_WHERE_IT_SAYS = stated(
    "RFC 5661",
    "18.32.3",
    "WRITE that succeeds has written its data at its offset, however far that is",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.36.4")},
)
MAXIMA_ARE_TRUE = stated(
    "RFC 5661",
    "5.8.2",
    "READ returns maxread bytes at most, WRITE accepts maxwrite bytes at most, and no file exceeds maxfilesize",
)
NAMES_AS_LONG_AS_SAID = should(
    # A maximum is a bound: that each name up to it is accepted follows only if a server tells no "lies" in RECOMMENDED
    # attributes, which is a "should" (section 5.2). name_max of NFSv3 (RFC 1813 section 3.3.20) is the same fact.
    "RFC 5661",
    "5.8.2.19",
    "maxname is the maximum size of a file name that is supported",
)
_SMALL: t.Final = 4096
"""Bytes of requests and of replies in the sessions of these checks, as far as the server grants so little."""
_HEADERS: t.Final = 1024
"""Bytes that suffice for everything in a request but the data of a WRITE."""
_RPC_HEADER: t.Final = 24
"""Bytes of the header of an accepted reply with an empty verifier."""
_MOST: t.Final = 1 << 20
"""Bytes: sessions that allow more are not tried."""
_MOST_OPERATIONS: t.Final = 200
_LONGEST: t.Final = 4096
_FAR: t.Final = {"2g": 2**31, "4g": 2**32, "1t": 2**40}


def _session(nfs4: Nfs4, **attributes: t.Any) -> tuple[Session, p.ChannelAttrs4]:
    """A session with a fore channel of these attributes, and what the server granted."""
    session = nfs4.new_client().create_session(fore=op.channel(requests=4, **attributes))
    granted = session.state.fore
    observe("granted", " ".join(str(getattr(granted, f"ca_max{name}")) for name in _GRANTED))
    return session, granted


_GRANTED: t.Final = ("requestsize", "responsesize", "responsesize_cached", "operations", "requests")


# ---------------------------------------------------------------- sessions


@proves(ACCEPTS_OPERATIONS, killed_by="createsession4-accepts-an-operation-less")
def test_operations(nfs4: Nfs4) -> None:
    """A COMPOUND of ca_maxoperations operations is executed."""
    session, granted = _session(nfs4, operations=8)
    most = granted.ca_maxoperations
    if not 2 <= most <= _MOST_OPERATIONS:
        skip(f"the session allows {most} operations")
    reply = session.compound(*[op.putrootfh()] * (most - 1))  # SEQUENCE is the first
    expect(reply).ok()


@proves(ACCEPTS_REQUESTS, killed_by="createsession4-accepts-half-of-the-request")
def test_request_size(nfs4: Nfs4, scratch: Nfs4Scratch) -> None:
    """A request that is hardly smaller than ca_maxrequestsize is executed."""
    file = scratch.file("file")
    session, granted = _session(nfs4, requestsize=2 * _SMALL)
    most = granted.ca_maxrequestsize
    if not _HEADERS < most <= _MOST:
        skip(f"the session allows requests of {most} bytes")
    data = b"d" * (most - _HEADERS)
    reply = session.compound(op.putfh(file), op.write(op.ANONYMOUS, 0, data))
    expect(reply).field("status").differs_from(Nfsstat4.NFS4ERR_REQ_TOO_BIG)
    expect(reply).ok()


@proves(LARGER_IS_REFUSED, killed_by="createsession4-executes-larger-requests")
def test_request_too_big(nfs4: Nfs4, scratch: Nfs4Scratch) -> None:
    """A request that exceeds ca_maxrequestsize gets REQ_TOO_BIG, and writes nothing."""
    file = scratch.file("file", b"data")
    session, granted = _session(nfs4, requestsize=_SMALL)
    most = granted.ca_maxrequestsize
    if most > _MOST:
        skip(f"the session allows requests of {most} bytes")
    reply = session.compound(op.putfh(file), op.write(op.ANONYMOUS, 0, b"d" * most))
    expect(reply.res).status(Nfsstat4.NFS4ERR_REQ_TOO_BIG)
    expect_data(scratch.read(file), b"data")


@pytest.mark.parametrize("cached", [False, True], ids=["reply", "cached"])
@proves(
    REPLIES_FIT,
    CACHED_REPLIES_FIT,
    killed_by=("createsession4-sends-larger-replies", "read4-fills-the-reply-with-data"),
)
def test_response_size(nfs4: Nfs4, scratch: Nfs4Scratch, cached: bool) -> None:
    """READ of more than the session allows in a reply returns less, or fails with the status for this limit."""
    count = (_SMALL if cached else 2 * _SMALL) + _SMALL // 2
    file = scratch.file("file", bytes(count))
    size = 1 << 20 if cached else _SMALL
    session, granted = _session(nfs4, responsesize=size, responsesize_cached=_SMALL)
    most = granted.ca_maxresponsesize_cached if cached else granted.ca_maxresponsesize
    rule = CACHED_REPLIES_FIT if cached else REPLIES_FIT
    reply = session.compound(op.putfh(file), op.read(op.ANONYMOUS, 0, count), cache_this=cached)
    observe(f"READ of {count} bytes", reply.status)
    if reply.status == Nfsstat4.NFS4_OK:
        result = expect(reply, because=rule).of(p.READ).ok()
        # RPC headers included (section 18.36.3): of the reply at least those and the results before the data.
        # How much of a reply is cached is the server's to say.
        size = len(result.data) if cached else _RPC_HEADER + len(reply.res.to_xdr())
        expect(size, "bytes in the reply", because=rule).at_most(most)
    elif cached and reply.status == Nfsstat4.NFS4ERR_REP_TOO_BIG:
        expect(granted, because=rule).field(
            "ca_maxresponsesize", "ca_maxresponsesize, which the reply exceeds"
        ).at_most(count)
    else:
        wanted = Nfsstat4.NFS4ERR_REP_TOO_BIG_TO_CACHE if cached else Nfsstat4.NFS4ERR_REP_TOO_BIG
        expect(reply.res, because=rule).status(wanted)


@proves(SLOTS_ARE_THERE, killed_by="createsession4-has-half-of-the-slots")
def test_slots(nfs4: Nfs4) -> None:
    """The last slot of a new session can be used."""
    session, granted = _session(nfs4)
    last = granted.ca_maxrequests - 1
    reply = nfs4.compound(session.sequence(last, 1, highest_slot=last), op.putrootfh())
    expect(reply).of(p.SEQUENCE).ok()


# ---------------------------------------------------------------- files


def _announced(scratch: Nfs4Scratch, handle: bytes, name: str) -> int:
    """A limit that the server announces for an object."""
    value = getattr(scratch.attributes(handle, name), name)
    if value is None:
        unsupported(f"the server does not support the attribute {name}")
    observe(name, value)
    return int(value)


def _clause_within(place: str) -> Requirement:
    """What a server breaks that refuses a WRITE at this place, which is far below its maxfilesize."""
    return TWO_GIB_FIT_BELOW_MAXFILESIZE if _FAR[place] < 2**32 else FILES_AS_LARGE_AS_SAID


@pytest.mark.parametrize("place", _FAR)
@proves(
    FILES_AS_LARGE_AS_SAID,
    TWO_GIB_FIT_BELOW_MAXFILESIZE,
    WRITES_WHERE_IT_SAYS,
    killed_by=("write4-ends-at-2-gib", "write4-wraps-at-2-gib"),
)
def test_within_maxfilesize(compounds: Compounds, scratch: Nfs4Scratch, place: str) -> None:
    """WRITE of one byte far below maxfilesize is not refused as too large, and READ returns the byte."""
    file, offset = scratch.file("file", b"data"), _FAR[place]
    most = _announced(scratch, file, "maxfilesize")
    if most <= offset:
        unsupported(f"maxfilesize is {most}: this check makes a file of {offset + 1} bytes")
    if (
        compounds.compound(op.putfh(file), op.write(op.ANONYMOUS, 10_000, b"x")).status
        == Nfsstat4.NFS4ERR_INVAL
    ):
        unsupported("files cannot have gaps: WRITE beyond the end answers NFS4ERR_INVAL")
    with need_far(compounds, scratch, offset):
        reply = compounds.compound(op.putfh(file), op.write(op.ANONYMOUS, offset, b"y"))
    expect(reply, because=_clause_within(place)).granted()
    result = expect(compounds.compound(op.putfh(file), op.read(op.ANONYMOUS, offset - 1, 8))).of(p.READ).ok()
    if not result.data and not result.eof:
        count = len(result.data)
        expect(
            count, "bytes of a READ without eof", of=result, field="data", because=READ_MAKES_PROGRESS
        ).at_least(1)
    expect_data(result.data, b"\0y"[: max(1, len(result.data))], at=offset - 1, because=WRITES_WHERE_IT_SAYS)
    expect(scratch.attributes(file), because=WRITES_WHERE_IT_SAYS).field("size").equals(offset + 1)


@pytest.mark.parametrize("name", ["maxread", "maxwrite", "maxfilesize"])
@proves(MAXIMA_ARE_TRUE, killed_by="getattr4-announces-two-bytes")
def test_maxima(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """READ and WRITE of four bytes, and a file of four bytes, do not exceed the limits that are announced."""
    opened = open_file(compounds, scratch.file("file", b"data"), BOTH)
    most = _announced(scratch, opened.handle, name)
    if name == "maxread":
        reply = compounds.compound(op.putfh(opened.handle), op.read(opened.stateid, 0, 4))
        seen = len(expect(reply).of(p.READ).ok().data)
    elif name == "maxwrite":
        reply = compounds.compound(op.putfh(opened.handle), op.write(opened.stateid, 0, b"more"))
        seen = expect(reply).of(p.WRITE).ok().count
    else:
        seen = scratch.attributes(opened.handle).size or 0
    expect(most, name, field=name).at_least(seen)


@proves(NAMES_AS_LONG_AS_SAID, killed_by="create4-names-are-shorter-than-maxname")
def test_maxname(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A name of maxname bytes is accepted."""
    most = _announced(scratch, scratch.handle, "maxname")
    if most > _LONGEST:
        skip(f"maxname is {most}, which means that there is no limit")
    expect(most, "maxname", field="maxname").at_least(1)
    name = b"n" * most
    expect(compounds.compound(op.putfh(scratch.handle), op.mkdir(name), op.getfh())).ok()
    expect(scratch.lookup(name), "handle of the name").is_present()

# SPDX-License-Identifier: MIT
"""COMPOUND (RFC 5661 section 16.2): what is around the operations. Minor version, tag, and the number of operations."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, list_names
from nfsclient.clients.nfs4 import Compounds, Nfs4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import ConnectionLost, RpcRejected, RpcTimeout
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import Unread
from nfsjudge import Harm, expect, expect_names, must, observe, proves, should, skip, stated
from suites.nfs4.opens import another_client

MINOR_VERSION_IS_FIRST = must(
    "RFC 5661",
    "16.2.3",
    "NFS4ERR_MINOR_VERS_MISMATCH takes precedence over all other errors of a COMPOUND, and comes without results",
)
NOTHING_IS_NO_ERROR = stated(
    "RFC 5661",
    "16.2.3",
    "operations are executed until there are no more: of none, none fails, and the results are as many",
)
ECHOES_TAG = should("RFC 5661", "16.2.3", "the tag of the results should be the tag of the request")
BAD_TAG_IS_INVALID = stated(
    "RFC 5661", "16.2.4", "a COMPOUND without results gets NFS4ERR_INVAL if its tag is not in UTF-8 encoding"
)
ONLY_COUNTED_ARE_EXECUTED = stated(
    "RFC 5661",
    "16.2.3",
    "the operations of a COMPOUND are those of its array: bytes after the last of them are no operation",
    harm=Harm.OBJECT,
)
MISSING_IS_BADXDR = stated(
    "RFC 5661",
    "16.2.3",
    "a COMPOUND with fewer operations than it announces does not decode: GARBAGE_ARGS, or NFS4ERR_BADXDR",
)
_WHOLE_CALL = (RpcRejected, ConnectionLost, RpcTimeout)
"""What a server may do with a call that it cannot decode: refuse it, close the connection, or drop it."""
_SOON: t.Final = 2.0
"""Seconds in which a call is answered or dropped, on a server of the usual speed."""
_LATER_MINORS: t.Final = {"3": 3, "100": 100, "2_31": 1 << 31}
_WITH_OTHER_ERRORS: t.Final[dict[str, Callable[[Nfs4, int], object]]] = {
    "illegal": lambda nfs4, minor: nfs4.compound(op.illegal(), minor=minor),
    "session": lambda nfs4, minor: nfs4.compound(op.sequence(bytes(16), 1), op.putrootfh(), minor=minor),
    "tag": lambda nfs4, minor: nfs4.compound(op.putrootfh(), minor=minor, tag=b"\xff\xfe"),
    "none": lambda nfs4, minor: nfs4.compound(minor=minor),
}


@pytest.mark.parametrize("minor_sent", _LATER_MINORS)
@pytest.mark.parametrize("error", _WITH_OTHER_ERRORS)
@proves(MINOR_VERSION_IS_FIRST, killed_by="compound4-looks-at-the-minor-version-last")
def test_minor_first(nfs4: Nfs4, minor_sent: str, error: str) -> None:
    """A minor version that nobody has gets MINOR_VERS_MISMATCH, whatever else is wrong, and no results."""
    reply: t.Any = _WITH_OTHER_ERRORS[error](nfs4, _LATER_MINORS[minor_sent])
    expect(reply).field("resarray", "results").equals([])
    expect(reply).status(Nfsstat4.NFS4ERR_MINOR_VERS_MISMATCH)


@proves(NOTHING_IS_NO_ERROR, killed_by="compound4-of-nothing-is-inval")
def test_nothing(nfs4: Nfs4) -> None:
    """A COMPOUND without operations succeeds without results."""
    reply = nfs4.compound()
    expect(reply).field("resarray", "results").equals([])
    expect(reply).status(Nfsstat4.NFS4_OK)


_TAGS: t.Final = {"empty": b"", "words": "dünn, 薄い".encode(), "long": b"t" * 1000}


@pytest.mark.parametrize("which", _TAGS)
@proves(ECHOES_TAG, killed_by="compound4-cuts-tags")
def test_tags(own_compounds: Compounds, which: str) -> None:
    """The results have the tag of the request, if that is empty, long, or of any characters."""
    try:
        reply = own_compounds.compound(op.putrootfh(), tag=_TAGS[which])
    except RpcRejected as refusal:
        if which != "long":  # no text says how long a tag may be
            raise
        skip(f"the server refuses a call with this tag: {refusal}")
    refusals = {Nfsstat4.NFS4ERR_BADCHAR, Nfsstat4.NFS4ERR_REQ_TOO_BIG, Nfsstat4.NFS4ERR_REP_TOO_BIG}
    if which == "long":  # no text says how long a tag may be
        refusals.add(Nfsstat4.NFS4ERR_INVAL)
    if reply.status in refusals:
        skip(f"the server does not take this tag: {reply.status}", reply)
    expect(reply).ok()
    expect(bytes(reply.res.tag), "tag", field="tag").equals(_TAGS[which])


@proves(
    BAD_TAG_IS_INVALID, ECHOES_TAG, killed_by=("compound4-bad-tag-is-serverfault", "compound4-repairs-tags")
)
def test_bad_tag(nfs4: Nfs4) -> None:
    """A tag that is no UTF-8 gets INVAL without results, or is that of the results."""
    tag = b"nfs\xffproof"
    reply = nfs4.compound(tag=tag)
    observe("tag that is no UTF-8", reply.status)
    if reply.status != Nfsstat4.NFS4_OK:
        expect(reply).field("resarray", "results").equals([])
        expect(reply).status(Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_BADCHAR)
    expect(bytes(reply.res.tag), "tag", field="tag", because=ECHOES_TAG).equals(tag)


# ---------------------------------------------------------------- the number of operations


def _names(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> list[bytes]:
    return list_names(another_client(v4), scratch.handle)  # the slot of that call may be lost


@proves(ONLY_COUNTED_ARE_EXECUTED, killed_by="compound4-executes-what-follows")
def test_beyond_count(
    v4: Nfs4Dialect, own_compounds: Compounds, scratch: Nfs4Scratch, slowness: Callable[[], float]
) -> None:
    """An operation after the last one that the COMPOUND counts is not executed."""
    scratch.file("file")
    beyond = b"".join((p.REMOVE.number.to_bytes(4, "big"), op.remove(b"file").to_xdr()))
    counted = Unread(p.GETATTR.number, op.getattr("type").to_xdr() + beyond)
    own_compounds.nfs4.timeout = _SOON * slowness()
    try:
        reply = own_compounds.compound(op.putfh(scratch.handle), counted)
    except _WHOLE_CALL as refusal:  # the arguments do not end where the message does
        observe("bytes after the operations", type(refusal).__name__)
    else:
        observe("bytes after the operations", reply.status)
        expect(len(reply), "results", field="resarray").at_most(3)
    expect_names(_names(v4, scratch), [b"file"])


@pytest.mark.parametrize("more", [1, 30])
@proves(MISSING_IS_BADXDR, killed_by="compound4-ends-where-the-message-does")
def test_count_too_large(
    v4: Nfs4Dialect, own_compounds: Compounds, scratch: Nfs4Scratch, slowness: Callable[[], float], more: int
) -> None:
    """A COMPOUND that announces more operations than it has is refused, by itself or with the whole call."""
    asking = Unread(p.GETATTR.number, op.getattr("type").to_xdr(), more)
    own_compounds.nfs4.timeout = _SOON * slowness()
    try:
        reply = own_compounds.compound(op.putfh(scratch.handle), asking)
    except _WHOLE_CALL as refusal:
        observe("operations that are missing", type(refusal).__name__)
    else:
        observe("operations that are missing", reply.status)
        # That of a limit of the session may come before.
        limits = (Nfsstat4.NFS4ERR_TOO_MANY_OPS, Nfsstat4.NFS4ERR_REQ_TOO_BIG)
        expect(reply).status(Nfsstat4.NFS4ERR_BADXDR, *limits)
    expect_names(_names(v4, scratch), [])

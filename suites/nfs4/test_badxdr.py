# SPDX-License-Identifier: MIT
"""Arguments that do not match their XDR definition, by operation (RFC 5661 section 15.1.1.1)."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, list_names
from nfsclient.clients.nfs4 import Compounds
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import Unread, XdrType
from nfsjudge import expect, expect_data, expect_names, proves, stated
from suites.nfs4.calls import CALLS, DATA, Call, named
from suites.nfs4.opens import another_client
from suites.nfs4.undecodable import Slowness, cut, reply_or_none, with_long_count, with_strange_boolean

ENDS_TOO_EARLY = stated(
    "RFC 5661",
    "15.1.1.1",
    "NFS4ERR_BADXDR: the arguments do not match their XDR definition, as when the request ends before all are seen",
)
BOOLEANS_ARE_TWO = stated(
    "RFC 5661",
    "15.1.1.1",
    "NFS4ERR_BADXDR applies when a boolean in the arguments has a value that is not valid",
)


def _has_arguments(call: Call) -> bool:
    return bool(call.plain.to_xdr())


def _has_count(call: Call) -> bool:
    return with_long_count(call.plain) is not None


def _has_boolean(call: Call) -> bool:
    return with_strange_boolean(call.plain) is not None


@pytest.mark.parametrize("name", named(_has_arguments))
@proves(ENDS_TOO_EARLY, killed_by="compound4-badxdr-is-inval")
def test_cut(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, slowness: Slowness, name: str
) -> None:
    """An operation without the end of its arguments gets BADXDR, or the call is refused, and does nothing."""
    before, operation = CALLS[name].arranged(compounds, scratch)
    _expect_badxdr(v4, compounds, scratch, slowness, [*before, cut(operation)])


@pytest.mark.parametrize("name", named(_has_count))
@proves(ENDS_TOO_EARLY, killed_by="compound4-badxdr-is-inval")
def test_count(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, slowness: Slowness, name: str
) -> None:
    """An operation with a count of more than there is gets BADXDR, or the call is refused, and does nothing."""
    before, operation = CALLS[name].arranged(compounds, scratch)
    bent = with_long_count(operation)
    assert bent is not None
    _expect_badxdr(v4, compounds, scratch, slowness, [*before, bent])


@pytest.mark.parametrize("name", named(_has_boolean))
@proves(BOOLEANS_ARE_TWO, killed_by="compound4-badxdr-is-inval")
def test_boolean(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, slowness: Slowness, name: str
) -> None:
    """An operation with a boolean that is neither TRUE nor FALSE gets BADXDR, or the call is refused."""
    before, operation = CALLS[name].arranged(compounds, scratch)
    bent = with_strange_boolean(operation)
    assert bent is not None
    _expect_badxdr(v4, compounds, scratch, slowness, [*before, bent], BOOLEANS_ARE_TWO)


def _expect_badxdr(
    v4: Nfs4Dialect,
    compounds: Compounds,
    scratch: Nfs4Scratch,
    slowness: Slowness,
    operations: list[XdrType],
    because: t.Any = ENDS_TOO_EARLY,
) -> None:
    """The last of the operations is refused, by itself or with the whole call, and nothing was created or removed."""
    known, last = scratch.names(), operations[-1]
    assert isinstance(last, Unread)
    has_session = last.number not in _ALONE
    nfs4 = compounds.nfs4 if has_session else v4.client(v4.connections.connect("nfs"))
    ask = compounds.compound if has_session else nfs4.compound
    reply = reply_or_none(nfs4, slowness, lambda: ask(*operations), "arguments that do not decode")
    if reply is None:
        looking = another_client(v4)  # that call has its slot for ever
        expect_names(list_names(looking, scratch.handle), known)
        return
    expect_names(scratch.names(), known)
    file = scratch.lookup(b"file") if b"file" in known else None
    if file is not None:
        expect_data(scratch.read(file), DATA)
    if reply.status == Nfsstat4.NFS4ERR_BADXDR:
        return  # from whichever operation: all may be decoded before the first one is executed
    expect(reply).refused(Nfsstat4.NFS4ERR_BADXDR, because=because)


_ALONE: t.Final = frozenset(
    operation.number for operation in p.OPERATIONS if operation.is_sessionless or operation is p.SEQUENCE
)
"""Operations with which a compound begins."""

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
from nfsjudge import expect, expect_data, expect_names, proves, skip, stated
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
@proves(ENDS_TOO_EARLY, killed_by="compound4-badxdr-is-serverfault")
def test_cut(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, slowness: Slowness, name: str
) -> None:
    """An operation without the end of its arguments gets BADXDR, or the call is refused, and does nothing."""
    before, operation = CALLS[name].arranged(compounds, scratch)
    _expect_badxdr(v4, compounds, scratch, slowness, name, [*before, cut(operation)], operation)


@pytest.mark.parametrize("name", named(_has_count))
@proves(ENDS_TOO_EARLY, killed_by="compound4-badxdr-is-serverfault")
def test_count(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, slowness: Slowness, name: str
) -> None:
    """An operation with a count of more than there is gets BADXDR, or the call is refused, and does nothing."""
    before, operation = CALLS[name].arranged(compounds, scratch)
    bent = with_long_count(operation)
    assert bent is not None
    _expect_badxdr(v4, compounds, scratch, slowness, name, [*before, bent], operation)


@pytest.mark.parametrize("name", named(_has_boolean))
@proves(BOOLEANS_ARE_TWO, killed_by="compound4-badxdr-is-serverfault")
def test_boolean(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, slowness: Slowness, name: str
) -> None:
    """An operation with a boolean that is neither TRUE nor FALSE gets BADXDR, or the call is refused."""
    before, operation = CALLS[name].arranged(compounds, scratch)
    bent = with_strange_boolean(operation)
    assert bent is not None
    _expect_badxdr(v4, compounds, scratch, slowness, name, [*before, bent], operation, BOOLEANS_ARE_TWO)


def _expect_badxdr(
    v4: Nfs4Dialect,
    compounds: Compounds,
    scratch: Nfs4Scratch,
    slowness: Slowness,
    name: str,
    operations: list[XdrType],
    intact: XdrType,
    because: t.Any = ENDS_TOO_EARLY,
) -> None:
    """The last of the operations is refused, by itself or with the whole call, and nothing was created or removed.

    SKIP if the operation that it was, `intact`, is refused in the same way: which error comes first is open (16.2.3).
    """
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
    may_be_asked = not CALLS[name].succeeds and last.number not in _LASTING
    if reply.status and may_be_asked and ask(*operations[:-1], intact).status == reply.status:
        skip(f"the server refuses the operation for another reason: {reply.status}", reply)
    expect(reply).refused(Nfsstat4.NFS4ERR_BADXDR, because=because)


_ALONE: t.Final = frozenset(
    operation.number for operation in p.OPERATIONS if operation.is_sessionless or operation is p.SEQUENCE
)
"""Operations with which a compound begins."""
_LASTING: t.Final = frozenset(
    operation.number for operation in (p.EXCHANGE_ID, p.CREATE_SESSION, p.DESTROY_SESSION, p.DESTROY_CLIENTID)
)
"""Operations that leave or end something for the checks after this one, if they succeed."""

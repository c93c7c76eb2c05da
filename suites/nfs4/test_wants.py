# SPDX-License-Identifier: MIT
"""What OPEN says of delegations, and when it must not grant one (RFC 5661 sections 10.4 and 18.16.3).

No server owes a delegation, so most of these checks pass on one that grants none.
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner, through_grace
from fixtures.checks.side_by_side import Waiting, side_by_side
from nfsclient.clients.nfs4 import CompoundReply, Compounds, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.protocol.nfs4 import OpenDelegationType4 as Type
from nfsclient.protocol.nfs4 import WhyNoDelegation4 as Why
from nfsjudge import Harm, expect, must, observe, proves, should, skip, stated, unsupported
from suites.nfs4.delegations import ACCESS, delegated
from suites.nfs4.opens import BOTH, READ, another_client, open_file

UNWANTED_IS_NOT_GRANTED = should(  # the support of these flags is optional
    "RFC 5661",
    "18.16.3",
    "OPEN4_SHARE_ACCESS_WANT_NO_DELEG and WANT_CANCEL mean that the client wants no delegation",
)
REASON_IS_GIVEN = must(
    "RFC 5661",
    "18.16.3",
    "a server that supports the want flags answers one that it grants nothing for with OPEN_DELEGATE_NONE_EXT",
)
REASON_FITS = stated(
    "RFC 5661",
    "18.16.3",
    "ond_why says why no delegation was granted: NOT_WANTED and CANCELLED are for those flags of the request",
)
NONE_AGAINST_OTHERS = stated(
    "RFC 5661",
    "10.4",
    "with a read delegation nobody else changes the file unnoticed, with a write delegation nobody else uses it",
    harm=Harm.DATA,
)
NEEDS_A_BACKCHANNEL = should(  # "a server avoids"
    "RFC 5661",
    "10.2",
    "a server delegates nothing until it has determined that the client has a backchannel",
)
_NONE: t.Final = (Type.OPEN_DELEGATE_NONE, Type.OPEN_DELEGATE_NONE_EXT)
_WANTED: t.Final = {
    "read": p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG,
    "write": p.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG,
    "any": p.OPEN4_SHARE_ACCESS_WANT_ANY_DELEG,
}
_UNWANTED: t.Final = {
    "no_deleg": (p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG, (Why.WND4_NOT_WANTED,)),
    "cancel": (p.OPEN4_SHARE_ACCESS_WANT_CANCEL, (Why.WND4_CANCELLED, Why.WND4_NOT_WANTED)),
}
_OF_THE_REQUEST: t.Final = frozenset({Why.WND4_NOT_WANTED, Why.WND4_CANCELLED})


def _callable(v4: Nfs4Dialect) -> Session:
    """A new client with a backchannel."""
    return v4.client(v4.connections.connect("nfs")).establish(callbacks=True)


def _opened(compounds: Compounds, file: bytes, access: int) -> p.OpenDelegation4:
    """What OPEN says of delegations. What it grants goes back after the check."""
    reply: CompoundReply = through_grace(
        compounds, op.putfh(file), op.open(None, access, owner=new_state_owner())
    )
    result = expect(reply).ok().of(p.OPEN).resok4
    assert result is not None
    observe("delegation", result.delegation.delegation_type.name)
    return result.delegation


def _reason(given: p.OpenDelegation4) -> Why:
    """Why nothing was granted. UNSUPPORTED where the server does not say it, SKIP where it has granted something."""
    if given.delegation_type not in _NONE:
        skip(f"the server grants a delegation: {given.delegation_type.name}")
    if given.od_whynone is None:
        unsupported("the server does not support the flags for delegations that a client wants")
    return Why(given.od_whynone.ond_why)


@pytest.mark.parametrize("flag", _UNWANTED)
@proves(UNWANTED_IS_NOT_GRANTED, killed_by="open4-delegates-to-who-wants-none")
def test_unwanted(v4: Nfs4Dialect, scratch: Nfs4Scratch, flag: str) -> None:
    """OPEN that wants no delegation gets none."""
    given = _opened(_callable(v4), scratch.file("file"), READ & 3 | _UNWANTED[flag][0])
    expect(given).field("delegation_type", "delegation").one_of(*_NONE)


@pytest.mark.parametrize("flag", _UNWANTED)
@proves(REASON_FITS, killed_by="open4-names-resources-as-the-reason")
def test_unwanted_reason(v4: Nfs4Dialect, scratch: Nfs4Scratch, flag: str) -> None:
    """The reason for no delegation is NOT_WANTED after WANT_NO_DELEG, and this or CANCELLED after WANT_CANCEL."""
    given = _opened(_callable(v4), scratch.file("file"), READ & 3 | _UNWANTED[flag][0])
    expect(_reason(given), "ond_why", of=given, field="od_whynone.ond_why").one_of(*_UNWANTED[flag][1])


@pytest.mark.parametrize("wanted", _WANTED)
@proves(REASON_IS_GIVEN, killed_by="open4-gives-no-reason-for-contention")
def test_reason(v4: Nfs4Dialect, scratch: Nfs4Scratch, wanted: str) -> None:
    """OPEN that wants a delegation, of a file that another client writes, says by NONE_EXT why it grants none."""
    file, client = scratch.file("file"), _callable(v4)
    open_file(another_client(v4), file, BOTH)
    _reason(_opened(client, scratch.file("other"), READ))  # whether the server supports the flags
    given = _opened(client, file, p.OPEN4_SHARE_ACCESS_READ | _WANTED[wanted])
    if given.delegation_type in _NONE:
        expect(given).field("delegation_type", "delegation").equals(Type.OPEN_DELEGATE_NONE_EXT)


@pytest.mark.parametrize("wanted", _WANTED)
@proves(REASON_FITS, killed_by="open4-says-not-wanted")
def test_contention(v4: Nfs4Dialect, scratch: Nfs4Scratch, wanted: str) -> None:
    """The reason for no delegation of a file that another client writes is not that none was wanted."""
    file, client = scratch.file("file"), _callable(v4)
    open_file(another_client(v4), file, BOTH)
    given = _opened(client, file, p.OPEN4_SHARE_ACCESS_READ | _WANTED[wanted])
    reason = _reason(given)
    observe("reason", reason.name)
    expect(reason, "ond_why", of=given, field="od_whynone.ond_why").satisfies(
        lambda why: why not in _OF_THE_REQUEST, "a reason of the server"
    )


# ---------------------------------------------------------------- none against others


@proves(NONE_AGAINST_OTHERS, killed_by="open4-delegates-against-writers")
def test_against_writer(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """No read delegation is granted of a file that another client has open for writing."""
    file = scratch.file("file")
    open_file(another_client(v4), file, BOTH)
    given = _opened(_callable(v4), file, p.OPEN4_SHARE_ACCESS_READ | _WANTED["read"])
    expect(given).field("delegation_type", "delegation").one_of(*_NONE)


@proves(NONE_AGAINST_OTHERS, killed_by="open4-delegates-writing-against-readers")
def test_against_reader(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """No write delegation is granted of a file that another client has open for reading."""
    file = scratch.file("file")
    open_file(another_client(v4), file, READ)
    given = _opened(_callable(v4), file, p.OPEN4_SHARE_ACCESS_BOTH | _WANTED["write"])
    expect(given).field("delegation_type", "delegation").one_of(*_NONE, Type.OPEN_DELEGATE_READ)


@side_by_side
@proves(NONE_AGAINST_OTHERS, killed_by="open4-delegates-writing-against-delegations")
def test_against_delegation(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """No write delegation is granted of a file while another client has a read delegation of it."""
    granted = yield from delegated(v4, scratch, ACCESS["read"])
    reply = _callable(v4).compound(
        op.putfh(granted.file),
        op.open(None, p.OPEN4_SHARE_ACCESS_READ | _WANTED["write"], owner=new_state_owner()),
    )
    if reply.status == Nfsstat4.NFS4_OK:
        granted.need_kept()
        result = reply.of(p.OPEN).resok4
        assert result is not None
        given = result.delegation
        expect(given).field("delegation_type", "delegation").one_of(*_NONE, Type.OPEN_DELEGATE_READ)
    granted.give_back()


@pytest.mark.parametrize("wanted", ["read", "write"])
@proves(NEEDS_A_BACKCHANNEL, killed_by="open4-delegates-without-a-backchannel")
def test_no_backchannel(v4: Nfs4Dialect, scratch: Nfs4Scratch, wanted: str) -> None:
    """A client without a backchannel gets no delegation."""
    client = v4.new_session(v4.connections.connect("nfs"))
    if client.state.flags & p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN:
        skip("the server has made a backchannel that was not asked for")
    given = _opened(client, scratch.file("file"), ACCESS[wanted] | _WANTED[wanted])
    expect(given).field("delegation_type", "delegation").one_of(*_NONE)

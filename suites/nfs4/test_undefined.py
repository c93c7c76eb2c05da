# SPDX-License-Identifier: MIT
"""Values that no declaration has: of enumerations, of arms of unions, and attributes (RFC 5661 section 15.1.1.1)."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import (
    Nfs4Dialect,
    Nfs4Scratch,
    list_names,
    new_state_owner,
    through_grace,
)
from nfsclient.clients.nfs4 import Compounds, Nfs4, Session, new_owner
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import Unread, XdrType, malformations
from nfsjudge import (
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
from suites.nfs4.attribute_values import supported_names
from suites.nfs4.opens import BOTH, READ, another_client, open_file
from suites.nfs4.undecodable import Slowness, reply_or_none

UNDEFINED_VALUES_ARE_REFUSED = stated(
    "RFC 5661",
    "15.1.1.1",
    "NFS4ERR_BADXDR applies when an enumeration has a value in the arguments that it does not define",
)
UNDEFINED_ATTRIBUTES_ARE_REFUSED = should(
    "RFC 5661",
    "18.30.4",
    "an attribute in the request that the server does not support gets NFS4ERR_ATTRNOTSUPP",
    also={"4.0": ("RFC 7530", "16.32.5")},
)
MODE_BITS_ARE_CHECKED = must(
    "RFC 5661",
    "6.2.4",
    "bits that mode does not define get NFS4ERR_INVAL in SETATTR, CREATE, OPEN, VERIFY and NVERIFY",
)
NANOSECONDS_ARE_CHECKED = stated(
    "RFC 5661",
    "3.3.1",
    "values greater than 999,999,999 for nseconds are considered invalid",
    also={"4.0": ("RFC 7530", "2.2.1")},
)
ARRAYS_HAVE_A_LENGTH = stated(
    "RFC 5661",
    "15.1.1.1",
    "arguments that do not match their definition, as by an array of too many elements, get NFS4ERR_BADXDR",
)
_DATA = b"0123456789"


def _bent(args: XdrType, field: str) -> Unread:
    """The arguments with a value that is not defined in a field."""
    path = f"{type(args).__name__}.{field}"
    bent = next(
        malformation.data
        for malformation in malformations(args)
        if malformation.path == path and malformation.flaw in {"enum", "discriminant"}
    )
    return Unread(p.operation_of(args).number, bent)


class _Probe(t.NamedTuple):
    """An operation that succeeds if its field has a defined value."""

    field: str
    arguments: Callable[[Compounds, bytes], XdrType]
    in_file: bool = True
    """Whether the current filehandle is a file, not the scratch directory."""


def _opening(claim: bytes | None, how: p.Createhow4 | None = None) -> XdrType:
    return op.open(claim, READ if how is None else BOTH, owner=new_state_owner(), how=how)


def _locking(compounds: Compounds, file: bytes) -> XdrType:
    return op.lock(open_file(compounds, file, BOTH).stateid, owner=new_state_owner())


def _unlocking(compounds: Compounds, file: bytes) -> XdrType:
    return op.locku(through_grace(compounds, op.putfh(file), _locking(compounds, file)).ok().stateid)


FROM_ZERO: t.Final = {
    "open-opentype": _Probe("openhow.opentype", lambda _compounds, _file: _opening(None)),
    "open-createmode": _Probe(
        "openhow.how.mode", lambda _compounds, _file: _opening(b"made", op.unchecked()), in_file=False
    ),
    "open-claim": _Probe("claim.claim", lambda _compounds, _file: _opening(b"file"), in_file=False),
    "secinfo_no_name": _Probe("style", lambda _compounds, _file: op.secinfo_no_name(), in_file=False),
    "write": _Probe("stable", lambda _compounds, _file: op.write(op.ANONYMOUS, 0, b"new")),
}
"""Enumerations that define 0."""
FROM_ONE: t.Final = {
    "create": _Probe("objtype.type", lambda _compounds, _file: op.mkdir(b"made"), in_file=False),
    "lock": _Probe("locktype", _locking),
    "lockt": _Probe("locktype", lambda _compounds, _file: op.lockt(owner=new_state_owner())),
    "locku": _Probe("locktype", _unlocking),
}
"""Those that define 2, and not 0."""


def _expect_refused(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, probe: _Probe, slowness: Slowness
) -> None:
    """The operation is refused, by itself or with the whole call, and has not been executed."""
    file = scratch.file("file", _DATA)
    bent = _bent(probe.arguments(compounds, file), probe.field)
    operations = op.putfh(file if probe.in_file else scratch.handle), bent
    reply = reply_or_none(
        compounds.nfs4, slowness, lambda: compounds.compound(*operations), "undefined value"
    )
    if reply is None:  # all operations may be parsed first (section 15.1.1.1)
        looking = another_client(v4)  # that call has its slot for ever
        expect(list_names(looking, scratch.handle), "names", field="entries").equals([b"file"])
        reading = looking.compound(op.putfh(file), op.read(op.ANONYMOUS, 0, len(_DATA)))
        data = expect(reading).of(p.READ).ok().data
        expect_data(data, _DATA[: len(data)])
        return
    expect(reply).refused()
    expect(scratch.names(), "names", field="entries").equals([b"file"])
    expect_data(scratch.read(file), _DATA)


@pytest.mark.parametrize("case", FROM_ZERO)
@proves(UNDEFINED_VALUES_ARE_REFUSED, killed_by="compound4-undefined-is-zero")
def test_from_zero(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, slowness: Slowness, case: str
) -> None:
    """An operation with a value that the enumeration does not define is refused, where 0 is defined."""
    _expect_refused(v4, compounds, scratch, FROM_ZERO[case], slowness)


@pytest.mark.parametrize("case", FROM_ONE)
@proves(UNDEFINED_VALUES_ARE_REFUSED, killed_by="compound4-undefined-is-two")
def test_from_one(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, slowness: Slowness, case: str
) -> None:
    """An operation with a value that the enumeration does not define is refused, where 0 is not defined either."""
    _expect_refused(v4, compounds, scratch, FROM_ONE[case], slowness)


@proves(UNDEFINED_VALUES_ARE_REFUSED, killed_by="compound4-undefined-is-two")
def test_bind_direction(v4: Nfs4Dialect, session: Session, slowness: Slowness) -> None:
    """BIND_CONN_TO_SESSION with a direction that is not defined is refused."""
    expect(session.renew()).ok()
    second = v4.client(v4.connections.connect("nfs"))
    _expect_refused_alone(second, _bent(op.bind_conn_to_session(session.id), "bctsa_dir"), slowness)
    # Whether the second connection was added is not seen: its first SEQUENCE adds it anyway (section 2.10.3.1).
    expect(session.renew()).ok()


@proves(UNDEFINED_VALUES_ARE_REFUSED, killed_by="compound4-undefined-is-zero")
def test_state_protection(nfs4: Nfs4, slowness: Slowness) -> None:
    """EXCHANGE_ID with a kind of state protection that is not defined is refused."""
    # What it would leave is a client record that nobody has confirmed, which no request shows (section 18.35.4).
    _expect_refused_alone(nfs4, _bent(op.exchange_id(new_owner()), "eia_state_protect.spa_how"), slowness)


def _expect_refused_alone(nfs4: Nfs4, bent: Unread, slowness: Slowness) -> None:
    reply = reply_or_none(nfs4, slowness, lambda: nfs4.compound(bent), "undefined value")
    if reply is not None:
        expect(reply).refused()


# ---------------------------------------------------------------- attributes

_NOBODYS: t.Final = p.Fattr4(attrmask=(0, 0, 1 << 31), rest=bytes(4))
"""An attribute in the word of the last ones that are defined."""


_OPERATIONS: t.Final[dict[str, Callable[[p.Fattr4], XdrType]]] = {
    "setattr": op.setattr,
    "create": lambda given: op.mkdir(b"made", given),
    "open": lambda given: op.open(b"made", BOTH, owner=new_state_owner(), how=op.guarded(given)),
    "verify": op.verify,
    "nverify": op.nverify,
}
"""Those that take the values of attributes; all in a directory."""


@pytest.mark.parametrize("operation", _OPERATIONS)
@proves(UNDEFINED_ATTRIBUTES_ARE_REFUSED, killed_by="attributes4-ignores-unknown-ones")
def test_attribute(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """An operation with the value of an attribute that nobody has is refused, and creates nothing."""
    reply = compounds.compound(op.putfh(scratch.handle), _OPERATIONS[operation](_NOBODYS))
    observe("attribute that nobody has", reply.status.name)
    expect(scratch.names(), "names", field="entries").equals([])
    expect(reply).refused()


@pytest.mark.parametrize("operation", _OPERATIONS)
@proves(MODE_BITS_ARE_CHECKED, killed_by="attributes4-mask-the-mode")
def test_mode(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """An operation with a mode that has more than the twelve bits is invalid, and changes nothing."""
    before = scratch.attributes(None, "mode").mode
    if before is None:
        unsupported("the server does not support mode")
    reply = compounds.compound(
        op.putfh(scratch.handle), _OPERATIONS[operation](p.Fattr4(mode=before | 0o10000))
    )
    expect(scratch.names(), "names", field="entries").equals([])
    expect(scratch.attributes(None, "mode")).field("mode").equals(before)
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=MODE_BITS_ARE_CHECKED)


@pytest.mark.parametrize("name", ["time_access_set", "time_modify_set"])
@pytest.mark.parametrize("operation", ["setattr", "create", "open"])
@proves(NANOSECONDS_ARE_CHECKED, killed_by="attributes4-take-any-nseconds")
def test_nseconds(compounds: Compounds, scratch: Nfs4Scratch, operation: str, name: str) -> None:
    """An operation with a time of a billion nanoseconds is invalid, and creates nothing."""
    if name not in supported_names(scratch, scratch.handle):
        unsupported(f"the server does not support {name}")
    if scratch.attributes(None, "cansettime").cansettime is False:
        skip("the server says that times cannot be set (cansettime)")
    asked = p.Fattr4().changed(**{name: p.client_time(1_000_000_000, 1_000_000_000)})
    reply = compounds.compound(op.putfh(scratch.handle), _OPERATIONS[operation](asked))
    expect(scratch.names(), "names", field="entries").equals([])
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=NANOSECONDS_ARE_CHECKED)


# ---------------------------------------------------------------- arrays of one element


_MARK: t.Final = 0x5EED_F00D


def _doubled(args: XdrType, element: bytes) -> Unread:
    """The arguments with the only element of an array twice."""
    before, after = (1).to_bytes(4, "big") + element, (2).to_bytes(4, "big") + 2 * element
    data = args.to_xdr()
    assert data.count(before) == 1
    return Unread(p.operation_of(args).number, data.replace(before, after))


@proves(ARRAYS_HAVE_A_LENGTH, killed_by="compound4-ignores-second-elements")
def test_two_implementations(nfs4: Nfs4, slowness: Slowness) -> None:
    """EXCHANGE_ID with two implementation ids is refused."""
    name = p.NfsImplId4(b"example.org", b"a client that nobody knows", p.Nfstime4(1_000_000_000, 1))
    asked = op.exchange_id(new_owner(), impl_id=[name])
    _expect_refused_alone(nfs4, _doubled(asked, name.to_xdr()), slowness)


@proves(ARRAYS_HAVE_A_LENGTH, killed_by="compound4-ignores-second-elements")
def test_two_read_depths(nfs4: Nfs4, slowness: Slowness) -> None:
    """CREATE_SESSION with two values of ca_rdma_ird is refused."""
    client = nfs4.new_client()
    asked = op.create_session(client.id, client.sequence_id, fore=op.channel(rdma_ird=[_MARK]))
    _expect_refused_alone(nfs4, _doubled(asked, _MARK.to_bytes(4, "big")), slowness)

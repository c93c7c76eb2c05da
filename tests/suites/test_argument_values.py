# SPDX-License-Identifier: MIT
"""The measurement of what checks send: it finds what no call had, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4
from nfsclient.protocol.nfs4 import Fattr4
from nfsclient.rpc.messages import AuthFlavor, CallHeader, MsgType, OpaqueAuth
from nfsclient.xdr import Unread, XdrType, bits_of, malformations
from tests.suites.argument_values import PROGRAMS, Sent, gaps, name_of
from tests.suites.unsent import without_reason

_ALL = list(nfs4.ATTRIBUTES)


def _compound(*operations: XdrType, minor: int = 1) -> bytes:
    nobody = OpaqueAuth(AuthFlavor.AUTH_NONE, b"")
    header = CallHeader(1, MsgType.CALL, 2, nfs4.PROGRAM, nfs4.VERSION, 1, nobody, nobody)
    return header.to_xdr() + nfs4.Compound4Args(b"", minor, list(operations)).to_xdr()


def _gaps(begin: str, *messages: Sequence[XdrType], supported: Sequence[int] = ()) -> list[str]:
    """The gaps of one operation after these compounds, without its name."""
    sent = Sent()
    for operations in messages:
        sent.add_message(_compound(*operations))
    found = gaps(sent, supported or _ALL)
    return [gap.removeprefix(begin).lstrip() for gap in found if gap.startswith(begin)]


def test_every_operation_is_measured() -> None:
    missing = {gap.partition(":")[0] for gap in gaps(Sent(), _ALL) if gap.endswith(": never sent")}
    operations = {name_of(operation) for program in PROGRAMS for operation in program.operations}
    assert operations - missing == {"NFS 4 COMPOUND"}  # whose fields are gaps
    assert _gaps("NFS 4 COMPOUND") == ["tag: never sent", "minorversion: never sent"]


def test_a_field_with_one_value_is_a_gap() -> None:
    once = [op.putrootfh(), op.commit(8, 4)]
    assert _gaps("NFS 4 COMMIT", once) == ["offset: always 8", "count: always 4"]
    assert _gaps("NFS 4 COMMIT", once, [op.putrootfh(), op.commit(8, 5)]) == ["offset: always 8"]


def test_a_value_of_an_enumeration_that_was_not_sent_is_a_gap() -> None:
    style = nfs4.SecinfoStyle4.SECINFO_STYLE4_CURRENT_FH
    left = _gaps("NFS 4 SECINFO_NO_NAME", [op.secinfo_no_name(style)])
    assert left == [
        "style: never SECINFO_STYLE4_PARENT",
        "style: never a value that the declaration does not have",
    ]
    outside = op.secinfo_no_name(nfs4.SecinfoStyle4(99))
    assert _gaps("NFS 4 SECINFO_NO_NAME", [op.secinfo_no_name(style), outside]) == left[:1]


def test_a_discriminant_that_does_not_decode_counts_as_outside() -> None:
    opening = op.open(b"name")
    path = "Open4Args.claim.claim"
    bent = next(
        malformation
        for malformation in malformations(opening)
        if malformation.path == path and malformation.flaw == "discriminant"
    )
    outside = "claim.claim: never a value that the declaration does not have"
    assert outside in _gaps("NFS 4 OPEN", [opening])
    assert outside not in _gaps("NFS 4 OPEN", [opening], [op.putrootfh(), Unread(18, bent.data)])


def test_attributes_are_measured_one_by_one() -> None:
    left = _gaps("NFS 4 SETATTR obj_attributes", [op.setattr(Fattr4(mode=0o600))])
    assert ".size: never there" in left
    assert ".mode: always 384" in left
    assert ".mode: never not there" in left
    assert ".type: never there" not in left  # nobody can set it
    assert ": never a bit that no attribute has" in left
    few = list(bits_of(nfs4.bitmap("mode")))
    assert ".size: never there" not in _gaps(
        "NFS 4 SETATTR obj_attributes", [op.setattr(Fattr4(mode=0o600))], supported=few
    )
    both = _gaps("NFS 4 SETATTR obj_attributes", [op.setattr(Fattr4(mode=1))], [op.setattr(Fattr4(size=0))])
    assert not [gap for gap in both if gap.startswith(".mode: never")]


def test_flags_are_measured_bit_by_bit() -> None:
    left = _gaps("NFS 4 ACCESS", [op.access(nfs4.ACCESS4_READ)], [op.access(nfs4.ACCESS4_READ | 2)])
    assert "access: never ACCESS4_LOOKUP" not in left
    assert "access: never ACCESS4_MODIFY" in left
    assert "access: never without ACCESS4_READ" in left
    assert "access: never a bit that is not defined" in left


def test_what_is_no_call_is_ignored() -> None:
    sent = Sent()
    for message in (b"", b"\0" * 8, b"\xff" * 64, _compound(op.putrootfh())[:-2]):
        sent.add_message(message)
    assert not sent.calls


def test_reasons_are_for_gaps_that_are_there() -> None:
    found = ["NFS 3 READ offset: always 0", "NFS 3 WRITE offset: always 0"]
    assert without_reason(found, {"NFS 3 READ *": "why", "NFS 4 *": "why"}) == (found[1:], ["NFS 4 *"])

# SPDX-License-Identifier: MIT
"""NFSv4.1 and 4.2 in captures: judged as in a run. Callbacks are named, and NFSv4.0 is said not to be judged."""

from __future__ import annotations

import struct
import typing as t

import pytest

from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.registry import programs
from nfsclient.rpc.auth import AuthSys, Credential, RawCredential
from nfsclient.rpc.exchange import Exchange, Segment
from nfsclient.xdr import XdrType
from nfsjudge.capture import Packets
from nfsjudge.captured.calls import exchange_of_call, fill_in_reply
from nfsjudge.lint import all_rules, lint
from nfsmutants import find_mutant
from tests.nfsjudge.captured.making import EPOCH, Timed, cut_segments, found, frames_of, judge, pcap
from tests.nfsjudge.lint.test_nfs4_rules import PAIRS
from tests.nfsjudge.lint.test_nfs4_rules import _exchanges as exchanges_of
from tests.nfsjudge.lint.test_nfs4_state import SCENES, Scene, rig4
from tests.nfsserver.nfs4.conftest import Rig4
from tests.settled import settle

__all__ = ["rig4"]
RULES = {rule.name: rule for rule in all_rules()}


def capture_of(scene: Scene) -> bytes:
    settle(scene.exchanges)
    return pcap(cut_segments(frames_of(scene.exchanges), 300))


@pytest.mark.parametrize("name", SCENES)
def test_a_right_server_breaks_no_rule(rig4: Rig4, name: str) -> None:
    scene = Scene(rig4)
    SCENES[name](scene)
    for alone in (False, True):
        reading = judge(capture_of(scene), alone=alone)
        assert found(reading) == {}
        assert reading.statistics.answered == len(scene.exchanges)
        assert reading.statistics.not_judged == {}


@pytest.mark.parametrize("name", SCENES)
def test_what_a_run_finds_is_found_in_its_capture(rig4: Rig4, name: str) -> None:
    scene = Scene(rig4)
    (mutant, *_) = RULES[name].killed_by
    rig4.mutants.add(mutant)
    SCENES[name](scene)
    expected = {
        finding.rule.name: finding.count for finding in lint(scene.exchanges) if finding.severity != "INFO"
    }
    assert name in expected
    assert found(judge(capture_of(scene), alone=True)) == expected


@pytest.mark.parametrize(("name", "mutant"), PAIRS)
def test_what_one_compound_shows_is_found_in_its_capture(name: str, mutant: str) -> None:
    made = []
    for number, exchange in enumerate(exchanges_of(find_mutant(mutant)), 1):
        encoded = compound(1, exchange.result, *exchange.args.argarray, tag=exchange.args.tag, xid=number)
        made.append(encoded)
    assert name in found(judge(pcap(frames_of(made))))


def test_a_capture_may_begin_within_a_session(rig4: Rig4) -> None:
    scene = Scene(rig4)
    SCENES["nfs4/stateid-order"](scene)
    for begin in range(len(scene.exchanges)):
        later = Scene.__new__(Scene)
        later.exchanges = scene.exchanges[begin:]
        frames = frames_of(settled(later.exchanges))[3:]  # without the opening of the connection
        assert found(judge(pcap(frames), alone=True)) == {}


def settled(exchanges: list[Exchange]) -> list[Exchange]:
    settle(exchanges)
    return exchanges


def test_a_stateid_may_be_used_again_after_a_gap(rig4: Rig4) -> None:
    """What was not captured may have ended it."""
    rig4.mutants.add("opendowngrade4-seqid-goes-back")
    scene = Scene(rig4)
    SCENES["nfs4/stateid-order"](scene)
    assert "nfs4/stateid-order" in found(judge(capture_of(scene), alone=True))
    frames = frames_of(settled(scene.exchanges))
    assert "nfs4/stateid-order" not in found(
        judge(pcap([*frames[:-2], *other_gap(frames), *frames[-2:]]), alone=True)
    )


def other_gap(frames: list[Timed]) -> list[Timed]:
    """A datagram of a program that nobody knows, from another client: it may have done anything."""
    call = struct.pack(">10I", 77, 0, 2, 400_000, 1, 1, 0, 0, 0, 0)
    reply = struct.pack(">6I", 77, 1, 0, 0, 0, 0)
    moment = frames[-2][0] - EPOCH
    made, found = Packets(), []
    for sent, data in ((True, call), (False, reply)):
        segment = Segment(moment - 1e-6, sent, data, "127.0.0.1:2049", "udp", "127.0.0.1:999", 9)
        found += [(EPOCH + at, frame) for at, frame, _ in made.of(segment)]
    return found


# ---------------------------------------------------------------- what is not judged


def compound(
    minor: int,
    res: p.Compound4Res,
    *operations: XdrType,
    credential: Credential | None = None,
    tag: bytes = b"",
    xid: int = 5,
) -> Exchange:
    body = p.Compound4Args(tag, minor, list(operations)).to_xdr()
    who = AuthSys() if credential is None else credential
    call = struct.pack(">6I", xid, 0, 2, 100_003, 4, 1) + b"".join(who.opaque()) + body
    reply = struct.pack(">6I", xid, 1, 0, 0, 0, 0) + res.to_xdr()
    made = Exchange(xid, None, None, None, call, float(xid), "127.0.0.1:2049", "tcp", local="127.0.0.1:700")
    return replace_reply(made, reply)


def replace_reply(exchange: Exchange, reply: bytes) -> Exchange:
    exchange.reply, exchange.received_at = reply, exchange.sent_at + 0.5
    return exchange


WRONG: t.Final = p.Compound4Res(p.Nfsstat4.NFS4_OK, b"another tag", [p.Putrootfh4Res(p.Nfsstat4.NFS4ERR_IO)])


def test_the_same_wrong_reply_is_judged_by_its_minor_version() -> None:
    assert set(found(judge(pcap(frames_of([compound(1, WRONG, p.Putrootfh4Args())]))))) == {
        "nfs4/results",
        "nfs4/tag",
    }
    for minor in (0, 3):
        reading = judge(pcap(frames_of([compound(minor, WRONG, p.Putrootfh4Args())])))
        assert found(reading) == {}
        assert reading.statistics.answered == 0
        assert {name: str(reason) for name, reason in reading.statistics.not_judged.items()} == {
            f"NFSv4.{minor}": "frame 4"
        }


def test_what_is_signed_or_encrypted_is_not_judged() -> None:
    exchange = compound(1, WRONG, p.Putrootfh4Args(), credential=RawCredential(6, bytes(20)))
    assert exchange.reply is not None
    encrypted = replace_reply(exchange, exchange.reply[:24] + b"\xff" * 40)
    reading = judge(pcap(frames_of([encrypted])))
    assert found(reading) == {}
    assert list(reading.statistics.not_judged) == ["RPCSEC_GSS"]


def test_arguments_that_nobody_can_read_say_nothing_of_the_reply() -> None:
    exchange = compound(1, WRONG, p.Putrootfh4Args())
    exchange.call = exchange.call[:-4]
    reading = judge(pcap(frames_of([exchange])))
    assert found(reading) == {}
    assert list(reading.statistics.not_judged) == ["NFSv4, with arguments that do not decode"]


# ---------------------------------------------------------------- extensions (RFC 8178)


def opened(delegation: p.OpenDelegation4) -> p.Compound4Res:
    resok = p.Open4ResOk(p.Stateid4(1, bytes(12)), p.ChangeInfo4(True, 1, 2), 0, [], delegation)
    return p.Compound4Res(p.Nfsstat4.NFS4_OK, b"", [p.Open4Res(p.Nfsstat4.NFS4_OK, resok)])


NOBODY: t.Final = p.Nfsace4(0, 0, 0, b"")
READ_AND_TIMES: t.Final = p.OpenDelegation4(
    p.OpenDelegationType4.OPEN_DELEGATE_READ_ATTRS_DELEG,
    read=p.OpenReadDelegation4(p.Stateid4(1, bytes(12)), False, NOBODY),
)
WRITE_AND_TIMES: t.Final = p.OpenDelegation4(
    p.OpenDelegationType4.OPEN_DELEGATE_WRITE_ATTRS_DELEG,
    write=p.OpenWriteDelegation4(
        p.Stateid4(1, bytes(12)), False, p.NfsSpaceLimit4(p.LimitBy4.NFS_LIMIT_SIZE, filesize=7), NOBODY
    ),
)
OPEN: t.Final = op.open(b"file", p.OPEN4_SHARE_ACCESS_READ | p.OPEN4_SHARE_ACCESS_WANT_DELEG_TIMESTAMPS)


@pytest.mark.parametrize("given", [READ_AND_TIMES, WRITE_AND_TIMES], ids=["read", "write"])
def test_delegations_of_rfc_9754_are_judged(given: p.OpenDelegation4) -> None:
    reading = judge(pcap(frames_of([compound(2, opened(given), OPEN)])))
    assert found(reading) == {}
    assert (reading.statistics.answered, reading.statistics.not_judged) == (1, {})


def numbered(res: p.Compound4Res, before: int, number: int) -> Exchange:
    """The same reply, with this number instead of another."""
    exchange = compound(2, res, OPEN, xid=9)
    assert exchange.reply is not None
    assert exchange.reply.count(struct.pack(">I", before)) == 1
    return replace_reply(
        exchange, exchange.reply.replace(struct.pack(">I", before), struct.pack(">I", number))
    )


UNKNOWN: t.Final = {
    "an arm": numbered(opened(WRITE_AND_TIMES), 5, 6),
    "an operation": numbered(
        p.Compound4Res(p.Nfsstat4.NFS4_OK, b"", [p.ReadPlus4Res(p.Nfsstat4(1))]), 68, 76
    ),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_an_extension_may_have_brought_is_said_not_to_be_judged(what: str) -> None:
    reading = judge(pcap(frames_of([UNKNOWN[what]])), alone=True)
    assert found(reading) == {}
    assert {name: str(reason) for name, reason in reading.statistics.not_judged.items()} == {
        "NFSv4.2, with an unknown operation or union arm in the reply": "frame 4"
    }
    assert reading.statistics.answered == 0


def test_only_what_is_unknown_is_excused() -> None:
    exchange = compound(2, opened(READ_AND_TIMES), OPEN)
    assert exchange.reply is not None
    assert set(found(judge(pcap(frames_of([replace_reply(exchange, exchange.reply[:-4])]))))) == {
        "rpc/results-decode"
    }


def test_an_unknown_arm_in_a_reply_to_our_own_call_breaks_xdr() -> None:
    mutate = UNKNOWN["an arm"]
    assert mutate.reply is not None
    own = exchange_of_call(mutate.call, 1.0, mutate.peer, "tcp", programs())
    fill_in_reply(own, mutate.reply, 2.0)
    assert [each.rule.name for each in lint([own])] == ["rpc/results-decode"]


def test_attributes_of_rfc_9754_are_read_over() -> None:
    """time_deleg_access, time_deleg_modify and open_arguments: 84 to 86, of which the last has five bitmaps."""
    times = p.Fattr4(attrmask=(0, 0, 0b11 << 20), rest=bytes(24))
    arguments = p.Fattr4(attrmask=(0, 0, 1 << 22), rest=struct.pack(">10I", 1, 3, 1, 3, 1, 7, 1, 127, 1, 15))
    ok = p.Nfsstat4.NFS4_OK
    calls = [p.Setattr4Args(p.Stateid4(1, bytes(12)), times), p.Getattr4Args([0, 0, 1 << 22])]
    results = [p.Setattr4Res(ok, [0, 0, 0b11 << 20]), p.Getattr4Res(ok, p.Getattr4ResOk(arguments))]
    reading = judge(pcap(frames_of([compound(2, p.Compound4Res(ok, b"", results), *calls)])))
    assert found(reading) == {}
    assert (reading.statistics.answered, reading.statistics.not_judged) == (1, {})


# ---------------------------------------------------------------- callbacks


def callback(program: int, body: bytes, number: int = 1) -> list[Segment]:
    """A call of the server on the connection of the client, and a reply that breaks every rule."""
    call = struct.pack(">6I", 9, 0, 2, program, 1, number) + bytes(16) + body
    reply = struct.pack(">6I", 9, 1, 0, 0, 0, 0) + b"\xff\xff"
    return [
        Segment(
            at,
            sent,
            struct.pack(">I", 0x8000_0000 | len(data)) + data,
            "127.0.0.1:2049",
            "tcp",
            "127.0.0.1:700",
            1,
        )
        for at, sent, data in ((3.0, False, call), (3.5, True, reply))
    ]


@pytest.mark.parametrize("program", [0x4000_0000, 0x4000_1234])
@pytest.mark.parametrize("minor", [0, 1], ids=["4.0", "4.1"])
def test_callbacks_are_judged_and_the_client_is_not(program: int, minor: int) -> None:
    """A callback of 4.0 has no CB_SEQUENCE, and a seqid; that of 4.1 must begin with it."""
    args = p.CbCompound4Args(
        b"", minor, 0, [p.CbRecall4Args(p.Stateid4(1 - minor, bytes(12)), False, b"handle")]
    )
    whole = p.Compound4Res(p.Nfsstat4.NFS4_OK, b"", [p.Putrootfh4Res(p.Nfsstat4.NFS4_OK)])
    made, frames = Packets(), []
    exchange = compound(1, whole, p.Putrootfh4Args())
    before = [
        Segment(
            at,
            sent,
            struct.pack(">I", 0x8000_0000 | len(data)) + data,
            exchange.peer,
            "tcp",
            exchange.local,
            1,
        )
        for at, sent, data in ((1.0, True, exchange.call), (2.0, False, exchange.reply or b""))
    ]
    for segment in [*before, *callback(program, args.to_xdr()), *callback(program, b"", 0)]:
        frames += [(EPOCH + at, frame) for at, frame, _ in made.of(segment)]
    reading = judge(pcap(frames), alone=True)
    assert set(found(reading)) == ({"nfs4/callback-begins"} if minor else set())
    assert dict(reading.statistics.exchanges) == {"NFS version 4.1": 1, "NFSv4 callback": 2}
    assert (reading.statistics.unmatched, reading.statistics.unanswered) == (0, 0)


def test_other_programs_of_the_same_range_are_no_callbacks() -> None:
    exchange = compound(1, WRONG, p.Putrootfh4Args())
    exchange.call = struct.pack(">6I", 5, 0, 2, 0x4000_0000, 1, 1) + bytes(16) + b"something"
    assert dict(judge(pcap(frames_of([exchange]))).statistics.exchanges) == {"1073741824 version 1": 1}

# SPDX-License-Identifier: MIT
"""Rules that compare replies of NFSv4: silent about the embedded server, and each fires on its mutant."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator

import pytest

from nfsclient.clients.nfs4 import CompoundReply
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.exchange import Exchange
from nfsclient.xdr import XdrType, replace
from nfsjudge.lint import Event, Finding, Happening, all_rules, lint
from nfsmutants import find_mutant
from tests.nfsserver.conftest import ROOT_USER
from tests.nfsserver.nfs4.conftest import Rig4

_NO_DELEGATION: t.Final = p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
BOTH: t.Final = p.OPEN4_SHARE_ACCESS_BOTH | _NO_DELEGATION
READ: t.Final = p.OPEN4_SHARE_ACCESS_READ | _NO_DELEGATION


class Scene:
    """A recorded session in a new directory."""

    def __init__(self, rig: Rig4) -> None:
        self.rig = rig
        self.exchanges: list[Exchange] = []
        rpc = rig.rpc(ROOT_USER)
        rpc.on_exchange = self.exchanges.append
        nfs4 = rig.nfs4()
        nfs4.rpc = rpc
        self.session = nfs4.establish()
        self.top = self.run(op.putfh(rig.root), op.mkdir(b"top"), op.getfh()).handle

    def run(self, *operations: XdrType) -> CompoundReply:
        return self.session.compound(*operations)

    def see(self, handle: bytes, *names: str) -> p.Fattr4:
        return self.run(op.putfh(handle), op.getattr(*names)).ok().attributes

    def file(self, name: bytes = b"file") -> tuple[bytes, p.Stateid4]:
        opening = op.open(name, BOTH, owner=b"owner", how=op.guarded())
        made = self.run(op.putfh(self.top), opening, op.getfh()).ok()
        return made.handle, made.stateid

    def findings(self, events: tuple[Event, ...] = ()) -> dict[str, Finding]:
        return {finding.rule.name: finding for finding in lint(self.exchanges, events)}


Play: t.TypeAlias = Callable[[Scene], object]
SCENES: dict[str, Play] = {}


def scene(name: str) -> Callable[[Play], Play]:
    def register(play: Play) -> Play:
        SCENES[name] = play
        return play

    return register


@scene("nfs4/handle-same-object")
def looked_at_twice(s: Scene) -> None:
    for _ in range(2):
        s.see(s.top, "type", "fsid", "fileid")


@scene("nfs4/status-flags")
def renewed(s: Scene) -> None:
    for _ in range(4):
        s.run(op.putfh(s.top), op.getattr("type"))


@scene("nfs4/attributes-agree")
def counted_twice(s: Scene) -> None:
    file, _ = s.file()
    s.see(file, "type", "numlinks", "mode", "owner", "size")
    s.run(op.putfh(file), op.read(op.ANONYMOUS, 0, 10))
    s.see(file, "numlinks", "mode", "owner", "size")


@scene("nfs4/change-moves")
def written_and_removed(s: Scene) -> None:
    file, stateid = s.file()
    s.see(file, "change")
    s.see(s.top, "change")
    s.run(op.putfh(file), op.write(stateid, 0, b"data"))
    s.see(file, "change")
    s.run(op.putfh(s.top), op.remove(b"file"))
    s.see(s.top, "change")


@scene("nfs4/change-comes-again")
def written_often(s: Scene) -> None:
    file, stateid = s.file()
    for number in range(10):
        s.see(file, "change")
        s.run(op.putfh(file), op.write(stateid, number, b"data"))


@scene("nfs4/rename-changes")
def renamed_in_a_directory(s: Scene) -> None:
    s.file()
    s.run(op.putfh(s.top), op.lookup(b"new"))
    s.run(op.putfh(s.top), op.savefh(), op.rename(b"file", b"new")).ok()


@scene("nfs4/change-info-before")
def made_two(s: Scene) -> None:
    for name in (b"one", b"two"):
        s.run(op.putfh(s.top), op.mkdir(name), op.getfh())


@scene("nfs4/names-agree")
def looked_up_again(s: Scene) -> None:
    for _ in range(2):
        s.run(op.putfh(s.top), op.lookup(b"absent"))
    s.run(op.putfh(s.top), op.mkdir(b"made"))
    for _ in range(2):
        s.run(op.putfh(s.top), op.lookup(b"made"))


@scene("nfs4/stateid-order")
def downgraded(s: Scene) -> None:
    file, _ = s.file()
    opening = op.open(None, READ, owner=b"owner")
    again = s.run(op.putfh(file), opening).ok()
    s.run(op.putfh(file), op.open_downgrade(again.stateid, READ)).ok()


@pytest.fixture
def rig4() -> Iterator[Rig4]:
    made = Rig4()
    made.listen()
    yield made
    made.close()


RULES = {rule.name: rule for rule in all_rules() if rule.name in SCENES}
PAIRS = [(rule.name, mutant) for rule in RULES.values() for mutant in rule.killed_by]


@pytest.mark.parametrize("name", SCENES)
def test_a_right_server_breaks_no_rule(rig4: Rig4, name: str) -> None:
    played = Scene(rig4)
    SCENES[name](played)
    assert played.findings() == {}


@pytest.mark.parametrize(("name", "mutant"), PAIRS)
def test_a_rule_fires_on_its_mutant(rig4: Rig4, name: str, mutant: str) -> None:
    find_mutant(mutant)
    played = Scene(rig4)
    rig4.mutants.add(mutant)
    SCENES[name](played)
    found = played.findings()
    assert found[name].severity == RULES[name].severity
    assert found[name].breach.earlier is not None


def mutated(rig4: Rig4, mutant: str, play: Play) -> Scene:
    find_mutant(mutant)
    played = Scene(rig4)
    rig4.mutants.add(mutant)
    play(played)
    return played


def test_what_a_restart_lies_between_is_not_compared(rig4: Rig4) -> None:
    played = mutated(rig4, "getattr4-renumbers-files", looked_at_twice)
    last = played.exchanges[-1]
    assert played.findings((Event(last.sent_at - 1e-9, Happening.RESTART),)) == {}


def test_objects_that_others_may_use_unseen_are_not_compared(rig4: Rig4) -> None:
    found = mutated(rig4, "getattr4-counts-links-up", counted_twice)
    assert lint(found.exchanges, others=True) == []


def test_objects_that_were_there_before_are_not_compared(rig4: Rig4) -> None:
    played = Scene(rig4)
    for _ in range(2):
        played.see(rig4.root, "mode", "numlinks", "owner")
    reply = played.exchanges[-1].result.resarray[-1].resok4
    reply.obj_attributes = reply.obj_attributes.changed(mode=0)
    assert played.findings() == {}


def test_what_may_have_changed_in_between_is_not_compared(rig4: Rig4) -> None:
    def changed_by_somebody(s: Scene, change: Callable[[bytes], object]) -> None:
        file, _ = s.file()
        for _ in range(2):
            s.see(file, "type", "numlinks")
            change(file)

    def link(s: Scene) -> Callable[[bytes], object]:
        names = iter((b"l1", b"l2"))
        return lambda file: s.run(op.putfh(file), op.savefh(), op.putfh(s.top), op.link(next(names))).ok()

    played = Scene(rig4)
    changed_by_somebody(played, link(played))
    assert played.findings() == {}


def test_rename_to_a_name_that_may_have_been_there_is_not_judged(rig4: Rig4) -> None:
    def rename(s: Scene) -> None:
        s.file()
        s.run(op.putfh(s.top), op.savefh(), op.rename(b"file", b"new")).ok()

    assert mutated(rig4, "rename4-change-stands", rename).findings() == {}


def test_a_change_that_comes_again_after_calls_that_overlap_is_not_judged(rig4: Rig4) -> None:
    played = mutated(rig4, "getattr4-change-comes-again", written_often)
    assert played.findings()
    for exchange in played.exchanges[:-1]:
        exchange.sent_at, exchange.received_at = 1.0, 2.0
    assert "nfs4/change-comes-again" not in played.findings()


def test_calls_that_overlap_are_not_compared(rig4: Rig4) -> None:
    played = mutated(rig4, "getattr4-change-is-the-first", written_and_removed)
    assert played.findings()
    for exchange in played.exchanges:
        exchange.sent_at, exchange.received_at = 1.0, 2.0
    assert played.findings() == {}


def test_attributes_that_another_user_sees_are_not_compared(rig4: Rig4) -> None:
    played = mutated(rig4, "getattr4-counts-links-up", counted_twice)
    assert "nfs4/attributes-agree" in played.findings()
    played.exchanges[-1].credential = AuthSys(7, 7)
    assert played.findings() == {}


def test_another_client_may_have_the_same_stateid(rig4: Rig4) -> None:
    played = mutated(rig4, "opendowngrade4-seqid-goes-back", downgraded)
    assert "nfs4/stateid-order" in played.findings()
    played.exchanges[-1].args.argarray[0].sa_sessionid = bytes(16)
    played.exchanges[-1].result.resarray[0].sr_resok4.sr_sessionid = bytes(16)
    assert played.findings() == {}


def test_a_reply_from_the_cache_of_a_session_is_not_compared(rig4: Rig4) -> None:
    played = Scene(rig4)
    played.run(op.putfh(played.top), op.mkdir(b"made"), op.getfh())
    last = played.exchanges[-1]
    played.session.nfs4.send(last.args)
    assert played.exchanges[-1].result == last.result
    assert played.exchanges[-1].xid != last.xid
    assert played.findings() == {}


# ---------------------------------------------------------------- status flags


def flagged(s: Scene, *flags: int) -> None:
    """Put status flags into the last replies."""
    for exchange, value in zip(s.exchanges[-len(flags) :], flags, strict=True):
        exchange.result.resarray[0].sr_resok4.sr_status_flags = value


_ADMIN, _SOME, _ALL = (
    p.SEQ4_STATUS_ADMIN_STATE_REVOKED,
    p.SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED,
    p.SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED,
)


@pytest.mark.parametrize(
    "acknowledge",
    [
        lambda s: s.run(p.FreeStateid4Args(p.Stateid4(1, bytes(11) + b"x"))),
        lambda s: s.run(p.ReclaimComplete4Args(False)),
        lambda s: s.run(op.putfh(s.top), op.close(p.Stateid4(1, bytes(11) + b"x"))),
        lambda s: s.session.nfs4.establish(),
        lambda s: s.run(op.putfh(s.top), op.mkdir(b"another")),
    ],
    ids=["FREE_STATEID", "RECLAIM_COMPLETE", "CLOSE", "a new client", "CREATE"],
)
def test_flags_that_a_client_may_have_ended_may_go(rig4: Rig4, acknowledge: Play) -> None:
    played = Scene(rig4)
    played.see(played.top, "type")
    flagged(played, _ADMIN)
    acknowledge(played)
    played.see(played.top, "type")
    assert played.findings() == {}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (_SOME, _ALL),
        (p.SEQ4_STATUS_RECALLABLE_STATE_REVOKED, _ALL),
        (0, _ADMIN),
        (p.SEQ4_STATUS_CB_PATH_DOWN | p.SEQ4_STATUS_CB_PATH_DOWN_SESSION, 0),
        (p.SEQ4_STATUS_LEASE_MOVED | p.SEQ4_STATUS_BACKCHANNEL_FAULT, 0),
        (p.SEQ4_STATUS_DEVID_CHANGED | p.SEQ4_STATUS_CB_GSS_CONTEXTS_EXPIRED, 0),
    ],
)
def test_flags_that_may_change_by_themselves(rig4: Rig4, before: int, after: int) -> None:
    played = Scene(rig4)
    for _ in range(2):
        played.see(played.top, "type")
    flagged(played, before, after)
    assert played.findings() == {}


@pytest.mark.parametrize(
    "flag",
    [_ADMIN, _SOME, _ALL, p.SEQ4_STATUS_RESTART_RECLAIM_NEEDED, p.SEQ4_STATUS_RECALLABLE_STATE_REVOKED],
)
def test_flags_of_lost_state_stay(rig4: Rig4, flag: int) -> None:
    played = Scene(rig4)
    for _ in range(2):
        played.see(played.top, "type")
    flagged(played, flag, 0)
    assert set(played.findings()) == {"nfs4/status-flags"}
    assert lint(played.exchanges, others=True) == []  # another connection may have acknowledged it
    last = played.exchanges[-1]
    assert played.findings((Event(last.sent_at - 1e-9, Happening.RESTART),)) == {}


def elsewhere(exchange: Exchange, address: str = "192.0.2.7:2049") -> None:
    """Let an exchange go to another address of the server."""
    exchange.peer = address


def test_flags_may_be_ended_at_another_address(rig4: Rig4) -> None:
    played = Scene(rig4)
    for _ in range(2):
        played.see(played.top, "type")
        elsewhere(played.exchanges[-1])
    played.see(played.top, "type")
    flagged(played, _ADMIN, _ADMIN, _ADMIN)
    played.run(p.FreeStateid4Args(p.Stateid4(1, bytes(11) + b"x")))
    played.see(played.top, "type")
    elsewhere(played.exchanges[-1])
    assert played.findings() == {}
    del played.exchanges[-2]
    played.exchanges[-1].args.argarray[0].sa_sequenceid -= 1
    played.exchanges[-1].result.resarray[0].sr_resok4.sr_sequenceid -= 1
    assert set(played.findings()) == {"nfs4/status-flags"}


@pytest.mark.parametrize("is_gap", [False, True], ids=["before the beginning", "in a gap"])
def test_a_retry_of_what_was_not_seen_teaches_nothing(rig4: Rig4, is_gap: bool) -> None:
    """It has the flags of then, from the reply cache."""
    played = Scene(rig4)
    played.see(played.top, "type")
    first = played.exchanges[-1]
    played.session.nfs4.send(first.args)
    flagged(played, _ADMIN, _ADMIN)
    for _ in range(2):
        played.see(played.top, "type")
    flagged(played, 0, 0)
    at = played.exchanges.index(first)
    if is_gap:
        lost = Exchange(0, None, None, None, b"lost", first.sent_at, first.peer, "udp")
        played.exchanges[at] = replace_reception(lost, first)
    else:
        played.exchanges = played.exchanges[at + 1 :]
    assert lint(played.exchanges, has_gaps=True) == []
    assert set(played.findings()) == {"nfs4/status-flags"}  # in a run there are no gaps
    played.exchanges[-2].result.resarray[0].sr_resok4.sr_status_flags = _ADMIN
    assert [finding.rule.name for finding in lint(played.exchanges, has_gaps=True)] == ["nfs4/status-flags"]


def test_a_false_retry_may_get_the_reply_of_the_first(rig4: Rig4) -> None:
    """Its results are of other operations (RFC 5661 section 2.10.6.1.3)."""
    played = Scene(rig4)
    played.see(played.top, "type")
    first = played.exchanges[-1]
    false = replace(first.args, argarray=[first.args.argarray[0], op.putrootfh()])
    played.session.nfs4.send(false)
    seen = played.exchanges[-1]
    seen.result = first.result
    assert played.findings() == {}
    number = replace(first.args.argarray[0], sa_sequenceid=first.args.argarray[0].sa_sequenceid + 50)
    seen.args = replace(false, argarray=[number, *false.argarray[1:]])
    assert "nfs4/results" in played.findings()


def replace_reception(exchange: Exchange, other: Exchange) -> Exchange:
    exchange.received_at = other.received_at
    return exchange


@pytest.mark.parametrize("is_delegated", [False, True])
def test_change_may_stand_where_a_client_keeps_the_times(rig4: Rig4, is_delegated: bool) -> None:
    """RFC 9754: whoever writes with such a delegation tells the server the times when it gives it back."""
    played = Scene(rig4)
    file, stateid = played.file()
    if is_delegated:
        given = played.exchanges[-1].result.resarray[2].resok4
        given.delegation = p.OpenDelegation4(
            p.OpenDelegationType4.OPEN_DELEGATE_WRITE_ATTRS_DELEG,
            write=p.OpenWriteDelegation4(
                stateid,
                False,
                p.NfsSpaceLimit4(p.LimitBy4.NFS_LIMIT_SIZE, filesize=7),
                p.Nfsace4(0, 0, 0, b""),
            ),
        )
    before = played.see(file, "change").change
    played.run(op.putfh(file), op.write(stateid, 0, b"data"))
    played.see(file, "change")
    seen = played.exchanges[-1].result.resarray[-1].resok4
    seen.obj_attributes = seen.obj_attributes.changed(change=before)
    assert set(played.findings()) == (set() if is_delegated else {"nfs4/change-moves"})


def test_an_open_may_return_no_stateid(rig4: Rig4) -> None:
    """RFC 9754: a delegation instead, where the client asks for one or the other."""
    played = mutated(rig4, "opendowngrade4-seqid-goes-back", downgraded)
    assert "nfs4/stateid-order" in played.findings()
    opened = [
        exchange for exchange in played.exchanges if any(step.operation is p.OPEN for step in exchange.steps)
    ]
    for exchange in opened:
        exchange.result.resarray[2].resok4.rflags |= p.OPEN4_RESULT_NO_OPEN_STATEID
    assert played.findings() == {}

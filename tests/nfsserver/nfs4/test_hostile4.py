# SPDX-License-Identifier: MIT
"""The server answers any compound: no handler fails, statuses are those of the RFC, and others are served."""

from __future__ import annotations

import itertools
import os
import random
import typing as t

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.messages import ReplyHeader
from nfsclient.xdr import AttributeMap, Unread, XdrType, fields_of
from nfsserver.settings import Value
from nfsserver.state.records import Slot
from tests.nfsserver.nfs4.conftest import Rig4, S
from tests.nfsserver.test_hostile import PEER, answer, message_of, several
from tests.strategies import xdr_values

MUTATED: t.Final = int(os.environ.get("NFSPROOF_MUTATED", "20000"))
"""Compounds; by hand a million."""
_STATEIDS: t.Final = (p.ANONYMOUS_STATEID, p.READ_BYPASS_STATEID, p.CURRENT_STATEID, p.INVALID_STATEID)


_AFTER_ID: t.Final = 16 + 4 + 4 + 4 + 4
"""From the session id in SEQUENCE to the next operation."""
_NAMES: t.Final = itertools.count()


class Scene:
    """A session with a slot for each compound, files, and stateids that mean something."""

    def __init__(self, rig: Rig4, minor: int) -> None:
        self.rig = rig
        self.minor = minor
        self.session: Session = rig.session(minor=minor)
        self.name = b"file-%d" % next(_NAMES)
        file = rig.make(self.session, self.name, b"data")
        opened = self.session.compound(op.putfh(file), op.open(None, 3, owner=b"o")).ok()
        locked = self.session.compound(op.putfh(file), op.lock(opened.stateid, owner=b"l")).ok()
        self.handles = [rig.root, file, rig.server.backend.handle_of(rig.server.backend.pseudo.root)]
        self.stateids = [*_STATEIDS, opened.stateid, locked.stateid]
        self.numbers = itertools.count(1)
        self._slots = rig.server.states.sessions.require(self.session.id)

    @property
    def slot(self) -> Slot:
        """The slot that the compounds use."""
        return self._slots.slots[1]

    @property
    def is_alive(self) -> bool:
        """Whether no compound has ended the session."""
        return not self._slots.is_destroyed

    def message(self, *operations: XdrType) -> bytes:
        sequence = p.Sequence4Args(self.session.id, next(self.numbers), 1, 1, False)
        return message_of(p.COMPOUND, p.Compound4Args(b"", self.minor, [sequence, *operations]).to_xdr())

    def answer(self, message: bytes) -> p.Compound4Res | None:
        data = answer(self.rig, message)
        if data is None:
            return None
        _, at = ReplyHeader.unpack_from(data)
        return p.Compound4Res.from_xdr(data[at:]) if len(data) > at else None

    def aim(self, value: t.Any, draw: t.Callable[[list[t.Any]], t.Any]) -> None:
        """Put stateids and handles that exist into the arguments of an operation."""
        if isinstance(value, list):
            for item in value:
                self.aim(item, draw)
        elif isinstance(value, p.Stateid4):
            known = draw(self.stateids)
            value.seqid, value.other = known.seqid, known.other
        elif isinstance(value, XdrType) and not isinstance(value, Unread | AttributeMap):
            for field in fields_of(type(value)):
                self.aim(getattr(value, field.name), draw)


def operations_in(minor: int) -> list[p.AnyOperation]:
    return [
        operation
        for operation in p.operations_of(minor)
        if operation.name not in {"SEQUENCE", "DESTROY_SESSION"}
    ]


_LACKING: t.Final[dict[str, Value]] = {
    "symlinks": False,
    "hard_links": False,
    "mknod": False,
    "named_attributes": False,
}
_STRICT: t.Final[dict[str, Value]] = {
    "restricted_names": True,
    "utf8_names": False,
    "close_frees_locks": False,
    "name_max": 64,
}
_FULL: t.Final[dict[str, Value]] = {"free_bytes": 0, "free_files": 0}
_PNFS: t.Final[dict[str, Value]] = {"metadata_server": True, "referral": True}


@pytest.mark.parametrize(
    "knobs", [{}, _LACKING, _STRICT, _FULL, _PNFS], ids=["usual", "lacking", "strict", "full", "pnfs"]
)
@pytest.mark.parametrize("minor", [1, 2])
def test_any_operation_is_answered_with_its_own_status(minor: int, knobs: dict[str, Value]) -> None:
    """With any arguments that its declaration allows, on any object, whatever the server chooses."""
    rig = Rig4()
    rig.listen()
    scene = Scene(rig, minor)
    rig.server.knobs.update(**knobs)

    @settings(parent=several, max_examples=200 if knobs else 400)
    @given(st.data())
    def ask(data: st.DataObject) -> None:
        def draw(values: list[t.Any]) -> t.Any:
            return data.draw(st.sampled_from(values))

        operation = draw(operations_in(minor))
        args = data.draw(xdr_values(operation.args))
        scene.aim(args, draw)
        steps = [op.putfh(draw(scene.handles)), op.savefh(), op.putfh(draw(scene.handles)), args]
        reply = scene.answer(scene.message(*steps))
        if reply is None:  # what can be built, but not decoded: GARBAGE_ARGS
            scene.numbers = itertools.count(next(scene.numbers) - 1)
            return
        last = reply.resarray[-1]
        answered = p.operation_of(last)
        assert answered.is_expected(minor, p.status_of(last)), (operation.name, last)

    try:
        ask()
        assert scene.session.renew().status == S.NFS4_OK
    finally:
        rig.close()


def _mutated(chance: random.Random, message: bytes, start: int = 40) -> bytes:
    """A message with a few wrong bytes, words, a cut, or a part twice, after its first `start` bytes."""
    data = bytearray(message)
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(start, len(data)) if len(data) > start else 0
        match chance.randrange(5):
            case 0:
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                word = chance.choice((0, 1, 2, 0x7FFF_FFFF, 0xFFFF_FFFF, chance.getrandbits(32)))
                at -= at % 4
                data[at : at + 4] = word.to_bytes(4, "big")
            case 2:
                del data[at : at + 4 * chance.randrange(1, 8)]
            case 3:
                data[at:at] = data[at : at + 4 * chance.randrange(1, 16)]
            case _:
                data[at:at] = chance.randbytes(4 * chance.randrange(1, 4))
    return bytes(data)


def compounds(scene: Scene) -> list[list[XdrType]]:
    """Valid compounds on the objects of a scene."""
    here, top = op.putfh(scene.handles[1]), op.putfh(scene.rig.root)
    opened, locked = scene.stateids[-2:]
    return [
        [here, op.getattr("type", "acl"), op.read(opened, 0, 10)],
        [top, op.open(b"new", 3, owner=b"x", how=op.guarded()), op.getfh()],
        [top, op.readdir(), op.lookup(scene.name), op.getfh()],
        [here, op.lock(opened, owner=b"l2"), op.setattr(p.Fattr4(mode=0o600))],
        [op.test_stateid(*scene.stateids), op.free_stateid(locked)],
        [top, op.mkdir(b"d"), op.rename(b"d", b"e"), op.remove(b"e")],
        [here, op.openattr(createdir=True), op.open(b"a", 3, owner=b"x", how=op.unchecked())],
        [here, op.write(opened, 0, b"data"), op.commit(), op.setxattr(b"k", b"v"), op.listxattrs()],
    ]


def test_mutated_compounds_do_no_harm(rig4: Rig4) -> None:
    """Valid compounds with a few wrong bytes: each gets a reply, or none; state stays bounded.

    Each has the sequence id that its slot waits for: what the server executes is not only SEQUENCE.
    """
    scene, chance = Scene(rig4, 2), random.Random(1)
    originals, executed = compounds(scene), 0
    alone = p.Compound4Args(b"", 1, [op.exchange_id(p.ClientOwner4(bytes(8), b"x"))]).to_xdr()
    for number in range(MUTATED):
        start = 40
        if number % 10 == 0:
            message = message_of(p.COMPOUND, alone)
        else:
            if not scene.is_alive:
                scene = Scene(rig4, 2)
                originals = compounds(scene)
            scene.numbers = itertools.count(scene.slot.sequence_id + 1)
            message = scene.message(*originals[number % len(originals)])
            if number % 5:
                start = message.index(scene.session.id) + _AFTER_ID
        before = scene.slot.sequence_id
        rig4.server.messages.answer(_mutated(chance, message, start), PEER, "tcp")
        executed += not scene.is_alive or scene.slot.sequence_id != before
        assert not rig4.server.messages.faults
    states = rig4.server.states
    assert executed > MUTATED // 3
    assert len(states.clients) < MUTATED
    assert len(rig4.server.fs.inodes()) < MUTATED
    assert rig4.session().renew().status == S.NFS4_OK

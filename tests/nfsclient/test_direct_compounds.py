# SPDX-License-Identifier: MIT
"""Compounds that are one function from the encoder to the reply: what goes wrong is recovered as in the ordinary way.

Only a client that is alone on its loop takes that way, so each test runs with the server in the same loop and apart.
"""

from __future__ import annotations

import threading
import typing as t
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from nfsclient.clients.nfs4 import CompoundReply, Request, direct
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import ConnectionLost
from nfsclient.highlevel.nfs4 import FateUnknown
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.loop import Loop
from nfsclient.sessions.late import LateReply
from nfsclient.xdr import Buffer, XdrType
from tests.nfsclient.nfs4_peer import S, Stage4

LARGE = 100_003
_KNOWN = 6
"""Compounds after which their form is known."""


class Scene:
    """A small server with a client by path, and what went the direct way."""

    def __init__(self, stage: Stage4, *, is_apart: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stage, self.is_apart = stage, is_apart
        self.client, self.server = stage.client, stage.server
        self.went: list[str] = []
        compound = direct.compound

        def watched(nfs4: t.Any, state: t.Any, operations: t.Any, on_unusual: t.Any = None) -> t.Any:
            def unusual(request: Request) -> None:
                self.went.append("unusual")
                if on_unusual is not None:
                    on_unusual(request)

            reply = compound(nfs4, state, operations, unusual)
            if isinstance(reply, LateReply):
                self.went.append("usual")
            return reply

        monkeypatch.setattr(direct, "compound", watched)

    def remove(self, name: bytes) -> CompoundReply:
        return self.client.live.run(lambda: [op.putfh(self.client.root), op.remove(name)])

    def make_known(self) -> None:
        """Have REMOVEs until the next one goes the direct way, if that is possible."""
        for _ in range(_KNOWN):
            self.server.files[b"known"] = bytearray()
            self.remove(b"known")
        assert self.went[-1:] == (["usual"] if self.is_apart else [])
        self.went.clear()
        self.server.files[b"f"] = bytearray()

    def require_way(self, *went: str) -> None:
        assert self.went == (list(went) if self.is_apart else [])


@pytest.fixture(params=["together", "apart"])
def scene(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    is_apart = request.param == "apart"
    with ExitStack() as closing:
        theirs = None
        if is_apart:
            theirs, over = Loop(), threading.Event()
            closing.callback(theirs.close)

            def serve(loop: Loop = theirs) -> None:
                while not over.is_set():
                    loop.run_once(loop.clock() + 0.02)

            thread = threading.Thread(target=serve)
            thread.start()
            closing.callback(thread.join)
            closing.callback(over.set)
        stage = Stage4(loop_of_server=theirs)
        yield Scene(stage, is_apart=is_apart, monkeypatch=monkeypatch)
        for rpc in stage.dialled:
            rpc.close()
        closing.close()
        stage.server.close()
        stage.loop.close()


def test_a_lost_reply_is_fetched_with_the_same_slot_and_sequence_id(scene: Scene) -> None:
    scene.make_known()
    scene.server.drops, before = 1, scene.server.count("REMOVE")
    assert scene.remove(b"f").ok()
    assert b"f" not in scene.server.files
    assert scene.server.count("REMOVE") == before + 2  # the second one is answered from the reply cache
    scene.require_way("unusual")


def test_a_reply_that_the_server_has_forgotten_leaves_the_fate_unknown(scene: Scene) -> None:
    scene.make_known()
    scene.server.drops = 1
    scene.stage.pauses.on_wait = scene.server.forget_everything
    with pytest.raises(FateUnknown, match="PUTFH, REMOVE"):
        scene.remove(b"f")
    scene.require_way("unusual")


def test_without_reconnecting_the_loss_is_raised(scene: Scene) -> None:
    scene.make_known()
    scene.client.live.reconnect = False
    scene.server.drops = 1
    with pytest.raises(ConnectionLost):
        scene.remove(b"f")


def test_delay_of_sequence_repeats_the_very_request(scene: Scene) -> None:
    scene.make_known()
    scene.server.script("SEQUENCE", S.NFS4ERR_DELAY, S.NFS4ERR_DELAY)
    before = scene.client.live.session.state.slots[0].sequence_id
    scene.remove(b"f")
    assert scene.client.live.session.state.slots[0].sequence_id == before + 1
    assert scene.server.count("CREATE_SESSION") == 1
    scene.require_way("unusual")


def test_an_error_is_that_of_the_operation(scene: Scene) -> None:
    scene.make_known()
    with pytest.raises(FileNotFoundError, match="REMOVE answered NFS4ERR_NOENT"):
        scene.remove(b"missing")
    scene.require_way("unusual")
    scene.remove(b"f")
    scene.require_way("unusual", "usual")


def test_a_session_without_free_slots_is_replaced(scene: Scene) -> None:
    scene.make_known()
    slots = scene.client.live.session.state.slots
    while slots.has_free:
        slots.acquire()
    scene.remove(b"f")
    assert scene.server.count("CREATE_SESSION") == 2


def test_operations_are_built_once(scene: Scene) -> None:
    built = 0

    def build() -> list[XdrType]:
        nonlocal built
        built += 1
        return [op.putfh(scene.client.root), op.remove(b"f%d" % built)]

    scene.server.files.update({b"f%d" % number: bytearray() for number in range(1, 9)})
    for _ in range(8):
        scene.client.live.run(build)
    assert built == 8


class Watched:
    """A socket; `sent` has the buffers that were given to it."""

    def __init__(self, sock: t.Any) -> None:
        self._sock = sock
        self.sent: list[Buffer] = []

    def sendmsg(self, buffers: t.Sequence[Buffer]) -> int:
        self.sent.extend(buffers)
        return int(self._sock.sendmsg(buffers))

    def send(self, data: Buffer, flags: int = 0) -> int:
        self.sent.append(data)
        return int(self._sock.send(data, flags))

    def __getattr__(self, name: str) -> t.Any:
        return getattr(self._sock, name)


def test_large_data_are_sent_uncopied(scene: Scene) -> None:
    session, data = scene.client.live.session, bytes(LARGE)
    scene.server.files[b"f"] = bytearray()
    scene.stage.rpc.pass_through(lambda sock: t.cast("t.Any", Watched(sock)))
    sent = t.cast("Watched", scene.stage.rpc._sock).sent
    for number in range(_KNOWN):
        data = bytes([number]) * LARGE
        sent.clear()
        call = op.write(op.ANONYMOUS, 0, data, p.StableHow4.UNSTABLE4)
        reply = session.compound(op.putfh(b"f"), call).ok()
        assert reply.of(p.WRITE).resok4 is not None
        assert bytes(scene.server.files[b"f"]) == data
        assert not scene.is_apart or any(piece is data for piece in sent)
    assert scene.went[-1:] == (["usual"] if scene.is_apart else [])

# SPDX-License-Identifier: MIT
"""Plans inside connections of the library, against the embedded server on the same loop."""

from __future__ import annotations

import os
import typing as t
from collections.abc import Iterator
from contextlib import closing

import pytest

from nfsclient.clients import Nfs3
from nfsclient.errors import ConnectionLost, RpcTimeout
from nfsclient.highlevel import Limits
from nfsclient.nfs3 import NfsClient
from nfsclient.protocol import nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp, connect_udp
from nfsclient.rpc.loop import Loop
from nfsfaults import actions as a
from nfsfaults.inside import Inside
from nfsfaults.names import BadPlan
from nfsfaults.plan import Link, Plan, Rule, Selector
from nfsserver import Server

DATA = os.urandom(200_000)
EACH = pytest.mark.parametrize("udp", [False, True], ids=["tcp", "udp"])


class Stage:
    """A server and clients on one loop."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.server = Server(seed=1)
        _, self.port = self.server.listen(self.loop)
        self.root = self.server.backend.handle_of(self.server.fs.root)

    def connect(self, plan: Plan, *, udp: bool = False, timeout: float = 5.0) -> tuple[RpcClient, Inside]:
        options: dict[str, t.Any] = {"first_interval": 0.05} if udp else {}
        options["source_port"] = 0
        make: t.Any = connect_udp if udp else connect_tcp
        rpc = make(
            "127.0.0.1",
            self.port,
            loop=self.loop,
            timeout=timeout,
            credential=AuthSys(0, 0),
            **options,
        )
        inside = Inside(plan)
        inside.attach(rpc)
        return rpc, inside


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    with closing(made.loop), closing(made.server):
        yield made


def on(operation: str, *actions: a.Action, kind: str = "call", nth: int | None = 1) -> Plan:
    return Plan((Rule(Selector(kind, operations=(operation,), nth=nth), actions),))  # type: ignore[arg-type]


@EACH
def test_what_no_rule_wants_passes(stage: Stage, udp: bool) -> None:
    rpc, inside = stage.connect(Plan(), udp=udp)
    limits = Limits(8192, 8192, 8192) if udp else Limits(1 << 16, 1 << 16, 8192)
    with NfsClient(rpc, stage.root, base=b"/export", limits=limits) as nfs:
        nfs.write_file("f", DATA)
        assert nfs.read_file("f") == DATA
    inside.close()


def test_addresses_are_the_real_ones(stage: Stage) -> None:
    rpc, _ = stage.connect(Plan())
    assert rpc.peer_address == ("127.0.0.1", stage.port)
    before = rpc.local_address
    for _ in range(5):
        rpc.reconnect(same_port=True)
        assert rpc.local_address == before
    assert Nfs3(rpc).getattr(stage.root).status == Nfsstat3.NFS3_OK
    rpc.close()


@pytest.mark.parametrize("kind", ["call", "reply"])
def test_a_lost_message_comes_again_over_udp(stage: Stage, kind: str) -> None:
    rpc, inside = stage.connect(on("MKDIR", a.Drop(), kind=kind), udp=True)
    assert Nfs3(rpc).mkdir(stage.root, b"d", nfs3.Sattr3()).status == Nfsstat3.NFS3_OK
    assert not inside.matcher.unfired
    rpc.close()


def test_a_lost_message_is_silence_over_tcp(stage: Stage) -> None:
    rpc, inside = stage.connect(on("GETATTR", a.Drop()), timeout=0.2)
    with pytest.raises(RpcTimeout):
        Nfs3(rpc).getattr(stage.root)
    assert Nfs3(rpc).getattr(stage.root).status == Nfsstat3.NFS3_OK
    assert inside.matcher.fired[0] == 1
    rpc.close()


@pytest.mark.parametrize("action", [a.Drop("close"), a.Drop("reset"), a.Reset(8), a.Truncate(30)])
@pytest.mark.parametrize("kind", ["call", "reply"])
def test_a_connection_ends(stage: Stage, action: a.Action, kind: str) -> None:
    rpc, _ = stage.connect(on("GETATTR", action, kind=kind))
    with pytest.raises(ConnectionLost):
        Nfs3(rpc).getattr(stage.root)
    rpc.reconnect()
    assert Nfs3(rpc).getattr(stage.root).status == Nfsstat3.NFS3_OK
    rpc.close()


@EACH
def test_a_doubled_call_has_two_replies(stage: Stage, udp: bool) -> None:
    rpc, _ = stage.connect(on("GETATTR", a.Duplicate()), udp=udp)
    Nfs3(rpc).getattr(stage.root)
    assert rpc.receive_record()
    rpc.close()


@pytest.mark.parametrize(
    "action", [a.Segments((1,)), a.Fragments((1, 0, 3)), a.Stall(0.01, at=9), a.Delay(0.01)]
)
@pytest.mark.parametrize("kind", ["call", "reply"])
def test_a_record_in_pieces_is_the_same_record(stage: Stage, action: a.Action, kind: str) -> None:
    rpc, inside = stage.connect(on("READ", action, kind=kind, nth=None))
    with NfsClient(rpc, stage.root, base=b"/export", limits=Limits(1 << 12, 1 << 12, 8192)) as nfs:
        nfs.write_file("f", DATA[:3000])
        assert nfs.read_file("f") == DATA[:3000]
    assert inside.matcher.fired[0]


def test_a_delay_is_that_of_the_loop(stage: Stage) -> None:
    rpc, _ = stage.connect(on("GETATTR", a.Delay(0.1)))
    began = stage.loop.clock()
    Nfs3(rpc).getattr(stage.root)
    assert stage.loop.clock() - began >= 0.1
    rpc.close()


def test_a_link_is_slow(stage: Stage) -> None:
    rpc, _ = stage.connect(Plan(links=(Link("server", latency=0.05), Link("client", latency=0.05))))
    began = stage.loop.clock()
    Nfs3(rpc).getattr(stage.root)
    assert stage.loop.clock() - began >= 0.1
    rpc.close()


@EACH
@pytest.mark.parametrize("via", ["same", "same-port", "other-port"])
def test_a_replay_goes_out(stage: Stage, udp: bool, via: a.Via) -> None:
    rpc, inside = stage.connect(on("MKDIR", a.Replay(0.05, via)), udp=udp)
    client = Nfs3(rpc)
    assert client.mkdir(stage.root, b"d", nfs3.Sattr3()).status == Nfsstat3.NFS3_OK
    port = rpc.local_address
    stage.loop.run_until(lambda: False, stage.loop.clock() + 0.1)
    assert not inside.failures
    assert client.getattr(stage.root).status == Nfsstat3.NFS3_OK
    assert rpc.local_address == port
    assert not inside.matcher.unfired
    rpc.close()


def test_a_forged_sender_is_refused() -> None:
    with pytest.raises(BadPlan, match="about packets"):
        Inside(on("NULL", a.Replay(via="forged")))


def test_the_wire_shows_what_passed_on_it(stage: Stage) -> None:
    passed: list[tuple[bool, bytes]] = []
    rpc = connect_tcp("127.0.0.1", stage.port, loop=stage.loop, credential=AuthSys(0, 0), timeout=0.2)
    rpc.on_wire = lambda sent, data, _: passed.append((sent, data))
    inside = Inside(on("GETATTR", a.Drop(), kind="reply"))
    inside.attach(rpc)
    with pytest.raises(RpcTimeout):
        Nfs3(rpc).getattr(stage.root)
    assert not passed[-1][0]  # the reply has come, and was lost afterwards
    rpc.close()


def test_a_half_closed_connection_gives_its_replies(stage: Stage) -> None:
    rpc, _ = stage.connect(on("GETATTR", a.Delay(0.05)))
    pending = rpc.submit(nfs3.GETATTR, nfs3.Getattr3Args(stage.root))
    rpc.shutdown_write()
    assert rpc.wait(pending).status == Nfsstat3.NFS3_OK
    rpc.close()

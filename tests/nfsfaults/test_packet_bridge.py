# SPDX-License-Identifier: MIT
"""Plans at the level of packets: a client and the embedded server in private networks, and a bridge between them."""

from __future__ import annotations

import os
import random
import typing as t
from collections.abc import Iterator, Sequence

import pytest

from nfsclient.errors import ConnectFailed, ConnectionLost, NfsClientError
from nfsclient.highlevel import Limits
from nfsclient.nfs3 import NfsClient
from nfsclient.protocol import nfs3
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.loop import Loop
from nfsclient.xdr import Void
from nfsfaults import actions as a
from nfsfaults.bridge.executor import NoNetworks, Packets, unable
from nfsfaults.plan import Link, Plan, Rule, Selector
from nfsfaults.with_scapy import NoScapy
from nfsserver import Server

pytest.importorskip("scapy", reason="scapy is not installed (extra `packet`)")

from nfsfaults.packet import making

DATA = os.urandom(100_000)
EACH = pytest.mark.parametrize("proto", ["tcp", "udp"])


class Stage:
    """A server and its clients, with a bridge between them."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.server = Server(seed=1)
        self.server.listen(self.loop)
        self.root = self.server.backend.handle_of(self.server.fs.root)
        self.packets: Packets | None = None
        self._clients: list[RpcClient] = []

    def bridge(self, *rules: Rule, links: Sequence[Link] = ()) -> Packets:
        try:
            self.packets = Packets(Plan(rules, tuple(links), seed=7), self.loop)
        except NoNetworks as error:
            pytest.skip(str(error))
        for sock in self.packets.server_sockets():
            self.server.listen_on(sock)
        return self.packets

    def connect(
        self, proto: t.Any, *rules: Rule, links: Sequence[Link] = (), timeout: float = 10
    ) -> RpcClient:
        packets = self.bridge(*rules, links=links)
        client = packets.connect(proto, timeout=timeout, credential=AuthSys(0, 0), first_interval=0.2)
        self._clients.append(client)
        return client

    @property
    def executed(self) -> int:
        """How many NULL calls the server has answered."""
        return self.server.pipeline.performed[nfs3.NULL]

    def close(self) -> None:
        for client in self._clients:
            client.close()
        if self.packets is not None:
            self.packets.close()
        self.server.close()
        self.loop.close()


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


def on(kind: t.Any, *actions: a.Action, nth: int | None = 1, procedure: str = "NULL") -> Rule:
    return Rule(Selector(kind, "nfs", 3, (procedure,), nth=nth), actions)


def null(client: RpcClient) -> None:
    client.call(nfs3.NULL, Void())


@EACH
def test_what_no_rule_wants_passes(stage: Stage, proto: t.Any) -> None:
    rpc = stage.connect(proto)
    limits = Limits(8192, 8192, 8192) if proto == "udp" else Limits(1 << 16, 1 << 16, 8192)
    with NfsClient(rpc, stage.root, base=b"/export", limits=limits) as nfs:
        nfs.write_file("f", DATA)
        assert nfs.read_file("f") == DATA


@EACH
@pytest.mark.parametrize("kind", ["call", "reply"])
@pytest.mark.parametrize(
    "action", [a.LosePackets(), a.BadChecksum("transport"), a.BadChecksum("network")], ids=str
)
def test_lost_and_damaged_packets_are_sent_again(
    stage: Stage, proto: t.Any, kind: str, action: a.Action
) -> None:
    rpc = stage.connect(proto, on(kind, action))
    null(rpc)
    assert stage.packets is not None
    assert stage.packets.unfired == []
    assert stage.executed == (2 if proto == "udp" and kind == "reply" else 1)


def test_a_segment_is_lost_again(stage: Stage) -> None:
    rpc = stage.connect("tcp", on("call", a.LosePackets(times=2)))
    before = stage.loop.clock()
    null(rpc)
    assert stage.loop.clock() - before > 0.4  # the kernel waits 0.2 seconds, then twice as long
    assert stage.executed == 1


@pytest.mark.parametrize("via", ["forged", "same", "same-port", "other-port"])
def test_a_datagram_is_replayed(stage: Stage, via: a.Via) -> None:
    senders: list[tuple[str, int]] = []
    stage.server.interpose(
        nfs3.NULL, lambda _server, context, args, proceed: _note(senders, context, args, proceed)
    )
    rpc = stage.connect(
        "udp", on("call", a.Replay(0.0, via)), on("call", a.LosePackets(), procedure="ACCESS")
    )
    null(rpc)
    stage.loop.run_until(lambda: stage.executed == 2, stage.loop.clock() + 5)
    (host, port), (other_host, other_port) = senders
    assert (host, port) == rpc.local_address
    assert (host == other_host, port == other_port) == (via != "forged", via != "other-port")
    assert stage.packets is not None
    assert stage.packets.unfired == ["lose-packets on call of ACCESS (nth 1)"]


def _note(senders: list[tuple[str, int]], context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
    senders.append(context.peer)
    return proceed(context, args)


@EACH
def test_doubled_packets(stage: Stage, proto: t.Any) -> None:
    """Over UDP the call is executed twice; TCP leaves one of the segments out."""
    rpc = stage.connect(proto, on("call", a.DoublePackets(2)))
    null(rpc)
    null(rpc)
    stage.loop.catch_up()
    assert stage.executed == (4 if proto == "udp" else 2)


@EACH
def test_late_packets_are_passed_by_others(stage: Stage, proto: t.Any) -> None:
    """The first call waits until the second has gone, or its own second sending."""
    rpc = stage.connect(proto, on("call", a.LatePackets(packets=1, seconds=5)))
    first = rpc.submit(nfs3.NULL, Void())
    second = rpc.submit(nfs3.NULL, Void())
    rpc.wait(second)
    rpc.wait(first)


@pytest.mark.parametrize(
    "action",
    [
        a.SplitSegment((7,)),
        a.SplitSegment((1,)),
        a.SplitSegment((30, 8, 100), overlap=5),
        a.SplitSegment((20,), overlap=60, reverse=True),
        a.SplitSegment((11,), reverse=True),
    ],
    ids=str,
)
def test_segments_in_pieces_are_the_same_stream(stage: Stage, action: a.Action) -> None:
    rpc = stage.connect(
        "tcp", on("call", action, procedure="WRITE", nth=None), on("reply", action, procedure="READ")
    )
    with NfsClient(rpc, stage.root, base=b"/export", limits=Limits(1 << 15, 1 << 15, 8192)) as nfs:
        nfs.write_file("f", DATA)
        assert nfs.read_file("f") == DATA
    assert stage.packets is not None
    assert stage.packets.unfired == []


@pytest.mark.parametrize(("number", "survives"), [("next", False), ("inside", True), ("outside", True)])
def test_a_forged_reset_counts_only_with_its_exact_number(
    stage: Stage, number: t.Any, survives: bool
) -> None:
    """RFC 5961 section 3.2: inside of the window it is challenged, outside of it ignored."""
    rpc = stage.connect("tcp", on("reply", a.ForgeReset("client", number)))
    null(rpc)
    stage.loop.catch_up()
    if survives:
        null(rpc)
        return
    with pytest.raises(ConnectionLost):
        null(rpc)


def test_a_reset_toward_the_server(stage: Stage) -> None:
    rpc = stage.connect("tcp", on("call", a.LosePackets(), a.ForgeReset("server")), timeout=3)
    with pytest.raises(NfsClientError):
        null(rpc)
    assert stage.executed == 0
    rpc.reconnect()
    null(rpc)


@pytest.mark.parametrize("toward", ["server", "client"])
def test_a_lost_syn_is_sent_again(stage: Stage, toward: t.Any) -> None:
    before = stage.loop.clock()
    rpc = stage.connect("tcp", links=[Link(toward, lost_syns=1)])
    assert stage.loop.clock() - before > 0.9  # RFC 6298 section 2.1
    null(rpc)
    assert stage.packets is not None
    assert stage.packets.unfired == []


def test_a_lost_syn_that_nobody_sends_is_reported(stage: Stage) -> None:
    stage.connect("udp", links=[Link("server", lost_syns=1)])
    assert stage.packets is not None
    assert stage.packets.unfired == ["the SYN toward the server was not lost"]


def test_a_connection_that_loses_every_syn_fails_in_time(stage: Stage) -> None:
    with pytest.raises(ConnectFailed, match="no answer in time"):
        stage.connect("tcp", links=[Link("server", lost_syns=9)], timeout=0.1)


@pytest.mark.parametrize(
    ("action", "sendings"),
    [
        (a.IpFragments(512), 1),
        (a.IpFragments(512, reverse=True), 1),
        (a.IpFragments(512, lose=1), 2),
        (a.IpFragments(512, lose=99), 2),
    ],
    ids=str,
)
def test_ip_fragments(stage: Stage, action: a.Action, sendings: int) -> None:
    rpc = stage.connect("udp", on("call", action, procedure="WRITE"))
    with NfsClient(rpc, stage.root, base=b"/export", limits=Limits(8192, 8192, 8192)) as nfs:
        nfs.write_file("f", DATA[:8192])
        assert nfs.read_file("f") == DATA[:8192]
    assert stage.packets is not None
    seen = stage.packets.matcher.seen[0]
    assert seen == sendings


def test_overlapping_ip_fragments_are_whole_or_lost(stage: Stage) -> None:
    """What a kernel makes of them is its own affair; the data must be right."""
    rpc = stage.connect("udp", on("call", a.IpFragments(1024, overlap=512), procedure="WRITE"))
    with NfsClient(rpc, stage.root, base=b"/export", limits=Limits(8192, 8192, 8192)) as nfs:
        nfs.write_file("f", DATA[:8192])
        assert nfs.read_file("f") == DATA[:8192]


def test_a_link_has_a_rate(stage: Stage) -> None:
    rpc = stage.connect("tcp", links=[Link("server", rate=500_000, burst=2000)])
    before = stage.loop.clock()
    with NfsClient(rpc, stage.root, base=b"/export", limits=Limits(1 << 15, 1 << 15, 8192)) as nfs:
        nfs.write_file("f", DATA)
        assert stage.loop.clock() - before > len(DATA) / 500_000 - 0.01
        assert nfs.read_file("f") == DATA


@EACH
def test_a_link_has_latency_and_loss(stage: Stage, proto: t.Any) -> None:
    rpc = stage.connect(proto, links=[Link("server", latency=0.01, loss=0.2)])
    before = stage.loop.clock()
    for _ in range(5):
        null(rpc)
    assert stage.loop.clock() - before > 0.05


def test_messages_of_udp_have_all_other_actions_too(stage: Stage) -> None:
    rules = [
        on("call", a.Delay(0.05), nth=1),
        on("reply", a.SetField("header.xid", 1), nth=2),
        on("call", a.LosePackets(), nth=4),
    ]
    rpc = stage.connect("udp", *rules)
    for _ in range(3):
        null(rpc)
    assert stage.packets is not None
    assert stage.packets.unfired == []


def test_what_a_transport_lacks_is_reported_in_advance() -> None:
    assert "needs TCP" in unable(Plan((on("call", a.SplitSegment((1,))),)), "udp")
    assert "needs UDP" in unable(Plan((on("call", a.Replay(via="forged")),)), "tcp")
    assert "segments" in unable(Plan((on("call", a.IpFragments()),)), "tcp")
    assert "segments" in unable(Plan((on("call", a.Delay(1)),)), "tcp")
    assert unable(Plan((on("call", a.LosePackets(), a.ForgeReset()),)), "tcp") == ""
    assert unable(Plan((on("call", a.Delay(1), a.IpFragments()),)), "udp") == ""


def test_what_cannot_be_done_to_a_segment_is_a_failure(stage: Stage) -> None:
    rpc = stage.connect("tcp", on("call", a.LosePackets(), a.Delay(1)))
    null(rpc)
    assert stage.packets is not None
    assert "not every action" in stage.packets.failures[0]


ON_TCP: t.Final[list[a.Action]] = [
    a.LosePackets(),
    a.DoublePackets(),
    a.LatePackets(packets=2, seconds=0.01),
    a.BadChecksum(),
    a.SplitSegment((100, 3, 1000), overlap=7),
    a.SplitSegment((700,), overlap=30, reverse=True),
    a.ForgeReset("client", "outside"),
    a.ForgeReset("server", "inside"),
]
ON_UDP: t.Final[list[a.Action]] = [
    a.LosePackets(),
    a.DoublePackets(),
    a.LatePackets(packets=1, seconds=0.01),
    a.BadChecksum("network"),
    a.IpFragments(256, reverse=True),
    a.IpFragments(256, lose=2),
    a.IpFragments(512, overlap=8),
    a.Replay(0.01, "forged"),
    a.Delay(0.01),
]


@pytest.mark.parametrize("seed", range(5))
@EACH
def test_the_library_comes_through_random_plans(stage: Stage, proto: t.Any, seed: int) -> None:
    """What is read is what was written, whatever happens to every few packets on their way."""
    chosen = random.Random(seed)
    actions = ON_TCP if proto == "tcp" else ON_UDP
    rules = [
        Rule(
            Selector(chosen.choice(["call", "reply"]), every=chosen.randint(3, 9)),
            (chosen.choice(actions),),
            must_fire=False,
        )
        for _ in range(3)
    ]
    rpc = stage.connect(proto, *rules)
    with NfsClient(rpc, stage.root, base=b"/export", limits=Limits(8192, 8192, 8192)) as nfs:
        nfs.write_file("f", DATA)
        assert nfs.read_file("f") == DATA
    assert stage.packets is not None
    assert stage.packets.matcher.firings


# ---------------------------------------------------------------- fields and functions


def where(kind: t.Any, test: t.Callable[[t.Any], bool], *actions: a.Action) -> Rule:
    return Rule(Selector(kind, "nfs", 3, ("NULL",), where=test, nth=1, reads_packets=True), actions)


@EACH
def test_a_rule_looks_at_fields_of_packets(stage: Stage, proto: t.Any) -> None:
    """Of whatever layer; one that is not there matches nothing."""

    def is_mine(packet: t.Any) -> bool:
        return int((packet.TCP if proto == "tcp" else packet.UDP).dport) == 2049

    never = where("call", lambda message: message.packet.Write3Args.offset == 0, a.LosePackets())
    rpc = stage.connect(
        proto,
        never,
        where(
            "call",
            lambda message: (
                is_mine(message.packet) and message.packet.RpcCall.vers == 3 and message.packet.IP.ttl == 64
            ),
            a.LosePackets(),
        ),
        where(
            "reply",
            lambda message: type(message.packet.Nfs3NullReply).__name__ == "Nfs3NullReply",
            a.LosePackets(),
        ),
    )
    null(rpc)
    assert stage.packets is not None
    assert stage.packets.unfired == [never.label]


@EACH
def test_a_field_of_a_packet_is_changed(stage: Stage, proto: t.Any) -> None:
    """A TTL of 1 is enough here; a wrong version of RPC is refused; lengths and checksums are right."""
    rpc = stage.connect(
        proto,
        on("call", a.ChangePacket("IP.ttl", 1)),
        on("call", a.ChangePacket("RpcCall.rpcvers", 3), nth=2),
    )
    null(rpc)
    with pytest.raises(NfsClientError, match="refused RPC version 2"):
        null(rpc)


@EACH
def test_a_function_of_the_user_gets_packets(stage: Stage, proto: t.Any) -> None:
    seen: list[str] = []

    def look(packet: t.Any) -> t.Any:
        seen.append(type(packet).__name__)
        return None if len(seen) == 1 else [packet, packet]

    rpc = stage.connect(proto, on("call", a.CallFunction("tests:look", look), nth=None))
    null(rpc)
    stage.loop.catch_up()
    assert stage.executed == (2 if proto == "udp" else 1)
    # TCP sends a lost segment again, which is not the beginning of a record any more.
    assert seen == (["IP", "IP"] if proto == "udp" else ["IP"])
    assert stage.packets is not None
    assert stage.packets.failures == []


@EACH
def test_a_function_that_fails_lets_the_packet_pass(stage: Stage, proto: t.Any) -> None:
    def fail(packet: t.Any) -> t.Any:
        raise KeyError("no such\nthing")

    rpc = stage.connect(proto, on("call", a.CallFunction("tests:fail", fail)))
    null(rpc)
    assert stage.packets is not None
    (failure,) = stage.packets.failures
    assert failure.startswith("tests:fail with IP / ")
    assert failure.endswith("KeyError: 'no such\\nthing'")


@EACH
def test_frames_that_no_rule_touches_are_the_same_bytes(
    stage: Stage, proto: t.Any, monkeypatch: t.Any
) -> None:
    """Nothing is made for messages that pass, wait, are lost or come twice."""
    rules = [
        on("call", a.DoublePackets(), nth=2),
        on("reply", a.LatePackets(1, 0.01)),
        on("call", a.LosePackets(), nth=3),
    ]
    if proto == "udp":
        rules.append(on("call", a.Delay(0.01), nth=4))
    rpc = stage.connect(proto, *rules)
    for name in ("datagram", "segment", "reset"):
        monkeypatch.setattr(making, name, lambda *_: pytest.fail("a packet was made"))
    for _ in range(5):
        null(rpc)
    assert stage.packets is not None
    assert stage.packets.unfired == []


def test_nothing_begins_without_scapy(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, before a network is made."""

    def missing(name: str) -> t.NoReturn:
        raise ModuleNotFoundError("No module named 'scapy'", name="scapy")

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(NoScapy) as refused:
        Packets(Plan((on("call", a.LosePackets()),)), Loop())
    assert str(refused.value) == "needs scapy: python -m pip install 'scapy>=2.6'"

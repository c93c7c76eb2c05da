# SPDX-License-Identifier: MIT
"""Workloads over UDP: what is lost is sent again, counted, and judged once."""

from __future__ import annotations

import socket
import typing as t
from collections import Counter
from collections.abc import Callable
from contextlib import closing

import pytest

from nfsclient.rpc.loop import Loop
from nfsjudge.verdict import Verdict
from nfsproof import workloading
from nfsproof.exits import Trouble
from nfsserver.server import Server
from nfsserver.transport import AnswerDatagram, TransportMiddleware
from nfstargets import TargetAddress
from tests.workloads.rig import calls_of, run
from workloads.channels import RESENT
from workloads.policies import POLICIES
from workloads.result import Result

_NFS = (100003).to_bytes(4, "big")
_WRITE, _REMOVE, _COMMIT = 7, 12, 21


class _Mute:
    """Sends nothing."""

    def sendto(self, _data: bytes, _peer: object) -> None:
        pass


class _Losing(TransportMiddleware):
    """Datagrams of NFS that do not arrive, or of which the reply does not."""

    def __init__(self, loses: Callable[[int, int], str]) -> None:
        self._loses = loses
        self.seen = Counter[bytes]()
        self.number = 0
        self.silent = -1
        """A procedure that is never answered."""

    def around_calls(self, _operation: object, /) -> tuple[()]:
        return ()

    def around_messages(self) -> tuple[()]:
        return ()

    def below_messages(self) -> tuple[TransportMiddleware, ...]:
        return (self,)

    def answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
    ) -> None:
        """As `loses` says of the number of the call and its procedure, the first time that it comes."""
        self.seen[message[:4]] += 1
        procedure = int.from_bytes(message[20:24], "big")
        if message[12:16] == _NFS and procedure == self.silent:
            return
        if message[12:16] != _NFS or self.seen[message[:4]] > 1:
            proceed(sock, message, peer)
            return
        self.number += 1
        what = self._loses(self.number, procedure)
        if what == "call":
            return
        if what == "reply":
            proceed(t.cast("socket.socket", _Mute()), message, peer)
            return
        proceed(sock, message, peer)
        if what == "twice":
            proceed(sock, message, peer)


def _run(
    workload: str, loses: Callable[[int, int], str] = lambda _number, _procedure: "", **more: t.Any
) -> tuple[Result, _Losing]:
    losing = _Losing(loses)
    losing.silent = more.pop("silent", -1)
    knobs = more.pop("knobs", {})

    def prepare(server: Server) -> None:
        server.surround(losing)
        for name, value in knobs.items():
            server.knobs.set(name, value)

    return run(workload, prepare=prepare, transport="udp", **more), losing


@pytest.mark.parametrize("version", ["2", "3"])
def test_counts_are_those_of_tcp(version: str) -> None:
    for workload in ("write10", "find"):
        policy = "raw" if workload == "write10" else f"v{version}-like"
        assert policy in POLICIES
        over_udp, losing = _run(workload, version=version, policy=policy)
        over_tcp = run(workload, version=version, policy=policy)
        assert (over_udp.verdict, over_udp.reasons) == (Verdict.PASS, ())
        assert over_udp.setup.transport == "udp"
        assert [phase.calls for phase in over_udp.phases] == [phase.calls for phase in over_tcp.phases]
        assert [(phase.sent, phase.received) for phase in over_udp.phases] == [
            (phase.sent, phase.received) for phase in over_tcp.phases
        ]
        assert losing.number >= sum(sum(phase.calls.values()) for phase in over_udp.phases)
        assert RESENT not in over_udp.troubles


def test_what_is_lost_is_sent_again_and_counts_once() -> None:
    writes = Counter[str]()

    def loses(_number: int, procedure: int) -> str:
        writes["all"] += procedure == _WRITE
        return {2: "call", 4: "reply", 5: "twice"}.get(writes["all"], "") if procedure == _WRITE else ""

    result, losing = _run("write10", loses, version="3", window=4)
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert calls_of(result, "write") == {"CREATE": 1, "WRITE": 8, "COMMIT": 1}
    assert result.troubles == {RESENT: 2}
    assert sorted(losing.seen.values())[-3:] == [1, 2, 2]
    assert result.findings == ()


def test_a_call_that_changes_names_is_not_judged_by_the_reply_of_its_second_execution() -> None:
    """A server without a memory of calls carries REMOVE out twice, and the second time there is no such file."""
    removals = Counter[str]()

    def loses(_number: int, procedure: int) -> str:
        removals["all"] += procedure == _REMOVE
        return "reply" if procedure == _REMOVE and removals["all"] == 1 else ""

    result, _ = _run("connectathon-basic", loses, version="3", knobs={"replay_cache": False})
    assert result.verdict is Verdict.VOID
    (reason,) = result.reasons
    assert reason.startswith("retransmission: REMOVE was sent 2 times")


def test_the_same_with_a_memory_of_calls_goes_on() -> None:
    removals = Counter[str]()

    def loses(_number: int, procedure: int) -> str:
        removals["all"] += procedure == _REMOVE
        return "reply" if procedure == _REMOVE and removals["all"] == 1 else ""

    result, _ = _run("connectathon-basic", loses, version="3")
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())


def test_a_call_that_is_never_answered_ends_the_run() -> None:
    result, losing = _run("write10", version="3", timeout=1.0, silent=_COMMIT)
    assert result.verdict is Verdict.VOID
    assert result.reasons[0].startswith("connection: close: COMMIT ")
    assert max(losing.seen.values()) == 2


def test_wrong_data_over_udp_is_red() -> None:
    result, _ = _run("write10", version="3", mutants=frozenset({"read3-over-udp-zeroes-the-last-byte"}))
    assert result.verdict is Verdict.FAIL


def test_wrong_data_after_a_call_that_was_sent_again_is_no_verdict() -> None:
    """A call that was late on its way may be carried out after those that were made after it."""
    result, _ = _run(
        "write10",
        lambda _number, procedure: "call" if procedure == _COMMIT else "",
        version="3",
        mutants=frozenset({"read3-over-udp-zeroes-the-last-byte"}),
    )
    assert result.verdict is Verdict.VOID
    assert result.reasons[0].startswith("retransmission: calls were sent again over UDP")


def test_what_udp_cannot_do_is_refused() -> None:
    for more, why in (
        ({"version": "4.1"}, "NFSv4.1 does not run over UDP"),
        ({"version": "3", "rsize": 65536}, "expected at most 32768 bytes"),
    ):
        wish = workloading.Wish(
            workload="write10", target="embedded", transport="udp", **t.cast("dict[str, t.Any]", more)
        )
        with pytest.raises(Trouble, match=why):
            workloading.run(wish, say=lambda _line: None)


def test_a_url_says_it_too() -> None:
    with closing(Loop()) as loop, closing(Server()) as server:
        server.listen(loop)
        address = TargetAddress(
            host="127.0.0.1", nfs_port=server.port, mount_port=server.port, proto="udp", version=2
        )
        order = workloading.order_of(workloading.Wish(workload="write10"), address, 1)
        assert (order.transport, order.version, order.rsize) == ("udp", "2", 8192)

# SPDX-License-Identifier: MIT
"""The proxy between real clients and the embedded server: what it passes, what it disturbs, and what it survives."""

from __future__ import annotations

import gc
import os
import socket
import time
import warnings

import pytest

from nfsclient.clients import Nfs3, Portmap
from nfsclient.errors import ConnectionLost, RpcTimeout
from nfsclient.protocol import mount, nfs3
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import connect_tcp
from nfsfaults import actions as a
from nfsfaults.names import BadPlan
from nfsfaults.plan import Link, Plan, Rule, Selector
from nfsfaults.proxy import Proxy
from nfsfaults.proxy_sockets import Settings
from tests.nfsfaults.messages import call, framed
from tests.nfsfaults.proxied import Proxied

DATA = os.urandom(3 << 20)


def on(operation: str, *actions: a.Action, kind: str = "call", nth: int | None = 1) -> Plan:
    return Plan((Rule(Selector(kind, operations=(operation,), nth=nth), actions),))  # type: ignore[arg-type]


def wait_until(condition: object, seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:  # type: ignore[operator]
        time.sleep(0.005)
    assert condition()  # type: ignore[operator]


@pytest.mark.parametrize("udp", [False, True])
def test_files_pass_unchanged(udp: bool) -> None:
    data = DATA[: 64 << 10] if udp else DATA
    with Proxied() as stage, stage.files(udp=udp) as nfs:
        nfs.write_file("f", data)
        assert nfs.read_file("f") == data
        assert nfs.listdir("") == ["f"]
        assert stage.notes == []


def test_bytes_are_the_same_on_both_sides() -> None:
    with Proxied() as stage, stage.connect(fragment_sizes=[5, 0, 30]) as rpc:
        for _ in range(3):
            Nfs3(rpc).getattr(stage.root)
        rpc.send_record(bytes(30))  # no call: it passes all the same

        def stream(side: str, sent: bool) -> bytes:
            return b"".join(part.data for part in stage.passed if (part.side, part.sent) == (side, sent))

        wait_until(
            lambda: len(stream("client", False)) > 300 and stream("client", False) == stream("server", True)
        )
        assert stream("server", False).startswith(stream("client", True))


def test_a_lost_reply_is_found_in_the_cache_of_the_server() -> None:
    """Over UDP the call is sent again from the same port, by which the cache knows it."""
    with Proxied(on("REMOVE", a.Drop(), kind="reply")) as stage, stage.files(udp=True) as nfs:
        nfs.write_file("f", b"")
        nfs.remove("f")
        assert not nfs.exists("f")
        assert stage.proxy.matcher.fired[0] == 1


def test_a_call_from_another_port_is_executed_again() -> None:
    plan = on("REMOVE", a.Drop(then="reset"), kind="reply")
    with Proxied(plan) as stage, stage.files() as nfs:
        nfs.write_file("f", b"")
        with pytest.raises(FileNotFoundError) as caught:
            nfs.remove("f")
        assert caught.value.__notes__ == [
            "the call was sent 2 times: an earlier one may have been carried out"
        ]


def test_a_lost_call_is_silence() -> None:
    with Proxied(on("GETATTR", a.Drop())) as stage, stage.connect(timeout=0.3) as rpc:
        with pytest.raises(RpcTimeout):
            Nfs3(rpc).getattr(stage.root)
        assert Nfs3(rpc).getattr(stage.root).status == nfs3.Nfsstat3.NFS3_OK


@pytest.mark.parametrize("udp", [False, True])
def test_a_duplicated_call_has_two_replies(udp: bool) -> None:
    with Proxied(on("GETATTR", a.Duplicate())) as stage, stage.connect(udp=udp) as rpc:
        Nfs3(rpc).getattr(stage.root)
        assert rpc.receive_record()  # the second one


def test_a_delay_takes_its_time() -> None:
    with Proxied(on("GETATTR", a.Delay(0.2), nth=None)) as stage, stage.connect() as rpc:
        Nfs3(rpc).null()
        began = time.monotonic()
        Nfs3(rpc).getattr(stage.root)
        assert time.monotonic() - began >= 0.2


def test_replies_are_reordered() -> None:
    plan = on("ACCESS", a.Hold(messages=1), kind="reply")
    with Proxied(plan) as stage, stage.connect() as rpc:
        first = rpc.submit(nfs3.ACCESS, nfs3.Access3Args(stage.root, 1))
        second = rpc.submit(nfs3.GETATTR, nfs3.Getattr3Args(stage.root))
        assert rpc.wait(first).status == rpc.wait(second).status == nfs3.Nfsstat3.NFS3_OK
        sent = [part.data for part in stage.passed if part.side == "client" and part.sent]
        assert [int.from_bytes(data[4:8], "big") for data in sent] == [second.xid, first.xid]


@pytest.mark.parametrize(
    "action",
    [a.Segments((1,)), a.Fragments((1, 0, 3)), a.Stall(0.05, at=9)],
    ids=["segments", "fragments", "stall"],
)
@pytest.mark.parametrize("kind", ["call", "reply"])
def test_a_record_in_pieces_is_the_same_record(action: a.Action, kind: str) -> None:
    with Proxied(on("READ", action, kind=kind, nth=None)) as stage, stage.files() as nfs:
        nfs.write_file("f", DATA[:3000])
        assert nfs.read_file("f") == DATA[:3000]
        assert stage.proxy.matcher.fired[0]


@pytest.mark.parametrize("action", [a.Truncate(30), a.Reset(10)], ids=["truncate", "reset"])
@pytest.mark.parametrize("kind", ["call", "reply"])
def test_a_cut_record_ends_the_connection_and_others_go_on(action: a.Action, kind: str) -> None:
    with (
        Proxied(on("GETATTR", action, kind=kind)) as stage,
        stage.connect() as rpc,
        stage.connect() as bystander,
    ):
        with pytest.raises(ConnectionLost):
            Nfs3(rpc).getattr(stage.root)
        assert Nfs3(bystander).getattr(stage.root).status == nfs3.Nfsstat3.NFS3_OK


def test_a_replay_on_the_same_port_replaces_the_connection() -> None:
    plan = on("MKDIR", a.Replay(0.5, "same-port"))
    with Proxied(plan) as stage, stage.files() as nfs:
        nfs.mkdir("d")
        ports = {part.local[1] for part in stage.passed if part.side == "server"}
        wait_until(lambda: sum(part.side == "server" and part.sent for part in stage.passed) >= 2)
        wait_until(lambda: nfs.session.rpc.core.strays or nfs.exists("d"))
        assert {part.local[1] for part in stage.passed if part.side == "server"} == ports
        assert nfs.exists("d")
        assert stage.notes == []


def test_a_replay_from_another_port_is_executed_where_no_cache_knows_it() -> None:
    plan = on("REMOVE", a.Replay(0.0, "other-port"))
    with Proxied(plan) as stage, stage.files() as nfs:
        nfs.write_file("f", b"")
        nfs.remove("f")
        assert not nfs.exists("f")
        assert stage.notes == []


def test_a_changed_field_reaches_the_server() -> None:
    plan = on("GETATTR", a.SetField("header.vers", 9))
    with Proxied(plan) as stage, stage.connect() as rpc, pytest.raises(Exception, match="version"):
        Nfs3(rpc).getattr(stage.root)


def test_a_link_is_slow() -> None:
    plan = Plan(links=(Link("server", latency=0.05), Link("client", latency=0.05)))
    with Proxied(plan) as stage, stage.connect() as rpc:
        began = time.monotonic()
        Nfs3(rpc).getattr(stage.root)
        assert time.monotonic() - began >= 0.1


def test_the_port_of_the_client_is_kept() -> None:
    # The client has another address, since on one machine a port cannot be used twice by the same one.
    with (
        Proxied(source_port="same") as stage,
        socket.create_connection(("127.0.0.1", stage.port), 5.0, ("127.0.0.2", 0)) as sock,
    ):
        sock.sendall(framed(call("READ")))
        assert sock.recv(4096)
        assert {part.local[1] for part in stage.passed if part.side == "server"} == {sock.getsockname()[1]}


def test_rpcbind_names_the_ports_of_the_proxy() -> None:
    with Proxied(rpcbind=True) as stage:
        with stage.connect() as rpc:
            port = Portmap(rpc).getport(nfs3.NFS3.number, 3)
            mounts = Portmap(rpc).getport(mount.MOUNT3.number, 3)
            assert port == mounts != stage.server_port
            assert {mapping.port for mapping in Portmap(rpc).dump()} == {port}
        with connect_tcp("127.0.0.1", port, credential=AuthSys(0, 0)) as nfs:
            assert Nfs3(nfs).getattr(stage.root).status == nfs3.Nfsstat3.NFS3_OK


def test_garbage_from_either_side_is_survived() -> None:
    with Proxied(on("WRITE", a.Drop())) as stage:
        for data in [b"\xff" * 100, bytes(100), framed(b"x"), b"GET / HTTP/1.0\r\n\r\n" * 10]:
            with socket.create_connection(("127.0.0.1", stage.port)) as sock:
                sock.sendall(data)
        with stage.connect() as rpc:
            Nfs3(rpc).null()
        wait_until(lambda: len(stage.proxy.connections) == 0)


def test_a_server_that_is_gone_is_said() -> None:
    with Proxied() as stage:
        stage.stop_server()
        with pytest.raises(ConnectionLost), stage.connect() as rpc:
            Nfs3(rpc).null()
        wait_until(lambda: stage.notes)
        assert f"cannot connect to 127.0.0.1 port {stage.server_port}" in stage.notes[0]


def test_many_connections_come_and_go() -> None:
    with Proxied() as stage:
        clients = [stage.connect() for _ in range(200)]
        for rpc in clients:
            Nfs3(rpc).null()
        for rpc in clients:
            rpc.close()
        wait_until(lambda: not stage.proxy.connections)
        assert stage.notes == []


@pytest.mark.parametrize("rule", [None, on("READ", a.Reset(), nth=None)], ids=["accepted", "reset"])
def test_nothing_is_open_when_the_proxy_has_closed(rule: Plan | None) -> None:
    """Neither what was accepted a moment ago, nor what is to be reset a moment later."""
    gc.collect()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(5):
            with Proxied(rule) as stage:
                sockets = [socket.create_connection(("127.0.0.1", stage.port)) for _ in range(20)]
                if rule is not None:
                    for each in sockets:
                        each.sendall(framed(call("READ")))
            for each in sockets:
                each.close()
        gc.collect()
    assert [str(each.message) for each in caught if each.category is ResourceWarning] == []


def test_a_forged_sender_is_refused_at_once() -> None:
    with pytest.raises(BadPlan, match="about packets"):
        Proxy(Settings(("127.0.0.1", 1)), on("NULL", a.Replay(via="forged")))

# SPDX-License-Identifier: MIT
"""A server in the network of the process: reached by a device that is there, or by one that the bridge makes.

The program runs apart, because it enters networks. `tap0` stands for the cable to a virtual machine: others use it too.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nfsfaults.bridge.networks import Networks, NoNetworks
from tests.waiting import AT_MOST

pytest.importorskip("scapy", reason="scapy is not installed (extra `packet`)")

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import socket, sys
from nfsclient.protocol import nfs3
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.loop import Loop
from nfsclient.xdr import Void
from nfsfaults import actions as a
from nfsfaults.bridge import keeper, rtnetlink
from nfsfaults.bridge.executor import Packets, Place
from nfsfaults.plan import Plan, Rule, Selector
from nfsserver import Server

way, proto = sys.argv[1:]
networks = keeper._Networks(is_here=False)  # from now on this process is in a private network
loop, server = Loop(), Server(seed=1)
server.listen(loop)
if way != "new":
    # The guest is another network, and tap0 the cable to it, on which this process has an address, too.
    rtnetlink.add_pair("tap0", "eth0", mac=b"\\2\\0\\0\\0\\2\\2", peer_namespace=networks.sides["server"])
    rtnetlink.offload_nothing("tap0")
    rtnetlink.set_up("lo")
    rtnetlink.set_up("tap0")
    rtnetlink.add_address("tap0", "192.0.2.1", 24)
    networks.enter(networks.sides["server"])
    if way == "device":
        rtnetlink.offload_nothing("eth0")
    rtnetlink.set_up("eth0")
    rtnetlink.add_address("eth0", "192.0.2.2", 24)
    place = Place("192.0.2.2", "192.0.2.17", "192.0.2.254", is_here=True, device="tap0", number=7)
else:
    rtnetlink.set_up("lo")
    place = Place("198.18.9.1", "198.18.9.2", "198.18.9.77", is_here=True, number=9)
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    sock = socket.socket(socket.AF_INET, kind)
    sock.bind(("", 20490))
    if kind == socket.SOCK_STREAM:
        sock.listen(5)
    server.listen_on(sock)
networks.enter(networks.bridge)
peers = []

def note(_server, context, args, proceed):
    peers.append(context.peer[0])
    return proceed(context, args)

server.interpose(nfs3.NULL, note)
for turn in range(2):  # the second finds nothing of the first
    actions = [a.Replay(via="forged")] if proto == "udp" else [a.BadChecksum()]
    rules = [Rule(Selector("call", procedure, 3, ("NULL",), nth=1), tuple(actions)) for procedure in ["nfs"]]
    packets = Packets(Plan(tuple(rules)), loop, place, 20490)
    rpc = packets.connect(proto, timeout=10, credential=AuthSys(0, 0), first_interval=0.2)
    for _ in range(2):
        rpc.call(nfs3.NULL, Void())
    loop.catch_up()
    print(packets.unfired, packets.failures, sorted(set(peers)), flush=True)
    rpc.close()
    packets.close()
    loop.catch_up()
print(sorted(name for _, name in socket.if_nameindex()))
"""


@pytest.mark.parametrize("proto", ["tcp", "udp"])
@pytest.mark.parametrize("way", ["device", "without-checksums", "new"])
def test_a_server_in_this_network(way: str, proto: str) -> None:
    """Also if the server leaves checksums to its device, as a guest whose kernel cannot be kept from it."""
    try:
        Networks().close()
    except NoNetworks as error:
        pytest.skip(str(error))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, way, proto],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=AT_MOST,
    )
    assert done.returncode == 0, done.stderr
    client, forged = ("192.0.2.17", "192.0.2.254") if way != "new" else ("198.18.9.2", "198.18.9.77")
    peers = [client, forged] if proto == "udp" else [client]
    *turns, devices = done.stdout.splitlines()
    assert turns == [f"[] [] {peers}"] * 2
    assert devices == str(["lo", "tap0"] if way != "new" else ["lo"])

# SPDX-License-Identifier: MIT
"""portmap and rpcbind of the reference server: three views of one registry (RFC 1833)."""

from __future__ import annotations

import time
import typing as t

import pytest

from nfsclient.clients import Mount, Portmap, Rpcbind
from nfsclient.errors import GarbageArgs, ProcUnavail, ProgUnavail, RpcTimeout, SystemErr
from nfsclient.protocol import mount, portmap, rpcbind
from nfsclient.protocol.portmap import IPPROTO_TCP, IPPROTO_UDP, Mapping
from nfsclient.protocol.rpcbind import Rpcb, from_universal, to_universal
from nfsclient.rpc.auth import AuthNone, Credential
from nfsclient.rpc.messages import CallHeader, MsgType, OpaqueAuth, ReplyHeader
from nfsclient.xdr import Void, XdrType
from nfsserver import Server
from nfsserver.bounds import MOST
from nfsserver.forwarding import MAX_PASSED_ON
from tests.nfsserver.conftest import ALICE, BOB, HOSTS, ROOT_USER, Rig

VERSIONS = (3, 4)
NOBODYS = 0x3FFF_FF42


def _rpcbind(rig: Rig, version: int = 4, credential: Credential = ROOT_USER, proto: str = "tcp") -> Rpcbind:
    return Rpcbind(rig.rpc(credential, proto=proto), version)


def _from_afar(rig: Rig, procedure: t.Any, args: XdrType, peer: str = "192.0.2.7") -> t.Any:
    """The result of a call from another machine."""
    message = _call(procedure, args)
    answer = rig.server.messages.answer(message, (peer, 700), "udp")
    assert answer is not None
    reply = b"".join(answer)
    _, end = ReplyHeader.unpack_from(reply, 0)
    return procedure.res.from_xdr(reply[end:])


def _call(procedure: t.Any, args: XdrType) -> bytes:
    header = CallHeader(
        1,
        MsgType.CALL,
        2,
        procedure.program,
        procedure.version,
        procedure.number,
        OpaqueAuth(),
        OpaqueAuth(),
    )
    return header.to_xdr() + args.to_xdr()


# ---------------------------------------------------------------- looking up


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("proto", ["tcp", "udp"])
def test_getaddr_follows_the_transport_of_the_call(rig: Rig, version: int, proto: str) -> None:
    client = _rpcbind(rig, version, proto=proto)
    expected = to_universal("127.0.0.1", rig.server.port)
    assert client.getaddr(100003, 3, "tcp6" if proto == "udp" else "udp") == expected
    assert client.getaddr(100003, 9) == ""
    assert client.getaddr(NOBODYS, 1) == ""


def test_getversaddr_is_exact(rig: Rig) -> None:
    client = _rpcbind(rig)
    assert client.getversaddr(100005, 3) == to_universal("127.0.0.1", rig.server.port)
    assert client.getversaddr(100005, 9) == ""


@pytest.mark.parametrize("version", VERSIONS)
def test_dump_has_all_versions_of_the_binder_itself(rig: Rig, version: int) -> None:
    entries = {(entry.r_prog, entry.r_vers, entry.r_netid) for entry in _rpcbind(rig, version).dump()}
    for own in (2, 3, 4):
        assert (100000, own, b"tcp") in entries
        assert (100000, own, b"udp") in entries


@pytest.mark.parametrize("host", ["::1", "::"])
def test_addresses_of_ipv6(host: str) -> None:
    rig = Rig()
    try:
        rig.listen(host)
    except OSError as error:
        rig.loop.close()
        pytest.skip(f"{HOSTS['::1']} is not available: {error}")
    rig.host = "::1"
    for version in VERSIONS:
        address = _rpcbind(rig, version).getaddr(100003, 3)
        assert from_universal(address) == ("::1", rig.server.port)
    assert Portmap(rig.rpc()).getport(100003, 3) == rig.server.port
    netids = {entry.r_nc_netid for entry in _rpcbind(rig).getaddrlist(100003, 3)}
    assert netids == ({b"tcp6", b"udp6"} if host == "::1" else {b"tcp", b"udp", b"tcp6", b"udp6"})
    rig.close()


def test_who_listens_everywhere_is_reached_at_the_address_of_the_call() -> None:
    rig = Rig()
    rig.listen("0.0.0.0")
    rig.host = "127.0.0.1"
    assert from_universal(_rpcbind(rig).getaddr(100003, 3)) == ("127.0.0.1", rig.server.port)
    rig.close()


# ---------------------------------------------------------------- registering


@pytest.mark.parametrize("version", VERSIONS)
def test_set_and_unset(rig: Rig, version: int) -> None:
    client = _rpcbind(rig, version)
    assert client.set(NOBODYS, 1, "tcp", "127.0.0.1.1.1")
    assert not client.set(NOBODYS, 1, "tcp", "127.0.0.1.1.2"), "there is one already"
    assert client.set(NOBODYS, 1, "udp", "127.0.0.1.1.3")
    assert client.set(NOBODYS, 1, "tcp6", "::1.1.4")
    assert client.getaddr(NOBODYS, 1) == "127.0.0.1.1.1"
    assert Portmap(rig.rpc()).getport(NOBODYS, 1, IPPROTO_UDP) == 259
    assert client.unset(NOBODYS, 1, "udp")
    assert Portmap(rig.rpc()).getport(NOBODYS, 1, IPPROTO_UDP) == 0
    assert client.unset(NOBODYS, 1)
    assert not client.unset(NOBODYS, 1)
    assert not [entry for entry in client.dump() if entry.r_prog == NOBODYS]


@pytest.mark.parametrize(
    ("netid", "address"),
    [
        ("", "127.0.0.1.1.1"),
        ("tcp", ""),
        ("pigeon", "127.0.0.1.1.1"),
        ("tcp", "here"),
        ("tcp", "127.0.0.1.0.0"),
    ],
)
def test_set_refuses_what_is_no_place(rig: Rig, netid: str, address: str) -> None:
    assert not _rpcbind(rig).set(NOBODYS, 1, netid, address)


def test_only_the_owner_and_the_superuser_unset(rig: Rig) -> None:
    assert _rpcbind(rig, credential=ALICE).set(NOBODYS, 1, "tcp", "127.0.0.1.1.1", "mallory")
    assert [entry.r_owner for entry in _rpcbind(rig).dump() if entry.r_prog == NOBODYS] == [b"1000"]
    assert not _rpcbind(rig, credential=BOB).unset(NOBODYS, 1)
    assert not _rpcbind(rig, credential=AuthNone()).unset(NOBODYS, 1)
    assert _rpcbind(rig, credential=ALICE).unset(NOBODYS, 1)
    assert _rpcbind(rig, credential=BOB).set(NOBODYS, 1, "tcp", "127.0.0.1.1.1")
    assert _rpcbind(rig).unset(NOBODYS, 1)
    assert not _rpcbind(rig).unset(100003, 3), "what the server itself registered stays"


def test_what_one_version_sets_the_others_show(rig: Rig) -> None:
    assert rig.portmap().set(NOBODYS, 1, IPPROTO_TCP, 513)
    assert _rpcbind(rig).getaddr(NOBODYS, 1) == "127.0.0.1.2.1"
    assert not _rpcbind(rig, 3).set(NOBODYS, 1, "tcp", "127.0.0.1.9.9")
    assert _rpcbind(rig, 3).unset(NOBODYS, 1, "tcp")
    assert rig.portmap().getport(NOBODYS, 1) == 0
    for prot, port in ((99, 1), (IPPROTO_TCP, 0), (IPPROTO_TCP, 65536)):
        assert not rig.portmap().set(NOBODYS, 1, prot, port)


@pytest.mark.parametrize("peer", ["192.0.2.7", "2001:db8::1", "::ffff:192.0.2.7"])
def test_nobody_registers_from_afar(rig: Rig, peer: str) -> None:
    entry = Rpcb(NOBODYS, 1, b"udp", b"192.0.2.7.1.1")
    assert rig.portmap().set(NOBODYS, 2, IPPROTO_TCP, 99)
    for procedure in (rpcbind.SET3, rpcbind.SET4):
        assert not _from_afar(rig, procedure, entry, peer).value
    for procedure in (rpcbind.UNSET3, rpcbind.UNSET4):
        assert not _from_afar(rig, procedure, Rpcb(NOBODYS, 2), peer).value
    assert not _from_afar(rig, portmap.SET, Mapping(NOBODYS, 1, IPPROTO_UDP, 99), peer).value
    assert not _from_afar(rig, portmap.UNSET, Mapping(NOBODYS, 2, 0), peer).value
    assert [entry.prog for entry in rig.portmap().dump() if entry.prog == NOBODYS] == [NOBODYS]


def test_the_registry_is_bounded(rig: Rig) -> None:
    for number in range(MOST.registrations):
        assert rig.server.registry.set(Rpcb(NOBODYS, number, b"tcp", b"127.0.0.1.1.1"))
    assert not rig.portmap().set(NOBODYS, MOST.registrations, IPPROTO_TCP, 99)


# ---------------------------------------------------------------- addresses and time


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("address", ["127.0.0.1.8.1", "192.0.2.255.255.255", "::1.0.111", "2001:db8::1.8.1"])
def test_addresses_of_the_operating_system(rig: Rig, version: int, address: str) -> None:
    client = _rpcbind(rig, version)
    form = client.uaddr2taddr(address)
    assert len(form.buf) == form.maxlen == (28 if ":" in address else 16)
    assert client.taddr2uaddr(form.buf) == address


def test_what_is_no_address_has_no_other_form(rig: Rig) -> None:
    client = _rpcbind(rig)
    for text in ("", "here", "1.2.3.4", "127.0.0.1.256.1"):
        assert client.uaddr2taddr(text) == rpcbind.Netbuf(0, b"")
    for data in (b"", b"x" * 16, b"x" * 28, b"x" * 1000):
        assert client.taddr2uaddr(data) == ""


def test_gettime_is_the_servers_clock(rig: Rig) -> None:
    assert _rpcbind(rig).gettime() == rig.clock.now_ns() // 10**9
    rig.clock.advance(5)
    assert _rpcbind(rig, 3).gettime() == rig.clock.now_ns() // 10**9


def test_getaddrlist(rig: Rig) -> None:
    entries = _rpcbind(rig).getaddrlist(100003, 3)
    rows = {
        (entry.r_nc_netid, entry.r_nc_semantics, entry.r_nc_protofmly, entry.r_nc_proto) for entry in entries
    }
    assert rows == {(b"tcp", 3, b"inet", b"tcp"), (b"udp", 1, b"inet", b"udp")}
    assert _rpcbind(rig).getaddrlist(NOBODYS, 3) == []


def test_getstat_counts(rig: Rig) -> None:
    rig.portmap().getport(100003, 3)
    client = _rpcbind(rig)
    client.getaddr(NOBODYS, 1)
    client.set(NOBODYS, 1, "tcp", "127.0.0.1.1.1")
    client.indirect(100003, 3, 0)
    two, _, four = client.getstat()
    assert two.info[3] == 1
    assert (two.addrinfo[0].prog, two.addrinfo[0].success, two.addrinfo[0].failure) == (100003, 1, 0)
    assert (four.info[3], four.info[12], four.setinfo, four.unsetinfo) == (1, 1, 1, 0)
    assert (four.addrinfo[0].success, four.addrinfo[0].failure) == (0, 1)
    assert (four.rmtinfo[0].prog, four.rmtinfo[0].success, four.rmtinfo[0].indirect) == (100003, 1, 1)


# ---------------------------------------------------------------- calls passed on


@pytest.mark.parametrize("version", VERSIONS)
def test_callit_answers_success_only(rig: Rig, version: int) -> None:
    client = Rpcbind(rig.rpc(proto="udp"), version)
    reply = client.callit(100003, 3, 0)
    assert (reply.addr.decode(), bytes(reply.results)) == (to_universal("127.0.0.1", rig.server.port), b"")
    client.timeout = 0.05
    for prog, vers, proc in (
        (NOBODYS, 1, 0),
        (100003, 9, 0),
        (100003, 3, 99),
        (100000, 2, 4),
        (100003, 3, 1),
    ):
        with pytest.raises(RpcTimeout):
            client.callit(prog, vers, proc)
    client.null()


def test_indirect_tells_what_went_wrong(rig: Rig) -> None:
    client = _rpcbind(rig)
    assert bytes(client.indirect(100005, 3, 0).results) == b""
    for prog, vers, proc, error in (
        (NOBODYS, 1, 0, ProgUnavail),
        (100003, 9, 0, ProgUnavail),
        (100003, 3, 99, ProcUnavail),
        (100003, 3, 1, GarbageArgs),
        (100000, 4, 10, ProgUnavail),
    ):
        with pytest.raises(error):
            client.indirect(prog, vers, proc)


def test_nothing_long_is_passed_on_over_udp(make_rig: t.Callable[..., Rig]) -> None:
    rig = make_rig(exports=[f"/{'long' * 20}{number}" for number in range(20)])
    exports = Mount(rig.rpc()).call(mount.EXPORT3, Void()).to_xdr()
    assert len(exports) > MAX_PASSED_ON
    assert bytes(_rpcbind(rig).indirect(100005, 3, 5).results) == exports, "nobody else is answered over TCP"
    datagrams = _rpcbind(rig, proto="udp")
    with pytest.raises(SystemErr):
        datagrams.indirect(100005, 3, 5)
    datagrams.timeout = 0.05
    with pytest.raises(RpcTimeout):
        datagrams.callit(100005, 3, 5)


def test_the_clock_is_that_of_the_machine_unless_said() -> None:
    assert abs(Server().backend.clock.now_ns() - time.time_ns()) < 10**9

# SPDX-License-Identifier: MIT
"""MOUNT, portmap, restarts, transports, and bytes that are not calls."""

from __future__ import annotations

import random
import socket
import typing as t

import pytest

from nfsclient.clients import Mount, Nfs3
from nfsclient.errors import AuthFailed, GarbageArgs, ProcUnavail, ProgMismatch, ProgUnavail, RpcTimeout
from nfsclient.protocol import mount, nfs3, portmap
from nfsclient.protocol.mount import MountStat1, MountStat3
from nfsclient.protocol.portmap import IPPROTO_TCP, IPPROTO_UDP, Mapping
from nfsclient.rpc.auth import AuthNone, RawCredential
from nfsclient.rpc.messages import CallHeader, MsgType, OpaqueAuth
from nfsclient.rpc.program import Procedure
from nfsclient.url import NfsUrl
from nfsclient.xdr import Struct, Void, malformations, u32
from nfsserver import Server
from tests.nfsserver.conftest import ALICE, HOSTS, ROOT_USER, Rig

# ---------------------------------------------------------------- MOUNT


def test_mnt_gives_handle_and_flavors(rig: Rig, root: bytes) -> None:
    reply = rig.mount().mnt(b"/export")
    assert reply.mountinfo is not None
    assert reply.mountinfo.fhandle == root
    assert reply.mountinfo.auth_flavors == [1]
    assert rig.mount(AuthNone(), 1).mnt1(b"//export/").directory == root


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (b"/", MountStat3.MNT3ERR_NOENT),
        (b"", MountStat3.MNT3ERR_NOENT),
        (b"/exported", MountStat3.MNT3ERR_NOENT),
        (b"/export/none", MountStat3.MNT3ERR_NOENT),
        (b"/export/file", MountStat3.MNT3ERR_NOTDIR),
        (b"/export/file/x", MountStat3.MNT3ERR_NOTDIR),
        (b"/export/../export", MountStat3.MNT3ERR_ACCES),
        (b"/export/" + b"n" * 256, MountStat3.MNT3ERR_NAMETOOLONG),
    ],
)
def test_mnt_refusals(rig: Rig, path: bytes, status: MountStat3) -> None:
    rig.file(b"file")
    assert rig.mount().mnt(path).fhs_status == status
    assert rig.mount(version=1).mnt1(path).status == MountStat1(
        {63: 36}.get(int(status), int(status))  # ENAMETOOLONG of this system
    )
    assert rig.mount().dump() == []


def test_version_3_wants_to_know_who_mounts(rig: Rig) -> None:
    nameless = rig.mount(AuthNone())
    nameless.null()
    nameless.dump()
    with pytest.raises(AuthFailed):
        nameless.mnt(b"/export")
    with pytest.raises(AuthFailed):
        nameless.umnt(b"/export")
    with pytest.raises(AuthFailed):
        nameless.umntall()


def test_export_list(make_rig: t.Callable[..., Rig]) -> None:
    rig = make_rig(exports=("/", "/deep/er"))
    assert [node.ex_dir for node in rig.mount().export()] == [b"/", b"/deep/er"]
    roots = [rig.mount().mnt(path).mountinfo for path in (b"/", b"/deep/er")]
    assert roots[0] != roots[1]


def test_exportall_is_export(make_rig: t.Callable[..., Rig]) -> None:
    rig = make_rig(exports=("/", "/deep/er"))
    for version in (1, 2):
        client = rig.mount(version=version)
        assert client.exportall() == client.export()
    with pytest.raises(ValueError, match="versions 1 and 2"):
        rig.mount().exportall()


@pytest.mark.parametrize("version", [1, 2, 3])
def test_exports_inside_of_exports(make_rig: t.Callable[..., Rig], version: int) -> None:
    rig = make_rig(exports=("/a", "/a/b", "/a/b/c"))
    client = rig.mount(version=version)
    mnt = client.mnt if version == 3 else client.mnt1
    handles = [mnt(path).resok for path in (b"/a", b"/a/b", b"/a/b/c", b"//a//b/")]
    assert None not in handles
    assert handles[3] == handles[1]
    assert handles[0] != handles[1] != handles[2]
    for path in (b"/", b"/a/c", b"/b", b"/a/b/c/d"):
        assert mnt(path).resok is None
    assert [body.ml_directory for body in client.dump()] == [b"/a", b"/a/b", b"/a/b/c"]


def test_the_mount_list_tells_clients_apart(rig: Rig) -> None:
    call = _call(mount.MNT3, mount.DirpathArgs(b"/export").to_xdr())
    for host in ("192.0.2.1", "192.0.2.2"):
        rig.server.messages.answer(call, (host, 700), "udp")
    rig.mount().mnt(b"/export")
    rig.mount().umntall()
    assert [body.ml_hostname for body in rig.mount().dump()] == [b"192.0.2.1", b"192.0.2.2"]
    rig.server.messages.answer(
        _call(mount.UMNT3, mount.DirpathArgs(b"/export").to_xdr()), ("192.0.2.2", 700), "udp"
    )
    assert [body.ml_hostname for body in rig.mount().dump()] == [b"192.0.2.1"]


# ---------------------------------------------------------------- portmap


def test_portmap_knows_its_own(rig: Rig) -> None:
    client = rig.portmap()
    port = rig.server.port
    for program, version in ((100003, 2), (100003, 3), (100005, 1), (100005, 2), (100005, 3), (100000, 2)):
        for prot in (IPPROTO_TCP, IPPROTO_UDP):
            assert client.getport(program, version, prot) == port
            assert Mapping(program, version, prot, port) in client.dump()
    assert client.getport(100003, 1, IPPROTO_TCP) == 0
    assert client.getport(4711, 1, IPPROTO_TCP) == 0


def test_portmap_set_and_unset(rig: Rig) -> None:
    client = rig.rpc()
    mapping = Mapping(4711, 1, IPPROTO_TCP, 99)
    assert client.call(portmap.SET, mapping).value
    assert not client.call(portmap.SET, Mapping(4711, 1, IPPROTO_TCP, 98)).value
    assert rig.portmap().getport(4711, 1, IPPROTO_TCP) == 99
    assert client.call(portmap.UNSET, Mapping(4711, 1, 0)).value
    assert not client.call(portmap.UNSET, Mapping(4711, 1, 0)).value
    assert not client.call(portmap.UNSET, Mapping(100003, 3, 0)).value


def test_callit_answers_success_only(rig: Rig) -> None:
    client = rig.rpc(proto="udp")
    reply = client.call(portmap.CALLIT, portmap.CallArgs(100003, 3, 0, b""))
    assert (reply.port, reply.res) == (rig.server.port, b"")
    for refused in (portmap.CallArgs(4711, 1, 0, b""), portmap.CallArgs(100000, 2, 4, b"")):
        with pytest.raises(RpcTimeout):
            client.call(portmap.CALLIT, refused, timeout=0.05)
    assert client.call(portmap.NULL, Void()) == Void()


# ---------------------------------------------------------------- the service


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("proto", ["tcp", "udp"])
def test_every_transport(host: str, proto: str) -> None:
    rig = Rig()
    try:
        rig.listen(host)
    except OSError as error:
        rig.loop.close()
        pytest.skip(f"{HOSTS[host]} is not available: {error}")
    client = rig.rpc(proto=proto)
    mounted = Mount(client).mnt(b"/export").mountinfo
    assert mounted is not None
    handle = Nfs3(client).create(mounted.fhandle, b"f")
    assert handle.status == nfs3.Nfsstat3.NFS3_OK
    rig.close()


def test_url_leads_to_the_export(rig: Rig) -> None:
    url = NfsUrl.parse(rig.server.url)
    assert (url.host, url.path) == ("127.0.0.1", b"/export")
    assert url.nfs_port == url.mountport == rig.server.port


def test_restart_ends_connections_and_keeps_the_port(rig: Rig, root: bytes) -> None:
    client = rig.rpc()
    Nfs3(client).null()
    port = rig.server.port
    rig.server.restart()
    assert client.wait_closed(5)
    assert rig.server.port == port
    client.reconnect()
    assert Nfs3(client).getattr(root).status == nfs3.Nfsstat3.NFS3_OK


def test_without_udp() -> None:
    rig = Rig()
    rig.server.listen(rig.loop, udp=False)
    rig.host = "127.0.0.1"
    assert rig.portmap().getport(100003, 3, IPPROTO_UDP) == 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", rig.server.port))
    rig.close()


def test_seeds() -> None:
    first, second, third = Server(seed=1), Server(seed=1), Server()
    handles = [server.backend.handle_of(server.fs.root) for server in (first, second, third)]
    assert handles[0] == handles[1] != handles[2]
    assert first.backend.write_verifier != third.backend.write_verifier


# ---------------------------------------------------------------- what is no call


class Bare(Struct):
    word: u32


def test_what_is_not_served_is_refused(rig: Rig) -> None:
    client = rig.rpc()
    for program, version, number, error in (
        (4711, 1, 0, ProgUnavail),
        (100003, 9, 0, ProgMismatch),
        (100005, 4, 0, ProgMismatch),
        (100003, 2, 18, ProcUnavail),
        (100003, 3, 22, ProcUnavail),
        (100005, 3, 6, ProcUnavail),
        (100003, 3, 1, GarbageArgs),
    ):
        with pytest.raises(error):
            client.call(Procedure(program, version, number, "X", Bare, Void), Bare(2**32 - 1))
    with pytest.raises(AuthFailed):
        Nfs3(rig.rpc(RawCredential(99, b"abcd"))).null()


def _alive(rig: Rig) -> None:
    assert rig.nfs3(ALICE).getattr(rig.root).status == nfs3.Nfsstat3.NFS3_OK
    assert rig.nfs3(ALICE, proto="udp").getattr(rig.root).status == nfs3.Nfsstat3.NFS3_OK


def _pump(rig: Rig) -> None:
    """Let the server see what was sent: a call on another connection is answered after it."""
    rig.nfs3(ALICE).null()


def test_random_bytes_stop_nothing(rig: Rig) -> None:
    chance = random.Random(3)
    for _ in range(60):
        client = rig.rpc(proto=chance.choice(["tcp", "udp"]))
        client.send_raw(chance.randbytes(chance.randrange(1, 200)))
        _pump(rig)
        client.close()
    _alive(rig)


def _call(procedure: Procedure[t.Any, t.Any], args: bytes) -> bytes:
    credential, _ = ROOT_USER.opaque()
    auth = OpaqueAuth.from_xdr(credential)
    header = CallHeader(
        1, MsgType.CALL, 2, procedure.program, procedure.version, procedure.number, auth, OpaqueAuth()
    )
    return header.to_xdr() + args


def _samples(root: bytes) -> dict[str, t.Any]:
    here = nfs3.Diropargs3(root, b"name")
    sattr = nfs3.Sattr3(mode=0o644, size=1, atime=nfs3.client_time(1))
    return {
        "GETATTR": nfs3.Getattr3Args(root),
        "SETATTR": nfs3.Setattr3Args(root, sattr, nfs3.Nfstime3(1)),
        "LOOKUP": nfs3.Lookup3Args(here),
        "WRITE": nfs3.Write3Args(root, 0, 5, nfs3.StableHow.UNSTABLE, b"12345"),
        "CREATE": nfs3.Create3Args(here, nfs3.Createhow3(nfs3.CreateMode3.GUARDED, obj_attributes=sattr)),
        "SYMLINK": nfs3.Symlink3Args(here, nfs3.Symlinkdata3(sattr, b"text")),
        "MKNOD": nfs3.Mknod3Args(
            here,
            nfs3.Mknoddata3(nfs3.Ftype3.NF3CHR, device=nfs3.Devicedata3(nfs3.Sattr3(), nfs3.Specdata3(1, 2))),
        ),
        "RENAME": nfs3.Rename3Args(here, here),
        "READDIRPLUS": nfs3.Readdirplus3Args(root, 1, bytes(8), 100, 1000),
    }


@pytest.mark.parametrize("name", list(_samples(b"")))
def test_malformed_arguments_stop_nothing(rig: Rig, root: bytes, name: str) -> None:
    procedure = nfs3.NFS3.by_name[name]
    for bent in malformations(_samples(root)[name]):
        answer = rig.server.messages.answer(_call(procedure, bent.data), ("127.0.0.1", 1), "tcp")
        assert answer is not None
    assert not rig.server.messages.faults
    _alive(rig)


def test_truncated_and_stretched_calls_stop_nothing(rig: Rig, root: bytes) -> None:
    whole = _call(nfs3.GETATTR, nfs3.Getattr3Args(root).to_xdr())
    for length in range(len(whole)):
        rig.server.messages.answer(whole[:length], ("127.0.0.1", 1), "udp")
    rig.server.messages.answer(whole + bytes(4), ("127.0.0.1", 1), "udp")
    client = rig.rpc()
    client.send_raw(b"\xff\xff\xff\xff" + whole)  # a record of 2 GiB
    _alive(rig)


# ---------------------------------------------------------------- retransmission


def _remove(root: bytes, xid: int) -> bytes:
    args = nfs3.Remove3Args(nfs3.Diropargs3(root, b"f"))
    return xid.to_bytes(4, "big") + _call(nfs3.REMOVE, args.to_xdr())[4:]


def _status(answer: t.Any) -> int:
    return int.from_bytes(b"".join(answer)[24:28], "big")


def test_retransmitted_calls_run_once(rig: Rig, root: bytes) -> None:
    rig.file(b"f")
    peer = ("127.0.0.1", 1000)
    first = rig.server.messages.answer(_remove(root, 1), peer, "udp")
    rig.file(b"f")
    assert first == rig.server.messages.answer(_remove(root, 1), peer, "udp")
    assert _status(first) == 0
    assert rig.nfs3().lookup(root, b"f").status == nfs3.Nfsstat3.NFS3_OK


def test_retransmitted_calls_run_again_without_a_cache(rig: Rig, root: bytes) -> None:
    rig.server.knobs.set("replay_cache", False)
    rig.file(b"f")
    peer = ("127.0.0.1", 1000)
    assert _status(rig.server.messages.answer(_remove(root, 1), peer, "udp")) == 0
    assert _status(rig.server.messages.answer(_remove(root, 1), peer, "udp")) == nfs3.Nfsstat3.NFS3ERR_NOENT


def test_other_calls_are_no_retransmissions(rig: Rig, root: bytes) -> None:
    rig.file(b"f")
    peer = ("127.0.0.1", 1000)
    assert _status(rig.server.messages.answer(_remove(root, 1), peer, "udp")) == 0
    for xid, other, proto in ((2, peer, "udp"), (1, ("127.0.0.1", 1001), "udp"), (1, peer, "tcp")):
        again = rig.server.messages.answer(
            _remove(root, xid), other, t.cast("t.Literal['tcp', 'udp']", proto)
        )
        assert _status(again) == nfs3.Nfsstat3.NFS3ERR_NOENT


def test_restart_forgets_replies(rig: Rig, root: bytes) -> None:
    rig.file(b"f")
    peer = ("127.0.0.1", 1000)
    rig.server.messages.answer(_remove(root, 1), peer, "udp")
    rig.server.restart()
    again = rig.server.messages.answer(_remove(root, 1), peer, "udp")
    assert _status(again) == nfs3.Nfsstat3.NFS3ERR_NOENT


def test_the_cache_is_bounded(rig: Rig, root: bytes) -> None:
    for xid in range(2000):
        rig.server.messages.answer(_remove(root, xid), ("127.0.0.1", 1000), "udp")
    rig.file(b"f")
    assert _status(rig.server.messages.answer(_remove(root, 1999), ("127.0.0.1", 1000), "udp")) != 0
    assert _status(rig.server.messages.answer(_remove(root, 0), ("127.0.0.1", 1000), "udp")) == 0

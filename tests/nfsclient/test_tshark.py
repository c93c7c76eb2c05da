# SPDX-License-Identifier: MIT
"""Our bytes, read by somebody else: tshark finds no malformed message in any procedure, call or reply."""

from __future__ import annotations

import json
import subprocess
import typing as t
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfsclient.clients import Mount, Nfs2, Nfs3, Portmap, Rpcbind
from nfsclient.protocol import mount, nfs2, portmap, rpcbind
from nfsclient.protocol import nfs3 as p
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp, connect_udp
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.loop import Loop
from nfsjudge.capture import write_capture
from nfsserver.server import Server
from tests.needs import needs
from tests.settled import settle
from tests.waiting import AT_MOST

pytestmark = needs("tshark")

_PROGRAMS: t.Final = (
    nfs2.NFS2,
    p.NFS3,
    mount.MOUNT3,
    mount.MOUNT2,
    mount.MOUNT1,
    portmap.PORTMAP2,
    rpcbind.RPCBIND3,
    rpcbind.RPCBIND4,
)


@pytest.fixture(params=["tcp", "udp"])
def rpc(request: pytest.FixtureRequest) -> Iterator[RpcClient]:
    """A client of the reference server on the same loop."""
    loop = Loop()
    server = Server(seed=1)
    connect = connect_tcp if request.param == "tcp" else connect_udp
    client = connect(*server.listen(loop), loop=loop, credential=AuthSys(0, 0, (1, 2, 3)))
    yield client
    client.close()
    server.close()
    loop.close()


def _use_everything(rpc: RpcClient) -> None:
    """Every procedure of every program, with successes and refusals, and data that needs padding."""
    for version in (1, 2, 3):
        client = Mount(rpc, version)
        client.null()
        client.umnt(b"/export")
        client.umntall()
        client.export()
        root = client.mnt(b"/export").resok if version == 3 else None
        if root is None:
            client.exportall()
            client.mnt1(b"/export")
            client.mnt1(b"/nowhere")
        client.dump()
    assert root is not None
    _use_nfs3(Nfs3(rpc), root.fhandle)
    _use_nfs2(Nfs2(rpc), root.fhandle)
    binder = Portmap(rpc)
    binder.null()
    binder.getport(100003, 3)
    binder.dump()
    binder.set(0x3FFF_0001, 1, 6, 4711)
    binder.unset(0x3FFF_0001, 1)
    _use_rpcbind(rpc)


def _use_rpcbind(rpc: RpcClient) -> None:
    for version in (3, 4):
        client = Rpcbind(rpc, version)
        client.null()
        client.set(0x3FFF_0001, 1, "tcp", "127.0.0.1.1.1")
        client.getaddr(100003, 3)
        client.dump()
        client.unset(0x3FFF_0001, 1)
        client.gettime()
        client.taddr2uaddr(bytes(client.uaddr2taddr("127.0.0.1.8.1").buf))
    client.getversaddr(100003, 9)
    client.getaddrlist(100003, 3)
    client.getstat()


def _use_nfs3(nfs3: Nfs3, root: bytes) -> None:
    nfs3.null()
    attributes = p.Sattr3(mode=0o644, uid=1, gid=2, size=0, atime=p.SERVER_TIME, mtime=p.client_time(1, 2))
    made = nfs3.create(root, b"file", attributes=attributes).resok
    assert made is not None
    assert made.obj is not None
    nfs3.create(root, b"file", p.CreateMode3.GUARDED)
    nfs3.create(root, b"exclusive", p.CreateMode3.EXCLUSIVE, verf=b"verifier")
    nfs3.write(made.obj, 3, b"seven 7", p.StableHow.UNSTABLE)
    nfs3.commit(made.obj)
    nfs3.read(made.obj, 0, 100)
    nfs3.setattr(made.obj, p.Sattr3(size=2**33), guard=p.Nfstime3(1, 2))
    nfs3.getattr(made.obj)
    nfs3.getattr(b"no handle")
    nfs3.access(made.obj, 0x3F)
    nfs3.mkdir(root, b"directory", attributes)
    link = nfs3.symlink(root, b"link", b"../some/where").resok
    assert link is not None
    nfs3.readlink(link.obj or b"")
    fifo = p.Mknoddata3(p.Ftype3.NF3FIFO, pipe_attributes=attributes)
    device = p.Mknoddata3(p.Ftype3.NF3CHR, device=p.Devicedata3(attributes, p.Specdata3(1, 3)))
    nfs3.mknod(root, b"fifo", fifo)
    nfs3.mknod(root, b"device", device)
    nfs3.mknod(root, b"file", fifo)
    nfs3.lookup(root, b"file")
    nfs3.lookup(root, b"nobody-made-this")
    nfs3.link(made.obj, root, b"other")
    nfs3.rename(root, b"other", root, b"another")
    nfs3.readdir(root)
    nfs3.readdirplus(root)
    nfs3.readdir(root, cookie=99, cookieverf=b"x" * 8)
    nfs3.fsstat(root)
    nfs3.fsinfo(root)
    nfs3.pathconf(root)
    nfs3.remove(root, b"another")
    nfs3.rmdir(root, b"directory")
    nfs3.rmdir(root, b"nobody-made-this")


def _use_nfs2(client: Nfs2, root: bytes) -> None:
    client.null()
    client.root()
    client.writecache()
    attributes = nfs2.Sattr(mode=0o644, uid=1, gid=2, size=0, mtime=nfs2.Timeval(1, 2))
    made = client.create(root, b"file2", attributes).resok
    assert made is not None
    client.write(made.file, 3, b"seven 7", 1, 2)
    client.read(made.file, 0, 100, 3)
    client.setattr(made.file, nfs2.Sattr(size=5))
    client.getattr(made.file)
    client.getattr(b"no handle".ljust(32))
    client.mkdir(root, b"directory2", attributes)
    client.symlink(root, b"link2", b"../some/where", attributes)
    link = client.lookup(root, b"link2").resok
    assert link is not None
    client.readlink(link.file)
    client.readlink(made.file)
    client.lookup(root, b"nobody-made-this")
    client.link(made.file, root, b"other2")
    client.rename(root, b"other2", root, b"another2")
    client.readdir(root)
    client.readdir(root, b"\xff" * 4, 100)
    client.readdir(made.file)
    client.statfs(root)
    client.remove(root, b"another2")
    client.rmdir(root, b"directory2")
    client.rmdir(root, b"nobody-made-this")


def test_tshark_reads_every_procedure(rpc: RpcClient, tmp_path: Path) -> None:
    exchanges: list[Exchange] = []
    rpc.on_exchange = exchanges.append
    _use_everything(rpc)
    used = {exchange.procedure for exchange in exchanges}
    missing = [
        procedure.label for program in _PROGRAMS for procedure in program.procedures if procedure not in used
    ]
    # These carry calls of other programs: not ours to decode.
    carriers = (portmap.CALLIT, rpcbind.CALLIT3, rpcbind.BCAST4, rpcbind.INDIRECT4)
    assert missing == [carrier.label for carrier in carriers]
    settle(exchanges)
    capture = tmp_path / "all.pcapng"
    write_capture(capture, exchanges, epoch=1_700_000_000)
    assert _tshark(capture, "_ws.malformed") == []
    seen = Counter(layers["rpc.msgtyp"][0] for layers in _tshark(capture, "rpc"))
    assert seen == {"0": len(exchanges), "1": len(exchanges)}


def _tshark(capture: Path, display_filter: str) -> list[dict[str, list[str]]]:
    """The packets that a filter shows, with type and program of their RPC message."""
    columns = ["-e", "rpc.msgtyp", "-e", "rpc.program", "-e", "frame.number"]
    shown = subprocess.run(
        ["tshark", "-r", capture, "-T", "json", "-Y", display_filter, *columns],
        check=True,
        capture_output=True,
        text=True,
        timeout=AT_MOST,
    )
    return [packet["_source"]["layers"] for packet in json.loads(shown.stdout)]

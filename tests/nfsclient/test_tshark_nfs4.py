# SPDX-License-Identifier: MIT
"""Our bytes of NFSv4, read by somebody else: tshark finds no malformed message in any operation, call or reply."""

from __future__ import annotations

import dataclasses
import struct
import typing as t
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfsclient.clients.nfs4 import Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.loop import Loop
from nfsclient.xdr import XdrType
from nfsjudge.capture import write_capture
from nfsserver.server import Server
from tests.needs import needs
from tests.nfsclient.test_tshark import _tshark
from tests.settled import settle

pytestmark = needs("tshark")

_ROOM: t.Final = 700
_OPERATIONS: t.Final = [
    operation for operation in p.OPERATIONS if operation is not p.ILLEGAL and operation.is_in(2)
]


@pytest.fixture
def rpc() -> Iterator[RpcClient]:
    """A client of the reference server on the same loop."""
    loop = Loop()
    server = Server(seed=1)
    client = connect_tcp(*server.listen(loop), loop=loop, credential=AuthSys(0, 0, (1, 2, 3)))
    yield client
    client.close()
    server.close()
    loop.close()


def least(cls: type[XdrType]) -> XdrType:
    """A value of as many zeros as the type allows; results of success."""
    first = (0, p.OpenClaimType4.CLAIM_PREVIOUS) if cls is p.WantDelegation4Args else ()
    if cls is p.CopyNotify4Args:
        return p.CopyNotify4Args(p.Stateid4(0, bytes(12)), p.Netloc4(p.NetlocType4.NL4_NAME, nl_name=b"name"))
    return cls.unpack_from(struct.pack(f">{len(first)}I", *first) + bytes(_ROOM))[0]


def _use_files(session: Session) -> None:
    """Successes and refusals, with data that needs padding and every attribute."""
    root = session.compound(op.putrootfh(), op.lookup(b"export"), op.getfh()).ok().handle
    wanted = p.Fattr4(mode=0o644, owner=b"0", owner_group=b"0")
    opening = op.open(b"file", 3, owner=b"owner", how=op.guarded(wanted))
    made = session.compound(op.putfh(root), opening, op.getfh()).ok()
    file, stateid = made.handle, made.stateid
    session.compound(op.putfh(root), opening)
    session.compound(op.putfh(file), op.write(stateid, 3, b"seven 7"), op.commit())
    session.compound(op.putfh(file), op.read(stateid, 0, 100))
    everything = [attribute.name for attribute in p.ATTRIBUTES.values() if attribute.about.is_readable]
    session.compound(op.putfh(file), op.getattr(*everything)).ok()
    session.compound(op.putfh(root), op.readdir(attributes=everything)).ok()
    session.compound(op.putfh(root), op.mkdir(b"directory", wanted), op.getfh())
    session.compound(op.putfh(root), op.symlink(b"link", b"../some/where"), op.readlink())
    session.compound(op.putfh(file), op.savefh(), op.putfh(root), op.link(b"other"))
    session.compound(op.putfh(root), op.savefh(), op.rename(b"other", b"another"))
    session.compound(op.putfh(file), op.setattr(p.Fattr4(size=5, mode=0o600), stateid))
    session.compound(op.putfh(file), op.verify(p.Fattr4(size=5)), op.nverify(p.Fattr4(size=5)))
    session.compound(op.putfh(root), op.secinfo(b"file"))
    session.compound(op.putfh(root), op.secinfo_no_name())
    session.compound(op.putfh(root), op.remove(b"another"))
    session.compound(op.putfh(b"no handle"))
    session.compound(op.test_stateid(stateid), op.free_stateid(stateid))
    session.compound(op.putfh(file), op.close(stateid))


def test_tshark_reads_every_operation(rpc: RpcClient, tmp_path: Path) -> None:
    exchanges: list[Exchange] = []
    rpc.on_exchange = exchanges.append
    nfs4 = Nfs4(rpc, minor=2)
    nfs4.null()
    session = nfs4.establish()
    _use_files(session)
    called = len(exchanges)
    for listed in _OPERATIONS:
        nfs4.compound(least(listed.args))
    refused = exchanges[called:]
    assert len(refused) == len(_OPERATIONS)
    answered = [
        _with_results(exchange, operation) for exchange, operation in zip(refused, _OPERATIONS, strict=True)
    ]
    every = [*exchanges, *answered]
    settle(every)
    capture = tmp_path / "all.pcapng"
    write_capture(capture, every, epoch=1_700_000_000)
    assert _tshark(capture, "_ws.malformed") == []
    seen = Counter(layers["rpc.msgtyp"][0] for layers in _tshark(capture, "rpc"))
    assert seen == {"0": len(every), "1": len(every)}
    assert len(_tshark(capture, "nfs && rpc.msgtyp == 1")) == len(every)


def _with_results(exchange: Exchange, operation: p.AnyOperation) -> Exchange:
    """The same call, later, answered as if the operation had succeeded."""
    res = p.Compound4Res(p.Nfsstat4.NFS4_OK, b"", [least(operation.res)])
    xid = exchange.xid ^ 0x8000_0000
    head = struct.pack(">IIIIII", xid, 1, 0, 0, 0, 0)
    call = xid.to_bytes(4, "big") + exchange.call[4:]
    received = (exchange.received_at or 0.0) + 1000
    return dataclasses.replace(
        exchange,
        xid=xid,
        call=call,
        reply=head + res.to_xdr(),
        result=res,
        sent_at=exchange.sent_at + 1000,
        received_at=received,
    )

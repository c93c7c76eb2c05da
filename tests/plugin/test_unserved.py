# SPDX-License-Identifier: MIT
"""Which refusals say that the server lacks an operation that every server has."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.plugin.statuses import unserved
from nfsclient.errors import ProcUnavail
from nfsclient.protocol import mount, nfs2, nfs3
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import XdrType

_OF_UNIX: t.Final = 95
"""EOPNOTSUPP, which servers answer in NFSv2."""


def exchange(procedure: Procedure[t.Any, t.Any], result: object, args: object = None) -> Exchange:
    return Exchange(1, procedure, args, None, b"", 0.0, "", "tcp", result=result)


def refused(procedure: Procedure[t.Any, t.Any]) -> Exchange:
    """PROC_UNAVAIL."""
    made = exchange(procedure, None)
    made.error = ProcUnavail(procedure.label)
    return made


def compound(args: XdrType, result: XdrType) -> Exchange:
    status = t.cast("Nfsstat4", t.cast("t.Any", result).status)
    calls = p.Compound4Args(b"", 1, [args])
    return exchange(p.COMPOUND, p.Compound4Res(status, b"", [result]), calls)


@pytest.mark.parametrize(
    ("exchange", "name"),
    [
        (exchange(nfs3.MKDIR, nfs3.Mkdir3Res(Nfsstat3.NFS3ERR_NOTSUPP)), "MKDIR"),
        (exchange(nfs3.MKDIR, nfs3.Mkdir3Res(Nfsstat3.NFS3ERR_IO)), ""),
        (exchange(nfs3.SYMLINK, nfs3.Symlink3Res(Nfsstat3.NFS3ERR_NOTSUPP)), ""),
        (exchange(nfs2.MKDIR, nfs2.Diropres(nfs2.Nfsstat2(_OF_UNIX))), "MKDIR"),
        (exchange(nfs2.LINK, nfs2.StatRes(nfs2.Nfsstat2(_OF_UNIX))), ""),
        (refused(nfs3.WRITE), "WRITE"),
        (refused(mount.MNT3), "MNT"),
        (refused(nfs3.MKNOD), ""),
        (compound(p.Link4Args(b"name"), p.Link4Res(Nfsstat4.NFS4ERR_NOTSUPP)), ""),
    ],
)
def test_only_a_needed_operation_counts(exchange: Exchange, name: str) -> None:
    assert unserved([exchange]) == name


def test_the_last_one_is_meant() -> None:
    first, second, fine = refused(nfs3.WRITE), refused(nfs3.READ), exchange(nfs3.NULL, None)
    assert unserved([first, second, fine]) == "READ"
    assert unserved([fine]) == ""

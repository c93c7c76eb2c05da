# SPDX-License-Identifier: MIT
"""WRONGSEC (RFC 5661 section 2.6.3.1): no operation answers it to a flavor that SECINFO lists."""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner, through_grace
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import expect, must, proves, skip, stated
from suites.nfs4.opens import BOTH, READ

LISTED_IS_ACCEPTED = stated(
    "RFC 5661",
    "15.1.6.3",
    "NFS4ERR_WRONGSEC: the flavor is not that of the policy of the server; one that SECINFO lists is",
)
NEVER_WRONGSEC = must(
    "RFC 5661",
    "2.6.3.1.1.7",
    "operations other than those that put a filehandle never return NFS4ERR_WRONGSEC",
)


def _injecting(here: bytes, file: bytes) -> dict[str, list[XdrType]]:
    """Operations that make a filehandle the current one. The root, which is not among them, has its own policy."""
    return {
        "PUTFH": [op.putfh(file), op.getfh()],
        "LOOKUP": [op.putfh(here), op.lookup(b"file")],
        "LOOKUPP": [op.putfh(here), op.lookupp()],
        "RESTOREFH": [op.putfh(file), op.savefh(), op.putfh(here), op.restorefh(), op.getattr("type")],
        "LINK": [op.putfh(file), op.savefh(), op.putfh(here), op.link(b"linked")],
        "RENAME": [op.putfh(here), op.savefh(), op.rename(b"linked", b"renamed")],
        "OPEN": [op.putfh(here), op.open(b"file", READ, owner=new_state_owner()), op.close(op.CURRENT)],
    }


def _others(here: bytes, file: bytes) -> dict[str, list[XdrType]]:
    creating = op.open(b"opened", BOTH, owner=new_state_owner(), how=op.guarded())
    return {
        "CREATE": [op.putfh(here), op.mkdir(b"made")],
        "OPEN that creates": [op.putfh(here), creating, op.close(op.CURRENT)],
        "REMOVE": [op.putfh(here), op.remove(b"made")],
        "READDIR": [op.putfh(here), op.readdir(maxcount=8192)],
        "GETATTR": [op.putfh(file), op.getattr("size")],
        "SETATTR": [op.putfh(file), op.setattr(p.Fattr4(mode=0o640))],
        "ACCESS": [op.putfh(file), op.access(p.ACCESS4_READ)],
        "READ": [op.putfh(file), op.read(op.ANONYMOUS, 0, 4)],
        "WRITE": [op.putfh(file), op.write(op.ANONYMOUS, 0, b"data")],
        "COMMIT": [op.putfh(file), op.commit()],
        "VERIFY": [op.putfh(file), op.verify(p.Fattr4(size=4))],
        "SECINFO": [op.putfh(here), op.secinfo(b"file")],
        "SECINFO_NO_NAME": [op.putfh(file), op.secinfo_no_name()],
        "PUTFH and SAVEFH": [op.putfh(file), op.savefh()],
    }


def _wrong(compounds: Compounds, tried: t.Mapping[str, list[XdrType]]) -> list[str]:
    """Those that WRONGSEC was answered to."""
    seen = {name: through_grace(compounds, *operations).status for name, operations in tried.items()}
    return [name for name, status in seen.items() if status == Nfsstat4.NFS4ERR_WRONGSEC]


def _arrange(compounds: Compounds, scratch: Nfs4Scratch) -> bytes:
    """A file; SKIP where SECINFO does not list AUTH_SYS for it."""
    file = scratch.file("file", b"data")
    listed = expect(compounds.compound(op.putfh(scratch.handle), op.secinfo(b"file"))).of(p.SECINFO).ok()
    if p.AUTH_SYS not in [entry.flavor for entry in listed]:
        skip("SECINFO does not list AUTH_SYS")
    return file


@proves(LISTED_IS_ACCEPTED, killed_by="restorefh4-is-wrongsec")
def test_listed(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """No operation that puts a filehandle answers WRONGSEC to AUTH_SYS, where SECINFO lists AUTH_SYS."""
    wrong = _wrong(compounds, _injecting(scratch.handle, _arrange(compounds, scratch)))
    expect(wrong, "operations that WRONGSEC was answered to").equals([])


@proves(NEVER_WRONGSEC, killed_by="commit4-is-wrongsec")
def test_never(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """No operation that puts no filehandle answers WRONGSEC."""
    wrong = _wrong(compounds, _others(scratch.handle, _arrange(compounds, scratch)))
    expect(wrong, "operations that WRONGSEC was answered to").equals([])

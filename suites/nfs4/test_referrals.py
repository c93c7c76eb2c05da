# SPDX-License-Identifier: MIT
"""Operations at a referral: the directory is there, its file system is absent (RFC 5661 sections 11.2 and 11.8.1)."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import expect, must, observe, proves, skip, stated
from suites.nfs4.calls import CALLS
from suites.nfs4.opens import BOTH
from suites.nfs4.referrals import Referral

ARRIVING_IS_NO_ERROR = stated(
    "RFC 5661",
    "11.2",
    "an operation that makes an object of an absent file system the current filehandle does not fail for that",
    also={"4.0": ("RFC 7530", "8.2")},
)
ABSENT_IS_MOVED = stated(
    "RFC 5661",
    "11.2",
    "with a current filehandle in an absent file system, an operation is not performed and gets NFS4ERR_MOVED",
    also={"4.0": ("RFC 7530", "8.2")},
)
NO_HANDLE_OF_WHAT_IS_ABSENT = stated(
    "RFC 5661",
    "11.8.1",
    "the server never sends a filehandle of an absent file system: GETFH gets NFS4ERR_MOVED",
    also={"4.0": ("RFC 7530", "8.2")},
)
PUTFH_REPLACES = stated(
    "RFC 5661", "18.19.3", "PUTFH replaces the current filehandle with the one that it has as an argument"
)
SECINFO_KNOWS_THE_NAME = stated(
    "RFC 5661", "18.29.3", "SECINFO returns the flavors for a name that exists in the current directory"
)
NOTHING_TO_OPEN = stated(
    "RFC 5661",
    "11.2",
    "an absent file system has no files: a reference to it, except for location attributes, is an error",
    also={"4.0": ("RFC 7530", "8.2")},
)
SAYS_THAT_IT_REFERS = must(
    "RFC 5661",
    "18.35.3",
    "a server that will potentially perform a referral sets EXCHGID4_FLAG_SUPP_MOVED_REFER in eir_flags",
)
_MADE: t.Final = b"nfsproof-referral-c1a7"
"""A name that nobody has: a server that serves what it should refuse must lose nothing by it."""
_IN_DIRECTORIES: t.Final[dict[str, XdrType]] = {
    "create": op.mkdir(_MADE, Fattr4(mode=0o755)),
    "link": op.link(_MADE),
    "rename": op.rename(b"file", _MADE),
    "open": op.open(_MADE, p.OPEN4_SHARE_ACCESS_READ, owner=b"owner"),
    "lookup": op.lookup(_MADE),
    "remove": op.remove(_MADE),
    "secinfo": op.secinfo(_MADE),
    "openattr": op.openattr(),
    "setattr": op.setattr(Fattr4()),
    **{name: CALLS[name].plain for name in ("access", "lookupp", "readdir", "savefh", "secinfo_no_name")},
}
"""Operations that a directory which is present would have served, or refused for what they name."""


@proves(ARRIVING_IS_NO_ERROR, killed_by="lookup4-into-what-is-absent-is-moved")
def test_lookup(compounds: Compounds, referral: Referral) -> None:
    """LOOKUP of a referral succeeds: its absence is an error of the operation that follows."""
    reply = compounds.compound(*referral.way)
    expect(reply).ok()


@proves(NO_HANDLE_OF_WHAT_IS_ABSENT, killed_by="getfh4-gives-absent-filehandles")
def test_getfh(compounds: Compounds, referral: Referral) -> None:
    """GETFH after LOOKUP of a referral fails with MOVED."""
    reply = compounds.compound(*referral.way, op.getfh())
    expect(reply).refused(Nfsstat4.NFS4ERR_MOVED, because=NO_HANDLE_OF_WHAT_IS_ABSENT)


@pytest.mark.parametrize("name", sorted(_IN_DIRECTORIES))
@proves(ABSENT_IS_MOVED, killed_by="operations4-absent-is-stale")
def test_operation(compounds: Compounds, scratch: Nfs4Scratch, referral: Referral, name: str) -> None:
    """An operation on the root of an absent file system fails with MOVED."""
    saving: list[XdrType] = []
    if name in {"link", "rename"}:
        file = scratch.file("file")
        saving = [op.putfh(file if name == "link" else scratch.handle), op.savefh()]
    reply = compounds.compound(*saving, *referral.way, _IN_DIRECTORIES[name])
    if reply.status == Nfsstat4.NFS4_OK and name in {"create", "link", "rename"}:
        compounds.compound(*referral.way, op.remove(_MADE))
    if reply.status == Nfsstat4.NFS4ERR_XDEV and saving:
        skip("the saved filehandle is of another file system: errors have no order")
    expect(reply).refused(Nfsstat4.NFS4ERR_MOVED, because=ABSENT_IS_MOVED)


@proves(PUTFH_REPLACES, killed_by="putfh4-stays-where-absent")
def test_putfh(compounds: Compounds, scratch: Nfs4Scratch, referral: Referral) -> None:
    """PUTFH after LOOKUP of a referral leads to the object of its filehandle, unless it fails with MOVED."""
    reply = compounds.compound(*referral.way, op.putfh(scratch.handle), op.getattr("fileid"))
    observe("PUTFH from an absent file system", reply.status)
    if p.status_of(reply.res.resarray[-1]) and reply.failed is p.PUTFH:  # it is an operation as any other
        expect(reply).refused(Nfsstat4.NFS4ERR_MOVED, because=PUTFH_REPLACES)
        return
    known = scratch.attributes(None, "fileid")
    expect(expect(reply).ok().attributes).field("fileid").equals(known.fileid)


@proves(SECINFO_KNOWS_THE_NAME, killed_by="secinfo4-referrals-are-noent")
def test_secinfo(compounds: Compounds, referral: Referral) -> None:
    """SECINFO of the name of a referral returns flavors; MOVED is tolerated."""
    reply = compounds.compound(*referral.parent, op.secinfo(referral.name))
    observe("SECINFO of a referral", reply.status)
    if reply.status != Nfsstat4.NFS4ERR_MOVED:  # section 11.2 has it for "any reference" to the file system
        expect(reply).ok()


@pytest.mark.parametrize("how", ["plain", "unchecked", "guarded"])
@proves(NOTHING_TO_OPEN, killed_by="open4-opens-referrals")
def test_open(compounds: Compounds, referral: Referral, how: str) -> None:
    """OPEN of the name of a referral opens nothing, and makes no file."""
    ways = {"plain": None, "unchecked": op.unchecked(), "guarded": op.guarded()}
    opening = op.open(referral.name, BOTH, owner=new_state_owner(), how=ways[how])
    reply = compounds.compound(*referral.parent, opening)
    observe("OPEN of a referral", reply.status)
    expect(reply).refused()
    looking = compounds.compound(*referral.way, op.getfh())
    expect(looking).refused(Nfsstat4.NFS4ERR_MOVED, because=ABSENT_IS_MOVED)


@proves(SAYS_THAT_IT_REFERS, killed_by="exchangeid4-hides-referrals")
def test_exchange_id(v4: Nfs4Dialect, referral: Referral) -> None:
    """EXCHANGE_ID of a server with a referral returns SUPP_MOVED_REFER."""
    assert referral.path
    client = v4.client().new_client(flags=p.EXCHGID4_FLAG_SUPP_MOVED_REFER)
    flag = client.result.eir_flags & p.EXCHGID4_FLAG_SUPP_MOVED_REFER
    expect(flag, "SUPP_MOVED_REFER", of=client.result, field="eir_flags").equals(
        p.EXCHGID4_FLAG_SUPP_MOVED_REFER
    )

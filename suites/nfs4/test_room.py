# SPDX-License-Identifier: MIT
"""File systems that are read-only, full, or where the user has used a quota (RFC 5661 section 15.1.4), by operation."""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner
from fixtures.checks.target import KnobsView
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import expect, proves, skip, stated
from suites.nfs4.calls import CALLS
from suites.nfs4.opens import BOTH

RETURNS_ROFS = stated(
    "RFC 5661",
    "15.1.4.11",
    "NFS4ERR_ROFS: an operation that changes something was tried on a read-only file system",
    also={"4.0": ("RFC 7530", "13.1.4.13")},
)
RETURNS_NOSPC = stated(
    "RFC 5661",
    "15.1.4.9",
    "NFS4ERR_NOSPC: the operation would exceed the limit of the file system",
    also={"4.0": ("RFC 7530", "13.1.4.9")},
)
RETURNS_DQUOT = stated(
    "RFC 5661",
    "15.1.4.2",
    "NFS4ERR_DQUOT: the quota of the user on the server is exceeded",
    also={"4.0": ("RFC 7530", "13.1.4.2")},
)


def _arranged(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> Sequence[XdrType]:
    """The operations of a call that would change something; OPEN creates a file."""
    if name == "open":
        opening = op.open(b"made", BOTH, owner=new_state_owner(), how=op.guarded())
        return [op.putfh(scratch.handle), opening]
    return CALLS[name].arranged(compounds, scratch).operations


CHANGING: t.Final = ("create", "link", "open", "openattr", "remove", "rename", "setattr", "write")
CREATING: t.Final = ("create", "open", "openattr")


@pytest.mark.exclusive
@pytest.mark.parametrize("name", CHANGING)
@proves(RETURNS_ROFS, killed_by="room4-no-room-is-io")
def test_read_only(compounds: Compounds, scratch: Nfs4Scratch, knobs: KnobsView, name: str) -> None:
    """An operation that changes something on a read-only file system gets ROFS."""
    operations = _arranged(compounds, scratch, name)
    knobs.set(read_only=True)
    expect(compounds.compound(*operations)).refused(Nfsstat4.NFS4ERR_ROFS, because=RETURNS_ROFS)


@pytest.mark.exclusive
@pytest.mark.parametrize("name", CREATING)
@proves(RETURNS_NOSPC, killed_by="room4-no-room-is-io")
def test_no_object(compounds: Compounds, scratch: Nfs4Scratch, knobs: KnobsView, name: str) -> None:
    """An operation that creates an object on a file system without room for one gets NOSPC."""
    operations = _arranged(compounds, scratch, name)
    knobs.set(free_files=0)
    expect(compounds.compound(*operations)).refused(Nfsstat4.NFS4ERR_NOSPC, because=RETURNS_NOSPC)


_MUCH: t.Final = bytes(8192)


def _writable(compounds: Compounds, scratch: Nfs4Scratch) -> bytes:
    """A file to write into. SKIP where the same WRITE into another one is refused while there is room."""
    other, file = scratch.file("other"), scratch.file("file")
    reply = compounds.compound(op.putfh(other), op.write(op.ANONYMOUS, 0, _MUCH))
    if reply.status != Nfsstat4.NFS4_OK:
        skip(f"the server takes no {len(_MUCH)} bytes: WRITE answers {reply.status.name}", reply)
    return file


@pytest.mark.exclusive
@proves(RETURNS_NOSPC, killed_by="room4-no-room-is-io")
def test_no_bytes(compounds: Compounds, scratch: Nfs4Scratch, knobs: KnobsView) -> None:
    """WRITE to a file system without room for data gets NOSPC."""
    file = _writable(compounds, scratch)
    knobs.set(free_bytes=0)
    reply = compounds.compound(op.putfh(file), op.write(op.ANONYMOUS, 0, _MUCH))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOSPC, because=RETURNS_NOSPC)


@pytest.mark.exclusive
@proves(RETURNS_DQUOT, killed_by="room4-no-room-is-io")
def test_quota(compounds: Compounds, scratch: Nfs4Scratch, knobs: KnobsView) -> None:
    """WRITE beyond the quota of the user gets DQUOT."""
    file = _writable(compounds, scratch)
    knobs.set(quota_bytes=0)
    reply = compounds.compound(op.putfh(file), op.write(op.ANONYMOUS, 0, _MUCH))
    expect(reply).refused(Nfsstat4.NFS4ERR_DQUOT, because=RETURNS_DQUOT)

# SPDX-License-Identifier: MIT
"""What a metadata server of pNFS refuses (RFC 5661 sections 18.40 and 18.43). No server need be one: UNSUPPORTED.

Where a file system has no layouts at all, two errors apply to each request, and either is right.
"""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from fixtures.checks.target import KnobsView
from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Layoutiomode4, Layouttype4, Nfsstat4
from nfsjudge import expect, must, observe, proves, skip, stated, unsupported
from suites.nfs4.opens import BOTH, open_file

NO_LAYOUTS_HERE = must(
    "RFC 5661",
    "18.43.3",
    "LAYOUTGET gets NFS4ERR_LAYOUTUNAVAILABLE if neither the file nor its file system supports layouts",
)
TYPE_IS_UNKNOWN = must(
    "RFC 5661", "18.43.3", "LAYOUTGET of a layout type that is not supported gets NFS4ERR_UNKNOWN_LAYOUTTYPE"
)
ANY_IS_NO_MODE = must("RFC 5661", "18.43.3", "LAYOUTGET for LAYOUTIOMODE4_ANY gets NFS4ERR_BADIOMODE")
DEVICE_IS_UNKNOWN = stated(
    "RFC 5661", "18.40.3", "GETDEVICEINFO of a device ID that is not known gets NFS4ERR_NOENT"
)
_NOBODYS: t.Final = 0x7AFE_0001
"""A layout type that nobody has defined, outside of the private ones."""
_NO_LAYOUT: t.Final = (Nfsstat4.NFS4ERR_LAYOUTUNAVAILABLE, Nfsstat4.NFS4ERR_UNKNOWN_LAYOUTTYPE)


def _client_of(v4: Nfs4Dialect, knobs: KnobsView) -> Session:
    """A client of a metadata server. The embedded server is one by its knob."""
    knobs.stand_in("", metadata_server=True)
    client = v4.client(v4.connections.connect("nfs")).new_client(flags=p.EXCHGID4_FLAG_USE_PNFS_MDS)
    if not client.result.eir_flags & p.EXCHGID4_FLAG_USE_PNFS_MDS:
        unsupported("the server is no metadata server of pNFS")
    session = client.create_session()
    session.compound(op.reclaim_complete())
    return session


def _layout(session: Session, file: bytes, kind: int, mode: Layoutiomode4) -> t.Any:
    stateid = open_file(session, file, BOTH).stateid
    asking = p.Layoutget4Args(False, Layouttype4(kind), mode, 0, 4096, 1, stateid, 4096)
    return session.compound(op.putfh(file), asking)


@proves(NO_LAYOUTS_HERE, killed_by="layoutget4-unavailable-is-inval")
def test_unavailable(v4: Nfs4Dialect, scratch: Nfs4Scratch, knobs: KnobsView) -> None:
    """LAYOUTGET fails with LAYOUTUNAVAILABLE or UNKNOWN_LAYOUTTYPE where fs_layout_types lists no type."""
    session, file = _client_of(v4, knobs), scratch.file("file", b"data")
    types = scratch.attributes(file, "fs_layout_types").fs_layout_types
    observe("layout types", types)
    if types:
        skip("the file system has layouts")
    reply = _layout(session, file, Layouttype4.LAYOUT4_NFSV4_1_FILES, Layoutiomode4.LAYOUTIOMODE4_READ)
    expect(reply).refused(*_NO_LAYOUT, because=NO_LAYOUTS_HERE)


@proves(TYPE_IS_UNKNOWN, killed_by="layoutget4-unknown-type-is-inval")
def test_unknown_type(v4: Nfs4Dialect, scratch: Nfs4Scratch, knobs: KnobsView) -> None:
    """LAYOUTGET of a type that nobody has defined fails with UNKNOWN_LAYOUTTYPE or LAYOUTUNAVAILABLE."""
    session, file = _client_of(v4, knobs), scratch.file("file", b"data")
    reply = _layout(session, file, _NOBODYS, Layoutiomode4.LAYOUTIOMODE4_READ)
    expect(reply).refused(*_NO_LAYOUT, because=TYPE_IS_UNKNOWN)


@proves(ANY_IS_NO_MODE, killed_by="layoutget4-bad-mode-is-inval")
def test_any_mode(v4: Nfs4Dialect, scratch: Nfs4Scratch, knobs: KnobsView) -> None:
    """LAYOUTGET for LAYOUTIOMODE4_ANY fails with BADIOMODE, or because there are no layouts."""
    session, file = _client_of(v4, knobs), scratch.file("file", b"data")
    types = scratch.attributes(file, "fs_layout_types").fs_layout_types or []
    kind = types[0] if types else Layouttype4.LAYOUT4_NFSV4_1_FILES
    reply = _layout(session, file, kind, Layoutiomode4.LAYOUTIOMODE4_ANY)
    also = () if types else _NO_LAYOUT
    expect(reply).refused(Nfsstat4.NFS4ERR_BADIOMODE, *also, because=ANY_IS_NO_MODE)


@proves(DEVICE_IS_UNKNOWN, killed_by="getdeviceinfo4-unknown-is-inval")
def test_unknown_device(v4: Nfs4Dialect, scratch: Nfs4Scratch, knobs: KnobsView) -> None:
    """GETDEVICEINFO of a device that nobody has fails with NOENT, or because there are no layouts."""
    session, file = _client_of(v4, knobs), scratch.file("file", b"data")
    types = scratch.attributes(file, "fs_layout_types").fs_layout_types or []
    kind = types[0] if types else Layouttype4.LAYOUT4_NFSV4_1_FILES
    reply = session.compound(p.Getdeviceinfo4Args(b"nfsproof nobody!", kind, 4096, []))
    also = () if types else _NO_LAYOUT
    expect(reply).refused(Nfsstat4.NFS4ERR_NOENT, *also, because=DEVICE_IS_UNKNOWN)

# SPDX-License-Identifier: MIT
"""What holds for many operations: those that a server may lack (RFC 5661 section 17), and objects that are gone."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import CompoundReply, Compounds, Nfs4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import expect, must, observe, proves, skip, stated, unsupported
from suites.nfs4.calls import CALLS, PNFS, Call, named
from suites.nfs4.opens import BOTH, open_file
from suites.nfs4.retries import need_answer
from suites.nfs4.test_users import MODE_DENIES, STRANGER, client_of, need_distinct

NO_PNFS_IS_NOTSUPP = must(
    "RFC 5661",
    "12.6",
    "a server whose EXCHANGE_ID does not return EXCHGID4_FLAG_USE_PNFS_MDS answers NFS4ERR_NOTSUPP to pNFS operations",
)
LACKING_IS_NOTSUPP = stated(
    "RFC 5661",
    "17",
    "an OPTIONAL operation that the server does not support gets NFS4ERR_NOTSUPP: it is not an illegal one",
)
GONE_IS_STALE = stated(
    "RFC 5661",
    "15.1.2.7",
    "NFS4ERR_STALE: the file of the current or saved filehandle no longer exists",
)


def _is_optional(call: Call) -> bool:
    return call.operation.is_optional


# ---------------------------------------------------------------- operations that a server may lack


@pytest.mark.parametrize("name", PNFS)
@proves(NO_PNFS_IS_NOTSUPP, killed_by="operations4-lacking-is-inval")
def test_pnfs(nfs4: Nfs4, scratch: Nfs4Scratch, name: str) -> None:
    """A pNFS operation gets NOTSUPP if the server is no metadata server, as EXCHANGE_ID says."""
    client = nfs4.new_client(flags=p.EXCHGID4_FLAG_USE_PNFS_MDS)
    if client.result.eir_flags & p.EXCHGID4_FLAG_USE_PNFS_MDS:
        unsupported("the server is a metadata server of pNFS")
    session = client.create_session()
    reply = need_answer(session.compound(op.putfh(scratch.file("file")), CALLS[name].plain))
    expect(reply).field("status").equals(Nfsstat4.NFS4ERR_NOTSUPP)


def _expect_defined(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """The result is one of the operation, whatever its status; not of ILLEGAL."""
    reply = compounds.compound(*CALLS[name].arranged(compounds, scratch).operations)
    observe(name.upper(), reply.status.name)
    expect(p.operation_of(reply[-1]).name, "operation of the last result").differs_from("ILLEGAL")


@pytest.mark.parametrize("name", named(_is_optional))
@proves(LACKING_IS_NOTSUPP, killed_by="operations4-lacking-is-illegal")
def test_optional(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """An OPTIONAL operation that the server may lack is not answered by ILLEGAL."""
    _expect_defined(compounds, scratch, name)


@pytest.mark.parametrize("minor", [2], ids=["4.2"])
@pytest.mark.parametrize("name", sorted({*named(_is_optional, 2)} - {*named(_is_optional)}))
@proves(LACKING_IS_NOTSUPP, killed_by="operations4-lacking-is-illegal")
def test_newer(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """An OPTIONAL operation that is new in this minor version is not answered by ILLEGAL."""
    _expect_defined(compounds, scratch, name)


# ---------------------------------------------------------------- objects that are gone


def _expect_stale(reply: CompoundReply) -> None:
    """STALE, or success: a server may keep what a handle stands for."""
    observe("operation on a removed object", reply.status.name)
    last = reply.res.resarray[-1]
    if p.status_of(last):
        expect(last).refused(Nfsstat4.NFS4ERR_STALE, Nfsstat4.NFS4ERR_FHEXPIRED, because=GONE_IS_STALE)


def _is_on_a_file(call: Call) -> bool:
    return call.succeeds and call.on == "file" and call.state is None and call.saved is None


@pytest.mark.parametrize("name", named(_is_on_a_file))
@proves(GONE_IS_STALE, killed_by="operations4-gone-is-noent")
def test_gone(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """An operation on a file that was removed and is closed for the last time gets STALE, or is served."""
    call = CALLS[name].arranged(compounds, scratch)
    file = scratch.lookup(b"file")
    assert file is not None
    opened = open_file(compounds, file, BOTH)
    removing = compounds.compound(op.putfh(scratch.handle), op.remove(b"file"))
    if removing.status == Nfsstat4.NFS4ERR_FILE_OPEN:
        skip("an open file cannot be removed: REMOVE answers NFS4ERR_FILE_OPEN", removing)
    expect(removing).ok()
    reply = need_answer(compounds.compound(op.putfh(file), op.close(opened.stateid), call.operation))
    _expect_stale(reply)


_SAVED: t.Final[dict[str, tuple[XdrType, ...]]] = {
    "restorefh": (op.restorefh(),),
    "link": (op.link(b"made"),),
}


@pytest.mark.parametrize("name", _SAVED)
@proves(GONE_IS_STALE, killed_by="operations4-gone-is-noent")
def test_gone_saved(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """An operation on a saved filehandle whose file was removed gets STALE, or is served."""
    file = scratch.file("file")
    removing = [op.putfh(file), op.savefh(), op.putfh(scratch.handle), op.remove(b"file")]
    reply = need_answer(compounds.compound(*removing, *_SAVED[name]))
    expect(reply).of(p.REMOVE).ok()
    _expect_stale(reply)


# ---------------------------------------------------------------- other users


def _operations_in(directory: bytes, file: bytes) -> dict[str, list[XdrType]]:
    """Operations that read or change a directory, in which ``file`` is."""
    here = op.putfh(directory)
    return {
        "lookup": [here, op.lookup(b"file")],
        "lookupp": [here, op.lookupp()],
        "readdir": [here, op.readdir()],
        "secinfo": [here, op.secinfo(b"file")],
        "secinfo_no_name": [here, op.secinfo_no_name(p.SecinfoStyle4.SECINFO_STYLE4_PARENT)],
        "link": [op.putfh(file), op.savefh(), here, op.link(b"second")],
    }


@pytest.mark.parametrize("name", _operations_in(b"", b""))
@proves(MODE_DENIES, killed_by="operations4-ask-no-mode", needs="nfs4_other_users")
def test_denied(v4: Nfs4Dialect, scratch: Nfs4Scratch, name: str) -> None:
    """An operation in a directory of mode 0700 is denied to another user who may do it in one of mode 0777."""
    stranger = client_of(v4, *STRANGER)
    need_distinct(scratch, stranger)
    replies = []
    for mode in (0o777, 0o700):
        directory = scratch.directory(f"{mode:o}", mode=mode)
        file = scratch.file("file", mode=0o666, directory=directory)
        if scratch.attributes(directory, "mode").mode != mode:
            skip(f"a directory that is created with mode {mode:04o} has another one")
        replies.append(need_answer(stranger.compound(*_operations_in(directory, file)[name])))
    if replies[0].status:
        skip(f"another user may not do it in a directory of mode 0777: {replies[0].status.name}", replies[0])
    expect(replies[1]).refused(Nfsstat4.NFS4ERR_ACCESS, Nfsstat4.NFS4ERR_PERM, because=MODE_DENIES)

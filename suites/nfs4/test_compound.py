# SPDX-License-Identifier: MIT
"""COMPOUND (RFC 5661 section 16.2): operations in one call, and the rules that hold for all of them."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds, Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import GarbageArgs
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import Unread, XdrType
from nfsjudge import expect, must, observe, proves, should, skip, stated
from suites.nfs4.calls import CALLS, REMOVED, WITH_HANDLE, Call, named
from suites.nfs4.clauses import (
    ENDS_AT_THE_FIRST_ERROR,
    MINOR_VERSION_IS_KNOWN,
    NEEDS_A_FILEHANDLE,
    NOT_ONLY_OP,
)
from suites.nfs4.minors import MINORS
from suites.nfs4.retries import need_answer

ECHOES_TAG = should(
    "RFC 5661",
    "16.2.3",
    "the tag of the results should be the tag of the request",
    also={"4.0": ("RFC 7530", "15.2.4")},
)
UNKNOWN_IS_ILLEGAL = stated(
    "RFC 5661",
    "16.2.3",
    "a number that is no operation is answered by OP_ILLEGAL with NFS4ERR_OP_ILLEGAL",
    also={"4.0": ("RFC 7530", "15.2.4")},
)
NOT_IN_SESSION = must(
    "RFC 5661",
    "18.46.3",
    "operations that may not begin a COMPOUND yield NFS4ERR_OP_NOT_IN_SESSION if they do",
)
REMOVED_IS_NOTSUPP = stated(
    "RFC 5661",
    "15.1.1.5",
    "NFS4ERR_NOTSUPP: the operation must not be implemented in the current minor version",
)
MAXOPERATIONS_IS_A_LIMIT = must(
    "RFC 5661", "18.36.3", "a COMPOUND of more operations than ca_maxoperations gets NFS4ERR_TOO_MANY_OPS"
)
KEEPS_THE_FILEHANDLE = stated(
    "RFC 5661",
    "16.2.3.1.1",
    "the current filehandle stays what it is, but for operations that set another one",
)


def _needs_session(call: Call) -> bool:
    return not call.operation.is_sessionless and call.operation is not p.SEQUENCE


_MOST_OPERATIONS = 2000
"""A server that grants more is not tried."""


@proves(MINOR_VERSION_IS_KNOWN, killed_by="compound4-takes-any-minor-version")
def test_minor_mismatch(nfs4: Nfs4) -> None:
    """A minor version that nobody has gets MINOR_VERS_MISMATCH, and no results."""
    reply = nfs4.compound(op.putrootfh(), op.getfh(), minor=0xFFFF_FFFF)
    expect(reply).field("resarray", "results").equals([])
    expect(reply).status(Nfsstat4.NFS4ERR_MINOR_VERS_MISMATCH)


@MINORS
@proves(ECHOES_TAG, killed_by="compound4-drops-the-tag")
def test_tag(compounds: Compounds) -> None:
    """The results have the tag of the request."""
    reply = expect(compounds.compound(op.putrootfh(), tag=b"nfsproof tag")).ok()
    expect(reply.res.tag, "tag", field="tag").equals(b"nfsproof tag")


@MINORS
@proves(ENDS_AT_THE_FIRST_ERROR, killed_by="compound4-goes-on-after-an-error")
def test_stops_at_error(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Nothing that follows a failed operation is executed, or has a result."""
    failing = (op.putfh(scratch.handle), op.lookup(b"absent"), op.mkdir(b"made"))
    reply = compounds.compound(*failing)
    expect(len(reply), "results").equals(2)
    expect(reply).of(p.LOOKUP).status(Nfsstat4.NFS4ERR_NOENT)
    expect(reply).field("status").equals(Nfsstat4.NFS4ERR_NOENT)
    expect(scratch.names(), "names", field="entries").equals([])


@MINORS
@pytest.mark.parametrize("number", [0, 2, 10043, 0x7FFF_FFFF])
@proves(UNKNOWN_IS_ILLEGAL, killed_by="compound4-unknown-is-notsupp")
def test_illegal(compounds: Compounds, number: int) -> None:
    """A number that is no operation is answered by ILLEGAL with OP_ILLEGAL."""
    try:
        reply = compounds.compound(op.putrootfh(), Unread(number, b""))
    except GarbageArgs:  # all operations may be parsed first (section 15.1.3.4)
        observe("operation that does not exist", "GARBAGE_ARGS")
        return
    if reply.status == Nfsstat4.NFS4ERR_BADXDR:
        observe("operation that does not exist", reply.status.name)
        return
    expect(reply).refused(Nfsstat4.NFS4ERR_OP_ILLEGAL, because=UNKNOWN_IS_ILLEGAL)
    expect(p.operation_of(reply[-1]).name, "operation of the last result").equals("ILLEGAL")


@pytest.mark.parametrize("name", [*named(_needs_session), "illegal"])
@proves(NOT_IN_SESSION, killed_by="compound4-needs-no-session")
def test_no_sequence(nfs4: Nfs4, name: str) -> None:
    """An operation that needs a session is refused without SEQUENCE."""
    refusals = [Nfsstat4.NFS4ERR_OP_NOT_IN_SESSION]
    if name == "illegal":
        refusals.append(Nfsstat4.NFS4ERR_OP_ILLEGAL)
    expect(nfs4.compound(CALLS[name].plain)).status(*refusals)


@MINORS
@proves(NOT_ONLY_OP, killed_by="compound4-sessionless-with-company")
def test_not_only_operation(nfs4: Nfs4) -> None:
    """DESTROY_CLIENTID without SEQUENCE, and with another operation after it, is refused."""
    reply = need_answer(nfs4.compound(op.destroy_clientid(nfs4.new_client().id), op.putrootfh()))
    expect(len(reply), "results").at_most(1)
    expect(reply).field("status").equals(Nfsstat4.NFS4ERR_NOT_ONLY_OP)


@MINORS
@pytest.mark.parametrize("name", REMOVED)
@proves(REMOVED_IS_NOTSUPP, killed_by="compound4-removed-is-illegal")
def test_removed(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """An operation that NFSv4.1 has removed gets NOTSUPP."""
    reply = compounds.compound(op.putfh(scratch.handle), CALLS[name].plain)
    expect(reply).refused(Nfsstat4.NFS4ERR_NOTSUPP, because=REMOVED_IS_NOTSUPP)


@MINORS
@proves(MAXOPERATIONS_IS_A_LIMIT, killed_by="compound4-takes-any-number-of-operations")
def test_too_many_operations(session: Session) -> None:
    """A COMPOUND with one operation more than ca_maxoperations gets TOO_MANY_OPS."""
    most = session.state.fore.ca_maxoperations
    if most > _MOST_OPERATIONS:
        skip(f"the session allows {most} operations")
    reply = need_answer(session.compound(*[op.putrootfh()] * most))  # SEQUENCE is one more
    expect(reply).field("status").equals(Nfsstat4.NFS4ERR_TOO_MANY_OPS)


@MINORS
@pytest.mark.parametrize("operation", [op.link(b"n"), op.rename(b"n", b"m")], ids=["link", "rename"])
@proves(NEEDS_A_FILEHANDLE, killed_by="compound4-current-is-saved")
def test_no_saved_filehandle(compounds: Compounds, scratch: Nfs4Scratch, operation: XdrType) -> None:
    """LINK and RENAME without a saved filehandle fail with NOFILEHANDLE, although there is a current one."""
    reply = compounds.compound(op.putfh(scratch.handle), operation)
    expect(reply).refused(Nfsstat4.NFS4ERR_NOFILEHANDLE, because=NEEDS_A_FILEHANDLE)


@pytest.mark.parametrize("name", WITH_HANDLE)
@proves(NEEDS_A_FILEHANDLE, killed_by="compound4-begins-at-the-root")
def test_no_filehandle(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """An operation on the current or the saved filehandle fails with NOFILEHANDLE if there is none."""
    reply = compounds.compound(CALLS[name].arranged(compounds, scratch).operation)
    expect(reply).refused(Nfsstat4.NFS4ERR_NOFILEHANDLE, because=NEEDS_A_FILEHANDLE)


_KEEPING: dict[str, dict[str, list[XdrType]]] = {
    "file": {
        "ACCESS": [op.access(p.ACCESS4_READ)],
        "GETATTR": [op.getattr("size")],
        "VERIFY": [op.verify(p.Fattr4(size=4))],
        "NVERIFY": [op.nverify(p.Fattr4(size=5))],
        "READ": [op.read(op.ANONYMOUS, 0, 4)],
        "WRITE": [op.write(op.ANONYMOUS, 0, b"more")],
        "COMMIT": [op.commit()],
        "SETATTR": [op.setattr(p.Fattr4(mode=0o640))],
        "LOCKT": [op.lockt()],
        "SAVEFH": [op.savefh()],
    },
    "directory": {
        "READDIR": [op.readdir()],
        "REMOVE": [op.remove(b"third")],
        "RENAME": [op.savefh(), op.rename(b"file", b"renamed")],
    },
}


@pytest.mark.parametrize("kind", _KEEPING)
@proves(KEEPS_THE_FILEHANDLE, killed_by="compound4-writes-and-removes-go-up")
def test_keeps_filehandle(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """After an operation that is not about filehandles, the current filehandle is that of the same object."""
    file = scratch.file("file", b"four")
    scratch.file("third")
    handle = file if kind == "file" else scratch.handle
    fileid = scratch.attributes(handle, "fileid").fileid
    if fileid is None:
        skip("the server does not support fileid")
    for name, operations in _KEEPING[kind].items():
        reply = expect(compounds.compound(op.putfh(handle), *operations, op.getattr("fileid"))).ok()
        expect(reply.attributes).field("fileid", f"fileid after {name}").equals(fileid)

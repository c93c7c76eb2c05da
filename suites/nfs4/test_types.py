# SPDX-License-Identifier: MIT
"""Filehandles of the wrong type, as the current or saved one, at each operation (RFC 5661 section 15.1.2)."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Nfsstat4, SecinfoStyle4
from nfsclient.xdr import XdrType
from nfsjudge import expect, expect_names, proves, should, stated
from suites.nfs4.opens import READ

DIRECTORY_IS_ISDIR = stated(
    "RFC 5661",
    "15.1.2.3",
    "NFS4ERR_ISDIR: the filehandle designates a directory, which the operation does not allow",
    also={"4.0": ("RFC 7530", "13.1.2.3")},
)
OTHERS_ARE_NOTDIR = stated(
    "RFC 5661",
    "15.1.2.6",
    "NFS4ERR_NOTDIR: the current or saved filehandle is no directory, and the operation requires one",
    also={"4.0": ("RFC 7530", "13.1.2.6")},
)
LINK_IS_SYMLINK = stated(
    "RFC 5661",
    "15.1.2.8",
    "NFS4ERR_SYMLINK: the filehandle designates a symbolic link, which the operation does not allow",
)
OTHERS_ARE_WRONG_TYPE = stated(
    "RFC 5661",
    "15.1.2.9",
    "NFS4ERR_WRONG_TYPE: the type is invalid for the operation, and no more specific error applies",
)
OPEN_NAMES_THE_TYPE = should(
    "RFC 5661",
    "18.16.4",
    "OPEN of a directory gets NFS4ERR_ISDIR, of a symbolic link NFS4ERR_SYMLINK, of others NFS4ERR_WRONG_TYPE",
)
"""The errors of section 15.1.2 are about filehandles, and an OPEN by name has that of the directory."""
_CLAUSES: t.Final = {
    Nfsstat4.NFS4ERR_ISDIR: DIRECTORY_IS_ISDIR,
    Nfsstat4.NFS4ERR_NOTDIR: OTHERS_ARE_NOTDIR,
    Nfsstat4.NFS4ERR_SYMLINK: LINK_IS_SYMLINK,
    Nfsstat4.NFS4ERR_WRONG_TYPE: OTHERS_ARE_WRONG_TYPE,
}
_PARENT: t.Final = SecinfoStyle4.SECINFO_STYLE4_PARENT
_NAMES: t.Final = {"file": b"file", "directory": b"directory", "link": b"link", "fifo": b"fifo"}


def _make(scratch: Nfs4Scratch, kind: str) -> bytes:
    """A new object of a type, with that for its name."""
    match kind:
        case "file":
            return scratch.file("file")
        case "directory":
            return scratch.directory("directory")
        case "link":
            return scratch.symlink("link", b"target")
        case _:
            return scratch.fifo("fifo")


class _Wrong(t.NamedTuple):
    """An operation, and the status that it gets for an object of the wrong type."""

    kind: str
    status: Nfsstat4
    operations: Callable[[bytes, bytes], list[XdrType]]
    """Of the handles of the object and of the scratch directory."""


def _at(operation: XdrType) -> Callable[[bytes, bytes], list[XdrType]]:
    return lambda wrong, _scratch: [op.putfh(wrong), operation]


def _opening(claim: bytes | None) -> XdrType:
    return op.open(claim, READ, owner=new_state_owner())


def _named(name: bytes) -> Callable[[bytes, bytes], list[XdrType]]:
    return lambda _wrong, scratch: [op.putfh(scratch), _opening(name)]


_ISDIR, _NOTDIR = Nfsstat4.NFS4ERR_ISDIR, Nfsstat4.NFS4ERR_NOTDIR
_SYMLINK, _WRONG_TYPE = Nfsstat4.NFS4ERR_SYMLINK, Nfsstat4.NFS4ERR_WRONG_TYPE
WRONG: t.Final = {
    "read-link": _Wrong("link", _SYMLINK, _at(op.read(op.ANONYMOUS, 0, 4))),
    "read-fifo": _Wrong("fifo", _WRONG_TYPE, _at(op.read(op.ANONYMOUS, 0, 4))),
    "write-directory": _Wrong("directory", _ISDIR, _at(op.write(op.ANONYMOUS, 0, b"data"))),
    "write-link": _Wrong("link", _SYMLINK, _at(op.write(op.ANONYMOUS, 0, b"data"))),
    "write-fifo": _Wrong("fifo", _WRONG_TYPE, _at(op.write(op.ANONYMOUS, 0, b"data"))),
    "open-directory": _Wrong("directory", _ISDIR, _at(_opening(None))),
    "open-link": _Wrong("link", _SYMLINK, _named(b"link")),
    "open-fifo": _Wrong("fifo", _WRONG_TYPE, _named(b"fifo")),
    "open-in-file": _Wrong("file", _NOTDIR, _at(_opening(b"name"))),
    "commit-link": _Wrong("link", _SYMLINK, _at(op.commit())),
    "commit-fifo": _Wrong("fifo", _WRONG_TYPE, _at(op.commit())),
    "lookupp-of-link": _Wrong("link", _NOTDIR, _at(op.lookupp())),
    "secinfo_no_name-of-file": _Wrong("file", _NOTDIR, _at(op.secinfo_no_name(_PARENT))),
    "lockt-fifo": _Wrong("fifo", _WRONG_TYPE, _at(op.lockt())),
    "lookup-in-fifo": _Wrong("fifo", _NOTDIR, _at(op.lookup(b"name"))),
    "create-in-link": _Wrong("link", _NOTDIR, _at(op.mkdir(b"name"))),
    "remove-in-link": _Wrong("link", _NOTDIR, _at(op.remove(b"name"))),
    "readdir-of-link": _Wrong("link", _NOTDIR, _at(op.readdir())),
    "secinfo-in-file": _Wrong("file", _NOTDIR, _at(op.secinfo(b"name"))),
    "link-in-file": _Wrong(
        "file", _NOTDIR, lambda wrong, _scratch: [op.putfh(wrong), op.savefh(), op.link(b"name")]
    ),
    "link-of-directory": _Wrong(
        "directory",
        _ISDIR,
        lambda wrong, scratch: [op.putfh(wrong), op.savefh(), op.putfh(scratch), op.link(b"name")],
    ),
    "rename-from-file": _Wrong(
        "file",
        _NOTDIR,
        lambda wrong, scratch: [op.putfh(wrong), op.savefh(), op.putfh(scratch), op.rename(b"a", b"b")],
    ),
    "rename-into-file": _Wrong(
        "file",
        _NOTDIR,
        lambda wrong, scratch: [op.putfh(scratch), op.savefh(), op.putfh(wrong), op.rename(b"file", b"b")],
    ),
}
_ALSO: t.Final = {
    "link-of-directory": (
        Nfsstat4.NFS4ERR_PERM,
        _WRONG_TYPE,
    ),  # who may link directories is the server's to say
    "create-in-link": (_SYMLINK,),
    "lookupp-of-link": (_SYMLINK,),
    "remove-in-link": (_SYMLINK,),
    "readdir-of-link": (_SYMLINK,),
}
"""Other errors that say the same."""


@pytest.mark.parametrize("case", WRONG)
@proves(*_CLAUSES.values(), OPEN_NAMES_THE_TYPE, killed_by="types4-wrong-one-is-serverfault")
def test_wrong(compounds: Compounds, scratch: Nfs4Scratch, case: str) -> None:
    """An operation on an object of the wrong type gets the error of that type, and changes nothing."""
    wrong = WRONG[case]
    handle = _make(scratch, wrong.kind)
    reply = compounds.compound(*wrong.operations(handle, scratch.handle))
    expect_names(scratch.names(), [_NAMES[wrong.kind]])
    is_of_open = case in {"open-directory", "open-link", "open-fifo"}
    clause = _CLAUSES[wrong.status]
    because = OPEN_NAMES_THE_TYPE if is_of_open else clause
    expect(reply, because=clause).refused(wrong.status, *_ALSO.get(case, ()), because=because)

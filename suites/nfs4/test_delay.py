# SPDX-License-Identifier: MIT
"""DELAY (RFC 5661 section 15.1.1.3): the server needs more time; the client sends the operation in a new request.

Any operation may get it at any time, so all other checks try again, and end as SKIP if it stays. Here it is judged once
for each operation.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import expect_that, proves, should, skip
from suites.nfs4.locks import WRITE_LT, lock_range
from suites.nfs4.opens import BOTH, READ, open_file

DELAY_ENDS = should(  # no time is named, and a tape may be slower than any client waits
    "RFC 5661",
    "15.1.1.3",
    "DELAY is about a time: an operation on a quiet object gets another answer when it is sent again later",
    also={"4.0": ("RFC 7530", "13.1.1.3")},
)
Operations: t.TypeAlias = Sequence[XdrType]
_FILE: t.Final = b"file"


def _on_file(*operations: XdrType) -> Callable[[Compounds, Nfs4Scratch], Operations]:
    return lambda _compounds, scratch: [op.putfh(scratch.file(_FILE, b"data")), *operations]


def _in_directory(*operations: XdrType) -> Callable[[Compounds, Nfs4Scratch], Operations]:
    def arrange(_compounds: Compounds, scratch: Nfs4Scratch) -> Operations:
        scratch.file(_FILE, b"data")
        return [op.putfh(scratch.handle), *operations]

    return arrange


def _rename(_compounds: Compounds, scratch: Nfs4Scratch) -> Operations:
    scratch.file(_FILE)
    return [op.putfh(scratch.handle), op.savefh(), op.rename(_FILE, b"other")]


def _link(_compounds: Compounds, scratch: Nfs4Scratch) -> Operations:
    return [op.putfh(scratch.file(_FILE)), op.savefh(), op.putfh(scratch.handle), op.link(b"other")]


def _readlink(_compounds: Compounds, scratch: Nfs4Scratch) -> Operations:
    return [op.putfh(scratch.symlink(_FILE, b"target")), op.readlink()]


def _close(compounds: Compounds, scratch: Nfs4Scratch) -> Operations:
    opened = open_file(compounds, scratch.file(_FILE))
    return [op.putfh(opened.handle), op.close(opened.stateid)]


def _lock(compounds: Compounds, scratch: Nfs4Scratch) -> Operations:
    opened = open_file(compounds, scratch.file(_FILE), BOTH)
    return [op.putfh(opened.handle), op.lock(opened.stateid, WRITE_LT, 0, 1, owner=new_state_owner())]


def _unlock(compounds: Compounds, scratch: Nfs4Scratch) -> Operations:
    opened = open_file(compounds, scratch.file(_FILE), BOTH)
    held = lock_range(compounds, opened, WRITE_LT, 0, 1)
    return [op.putfh(opened.handle), op.locku(held, 0, 1)]


ASKED: t.Final[dict[str, Callable[[Compounds, Nfs4Scratch], Operations]]] = {
    "access": _on_file(op.access(p.ACCESS4_READ)),
    "close": _close,
    "commit": _on_file(op.commit()),
    "create": _in_directory(op.mkdir(b"new", Fattr4(mode=0o755))),
    "getattr": _on_file(op.getattr("size", "change")),
    "link": _link,
    "lock": _lock,
    "locku": _unlock,
    "lookup": _in_directory(op.lookup(_FILE)),
    "lookupp": lambda _compounds, scratch: [op.putfh(scratch.handle), op.lookupp()],
    "open": _in_directory(op.open(_FILE, READ, owner=b"an owner")),
    "putfh": _on_file(),
    "putrootfh": lambda _compounds, _scratch: [op.putrootfh()],
    "read": _on_file(op.read(op.ANONYMOUS, 0, 4)),
    "readdir": _in_directory(op.readdir(0, bytes(8), dircount=4096, maxcount=4096)),
    "readlink": _readlink,
    "remove": _in_directory(op.remove(_FILE)),
    "rename": _rename,
    "sequence": lambda _compounds, _scratch: [],
    "setattr": _on_file(op.setattr(Fattr4(mode=0o600))),
    "write": _on_file(op.write(op.ANONYMOUS, 0, b"data")),
}
"""What a compound has after SEQUENCE whose last operation is this one. Nothing before it changes anything."""


@pytest.fixture
def operations(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> Operations:
    """Creates what the operation needs, which it can then do at once."""
    return ASKED[name](compounds, scratch)


@pytest.mark.parametrize("name", ASKED)
@proves(DELAY_ENDS, killed_by="delay4-never-ends")
def test_ends(compounds: Compounds, operations: Operations, name: str) -> None:
    """An operation on a quiet object that is sent again after DELAY gets another answer."""
    reply = compounds.compound(*operations)
    if reply.status == Nfsstat4.NFS4ERR_DELAY and reply.failed is not p.BY_NAME[name.upper()]:
        skip(f"{'COMPOUND' if reply.failed is None else reply.failed.name} answers NFS4ERR_DELAY")
    result = reply.res.resarray[-1] if reply.res.resarray else reply.res
    expect_that(
        reply.status != Nfsstat4.NFS4ERR_DELAY,
        "another status than NFS4ERR_DELAY",
        "NFS4ERR_DELAY until patience ended",
        f"{name.upper()} of a quiet object",
        reply=result,
        field="status",
    )

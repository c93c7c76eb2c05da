# SPDX-License-Identifier: MIT
"""Calls of NFSv2 and NFSv3 that a delegation of an NFSv4 client is in the way of (RFC 5661 section 10.2)."""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs2 import Nfs2Dialect
from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.side_by_side import Waiting
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsjudge import Requirement, expect, must, observe, skip, stated
from suites.catalogue import Call, Operands
from suites.nfs4.conflicts import conflict_of_version
from suites.nfs4.delegations import ACCESS, Granted, delegated, seconds_to_see_nothing

OTHERS_WAIT = must(
    "RFC 5661",
    "10.2",
    "a change by another protocol, or on the server itself, recalls a delegation, and waits for its end",
)
# "A guarantee that no open, and thus no READ or WRITE, has been done by another client"; and section 10.2 has other
# protocols recall where they would invalidate the guarantees of the delegation.
READS_CONFLICT = stated(
    "RFC 5661",
    "10.4.1",
    "as long as a write delegation is out no READ without an OPEN is done: it recalls, and waits for the end",
)
NAME: t.Final = b"file"
NEW_NAME: t.Final = b"new"
_QUIET: t.Final = 1.5
"""Seconds in which the call must not succeed while the delegation is neither returned nor revoked."""


def _operands(dialect: Nfs2Dialect | Nfs3Dialect, v4: Nfs4Dialect) -> Operands:
    """The delegated file as another version has it. SKIP where that does not find it: it may see another export."""
    status, directory = dialect.lookup(dialect.root, v4.scratch.name)
    if directory is None:
        skip(f"{dialect.title} does not find the directory that NFSv4 has made: LOOKUP answers {status}")
    status, file = dialect.lookup(directory, NAME)
    if file is None:
        skip(f"{dialect.title} does not find the file that NFSv4 has made: LOOKUP answers {status}")
    return Operands(file, directory, NAME, directory, NEW_NAME)


def expect_recall(
    v4: Nfs4Dialect,
    dialect: Nfs2Dialect | Nfs3Dialect,
    access: str,
    call: Call,
    because: Requirement = OTHERS_WAIT,
    truncates: int = 0,
) -> Waiting[None]:
    """Fail unless the call recalls a delegation, does not succeed while that is out, and succeeds afterwards.

    `truncates`: the size of the file, if the call may truncate it, or leave it as it is and then need no recall.
    """
    granted = yield from delegated(v4, v4.scratch, ACCESS[access], NAME, truncates)
    name = call.procedure.name
    conflict = conflict_of_version(granted, call.procedure, call.arguments(_operands(dialect, v4)))
    yield from conflict.brings(p.CbRecall4Args)
    if truncates and (yield from conflict.ends(0)) is not None and _size(granted) == truncates:
        granted.give_back()
        skip(f"{name} leaves the size of a file that exists")
    yield from conflict.need_callback(p.CbRecall4Args, because=because)
    observe("call that conflicts with a delegation", conflict.manner)
    early = yield from conflict.ends(seconds_to_see_nothing(v4, _QUIET, granted.lease))
    granted.need_kept()
    if early is not None:
        what = f"status of {name} before DELEGRETURN"
        expect(early, because=because).field("status", what).differs_from(type(early.status)(0))
    granted.give_back()
    if early is not None:
        skip(f"{name} answers {early.status.name} while a delegation is out, instead of being put off")
    # A server that asks to come back may go on with the call (RFC 1813 section 2.6), which is then made twice.
    yield from conflict.succeeds(*call.again)


def _size(granted: Granted) -> int | None:
    """Of the file, as the holder of the delegation sees it."""
    return expect(granted.holder.compound(op.putfh(granted.file), op.getattr("size"))).ok().attributes.size

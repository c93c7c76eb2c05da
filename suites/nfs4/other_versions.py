# SPDX-License-Identifier: MIT
"""Calls of NFSv2 and NFSv3 that a delegation of an NFSv4 client is in the way of (RFC 5661 section 10.2)."""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs2 import Nfs2Dialect
from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from nfsclient.protocol import nfs4 as p
from nfsjudge import Level, Requirement, expect, observe, skip
from suites.catalogue import Call, Operands
from suites.nfs4.delegations import ACCESS, conflict_beside, delegated, seconds_to_see_nothing

OTHERS_WAIT = Requirement(
    rfc="RFC 5661",
    section="10.2",
    level=Level.MUST,
    gist="a change by another protocol, or on the server itself, recalls a delegation, and waits for its end",
)
NAME: t.Final = b"file"
_QUIET: t.Final = 1.5
"""Seconds in which the call must not succeed while the delegation is neither returned nor revoked."""


def _operands(beside: Nfs2Dialect | Nfs3Dialect, v4: Nfs4Dialect) -> Operands:
    """The delegated file as another version has it. SKIP where that does not find it: it may see another export."""
    status, directory = beside.lookup(beside.root, v4.scratch.name)
    if directory is None:
        skip(f"{beside.title} does not find the directory that NFSv4 has made: LOOKUP answers {status}")
    status, file = beside.lookup(directory, NAME)
    if file is None:
        skip(f"{beside.title} does not find the file that NFSv4 has made: LOOKUP answers {status}")
    return Operands(file, directory, NAME)


def expect_recall(v4: Nfs4Dialect, beside: Nfs2Dialect | Nfs3Dialect, access: str, call: Call) -> None:
    """Fail unless the call recalls a delegation, does not succeed while that is out, and succeeds afterwards."""
    granted = delegated(v4, v4.scratch, ACCESS[access], NAME)
    name = call.procedure.name
    conflict = conflict_beside(granted, call.procedure, call.arguments(_operands(beside, v4)))
    conflict.need_callback(p.CbRecall4Args, because=OTHERS_WAIT)
    observe("call that conflicts with a delegation", conflict.manner)
    early = conflict.ends(seconds_to_see_nothing(v4, _QUIET, granted.lease))
    granted.need_kept()
    if early is not None:
        expect(early.status, f"status of {name} before DELEGRETURN").differs_from(type(early.status)(0))
    granted.give_back()
    if early is not None:
        skip(f"{name} answers {early.status.name} while a delegation is out, instead of being put off")
    conflict.succeeds()

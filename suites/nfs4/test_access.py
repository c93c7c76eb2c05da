# SPDX-License-Identifier: MIT
"""ACCESS (RFC 5661 section 18.1)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Session4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsjudge import Level, Requirement, expect, proves
from suites.nfs4.minors import MINORS

WITHIN_WHAT_IS_ASKED = Requirement(
    rfc="RFC 5661",
    section="18.1.3",
    level=Level.MUST,
    gist="supported and access have no bits that the request does not name, and access has none that supported lacks",
)
_RIGHTS = {
    "read": p.ACCESS4_READ,
    "lookup": p.ACCESS4_LOOKUP,
    "modify": p.ACCESS4_MODIFY,
    "extend": p.ACCESS4_EXTEND,
    "delete": p.ACCESS4_DELETE,
    "execute": p.ACCESS4_EXECUTE,
}


@MINORS
@pytest.mark.parametrize("name", _RIGHTS)
@proves(WITHIN_WHAT_IS_ASKED, killed_by=("access4-supports-everything", "access4-grants-everything"))
def test_within_asked(session: Session4, scratch: Nfs4Scratch, name: str) -> None:
    """ACCESS of one right says nothing of others."""
    asked = _RIGHTS[name]
    result = expect(session.compound(op.putfh(scratch.handle), op.access(asked))).of(p.ACCESS).ok()
    expect(result.supported & ~asked, "supported, but not asked for").equals(0)
    expect(result.access & ~result.supported, "access, but not supported").equals(0)

# SPDX-License-Identifier: MIT
"""`suites.gaps` by NFSv4."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Fattr4
from suites.gaps import Far, need_gaps


def need_far(compounds: Compounds, scratch: Nfs4Scratch, far: int, *, by_setattr: bool = False) -> Far:
    """SKIP where the gap of a file of `far` bytes would be filled, and that takes too long."""
    file = scratch.file("gap", b"x")

    def grow(offset: int) -> int:
        growing = op.setattr(Fattr4(size=offset + 1)) if by_setattr else op.write(op.ANONYMOUS, offset, b"x")
        return compounds.compound(op.putfh(file), growing).status

    return need_gaps(compounds.nfs4.rpc, far, grow, lambda: scratch.attributes(file, "space_used").space_used)

# SPDX-License-Identifier: MIT
"""DELAY (RFC 5661 section 15.1.1.3): the server needs more time; the client sends the operation in a new request.

Any operation may get it at any time, so all other checks try again, and end as SKIP if it stays. Here it is judged once
for each operation.
"""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from fixtures.checks.target import KnobsView
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import expect_that, proves, should, skip
from suites.nfs4.calls import ARRANGED, CALLS, IN_SESSIONS

DELAY_ENDS = should(  # no time is named, and a tape may be slower than any client waits
    "RFC 5661",
    "15.1.1.3",
    "DELAY is about a time: an operation on a quiet object gets another answer when it is sent again later",
    also={"4.0": ("RFC 7530", "13.1.1.3")},
)
Operations: t.TypeAlias = Sequence[XdrType]


@pytest.fixture
def operations(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> Operations:
    """Creates what the operation needs, which it can then do at once; it is the last one."""
    return [] if name == "sequence" else CALLS[name].arranged(compounds, scratch).operations


def _expect_answer(reply: CompoundReply, name: str) -> None:
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


@pytest.mark.parametrize("name", ["sequence", *ARRANGED])
@proves(DELAY_ENDS, killed_by="delay4-never-ends")
def test_ends(compounds: Compounds, operations: Operations, name: str) -> None:
    """An operation on a quiet object that is sent again after DELAY gets another answer."""
    _expect_answer(compounds.compound(*operations), name)


@pytest.mark.parametrize("name", ["sequence", "bind_conn_to_session", *IN_SESSIONS])
@proves(DELAY_ENDS, killed_by="delay4-never-ends")
def test_refusal(compounds: Compounds, knobs: KnobsView, name: str) -> None:
    """An operation that names nothing gets DELAY once, and then what it gets without."""
    knobs.set(jukebox_tries=1)
    _expect_answer(compounds.compound(*([] if name == "sequence" else [CALLS[name].plain])), name)

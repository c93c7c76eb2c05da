# SPDX-License-Identifier: MIT
"""Open files of checks."""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, new_state_owner, note_open, through_grace
from nfsclient.clients.nfs4 import CompoundReply, Compounds, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsjudge import expect, skip, unsupported

READ: t.Final = p.OPEN4_SHARE_ACCESS_READ | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
"""Access to ask for where no delegation is wanted. A server grants what it likes (RFC 5661 section 10.4)."""
WRITE: t.Final = p.OPEN4_SHARE_ACCESS_WRITE | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
BOTH: t.Final = p.OPEN4_SHARE_ACCESS_BOTH | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG


class Opened(t.NamedTuple):
    """A file that the check has opened."""

    handle: bytes
    stateid: p.Stateid4
    result: p.Open4ResOk


def try_open(
    compounds: Compounds, file: bytes, access: int = READ, deny: int = 0, **more: t.Any
) -> CompoundReply:
    """The reply to an OPEN of a file by its handle, by a new open owner unless one is given."""
    more.setdefault("owner", new_state_owner())
    reply = through_grace(compounds, op.putfh(file), op.open(None, access, deny, **more))
    if reply.status == p.Nfsstat4.NFS4_OK:
        note_open(compounds, file, reply.stateid)
    return reply


def open_file(compounds: Compounds, file: bytes, access: int = READ, deny: int = 0, **more: t.Any) -> Opened:
    """Open a file by its handle."""
    reply = expect(try_open(compounds, file, access, deny, **more)).ok()
    result = reply.of(p.OPEN).resok4
    assert result is not None
    return Opened(file, result.stateid, result)


def open_again(compounds: Compounds, first: Opened, access: int, deny: int, owner: bytes) -> Opened:
    """A further OPEN by the same owner, which changes the first one. SKIP if the server makes a separate open of it."""
    second = open_file(compounds, first.handle, access, deny, owner=owner)
    if second.stateid.other != first.stateid.other:
        skip("a second OPEN by the same owner gets a stateid with another other field")
    return second


def need_exclusive_creation(reply: CompoundReply) -> None:
    """UNSUPPORTED where OPEN with EXCLUSIVE4_1 has answered NOTSUPP."""
    if reply.status == p.Nfsstat4.NFS4ERR_NOTSUPP:
        unsupported("the server does not support exclusive creation: OPEN answers NFS4ERR_NOTSUPP", reply)


def create_file(
    compounds: Compounds,
    directory: bytes,
    name: bytes,
    how: p.Createhow4 | None = None,
    access: int = BOTH,
    *,
    may_lack_exclusive: bool = False,
) -> Opened:
    """Create a file and keep it open.

    `may_lack_exclusive`: UNSUPPORTED where exclusive creation is answered NOTSUPP. Section 18.16.4 has this answer for
    servers that cannot do it, and Table 10 of section 18.16.3 requires it: the check of the method itself judges that.
    """
    creating = op.open(name, access, owner=new_state_owner(), how=how or op.guarded())
    reply = through_grace(compounds, op.putfh(directory), creating, op.getfh())
    if may_lack_exclusive:
        need_exclusive_creation(reply)
    expect(reply).ok()
    result = reply.of(p.OPEN).resok4
    assert result is not None
    note_open(compounds, reply.handle, result.stateid)
    return Opened(reply.handle, result.stateid, result)


def need_exclusive(compounds: Compounds) -> None:
    """UNSUPPORTED where the reply cache is persistent: exclusive creation has no place there (Table 10)."""
    if isinstance(compounds, Session) and compounds.state.flags & p.CREATE_SESSION4_FLAG_PERSIST:
        unsupported(
            "the reply cache is persistent: GUARDED4 takes the place of exclusive creation (Table 10)"
        )


def another_client(v4: Nfs4Dialect) -> Compounds:
    """Another client, on another connection."""
    return v4.new_compounds(v4.connections.connect("nfs"))


def another_session(v4: Nfs4Dialect) -> Session:
    """The same, where its session matters."""
    return v4.new_session(v4.connections.connect("nfs"))

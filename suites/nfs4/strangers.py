# SPDX-License-Identifier: MIT
"""Another user than that of the run, by AUTH_SYS."""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.rpc.auth import AuthSys
from nfsjudge import skip, unsupported

STRANGER: t.Final = (4242, 4242)
"""uid and gid of a user who owns nothing that a check creates."""


def open_to_all(scratch: Nfs4Scratch, handle: bytes | None = None) -> None:
    """Everybody may use a directory, that of the check if no other is given. SKIP where its mode cannot be set."""
    which = scratch.handle if handle is None else handle
    status = scratch.run(op.putfh(which), op.setattr(Fattr4(mode=0o777))).status
    if status != Nfsstat4.NFS4_OK or scratch.attributes(which, "mode").mode != 0o777:
        skip("the directory of the check cannot be opened to other users")


def a_stranger(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Compounds:
    """A client of another user, who may write to the directory of the check. UNSUPPORTED where all are one user."""
    stranger = v4.new_compounds(v4.connections.connect("nfs"), AuthSys(*STRANGER))
    open_to_all(scratch)
    made = stranger.compound(op.putfh(scratch.handle), op.mkdir(b"of-the-stranger"), op.getattr("owner"))
    mine = scratch.attributes(scratch.directory("of-the-run"), "owner").owner
    if made.status != Nfsstat4.NFS4_OK:
        skip(f"another user cannot make a directory: {made.status}")
    if made.attributes.owner == mine:
        unsupported("files of both users belong to the same one")
    return stranger

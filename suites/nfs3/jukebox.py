# SPDX-License-Identifier: MIT
"""Calls that the server may answer with JUKEBOX, and what they change."""

from __future__ import annotations

import copy
import dataclasses
import typing as t

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import KnobsView
from fixtures.stage.patience import RunPatience, Spent
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Fattr3, Nfsstat3
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import expect_names, expect_unchanged, show, skip, unsupported
from suites.catalogue import Call

DELAYED: t.Final = ("lookup", "write", "link", "fsstat")
"""One code path of a server decides about JUKEBOX: these procedures stand for all. One server failed on two of them."""
OBJECT: t.Final = b"put-off"
"""The name of the object of a call; the names of others begin with it."""
_FAILURES: t.Final = frozenset(
    {
        Nfsstat3.NFS3ERR_IO,
        Nfsstat3.NFS3ERR_NXIO,
        Nfsstat3.NFS3ERR_NODEV,
        Nfsstat3.NFS3ERR_NOSPC,
        Nfsstat3.NFS3ERR_DQUOT,
        Nfsstat3.NFS3ERR_ROFS,
        Nfsstat3.NFS3ERR_ACCES,
        Nfsstat3.NFS3ERR_PERM,
        Nfsstat3.NFS3ERR_SERVERFAULT,
    }
)
"""Errors that any call may end with, after JUKEBOX or not."""
_FIELDS: t.Final = ("type", "fileid", "mode", "size", "nlink")
"""Attributes that show whether a call took effect."""


def with_full_patience(nfs3: Nfs3, name: str) -> Nfs3:
    """A client with the whole patience of the run for the procedure, which another check may have used up.

    SKIP if the run has no patience left with anything.
    """
    patience = nfs3.patience
    if not isinstance(patience, RunPatience) or f"NFSv3 {name}" not in patience.spent:
        return nfs3
    if patience.spent.is_tired:
        skip(f"the run has used up its patience: {name} is not called for long enough")
    client = copy.copy(nfs3)
    client.patience = dataclasses.replace(patience, spent=Spent())
    return client


def need_jukebox(rpc: RpcClient, knobs: KnobsView, call: Call, args: t.Any, xid: int | None = None) -> None:
    """Make the call, and go on if it returns JUKEBOX: always with the knob, else by chance.

    Ends the check as UNSUPPORTED if the server returns anything else.
    """
    if knobs.are_there:
        knobs.set(jukebox_calls=1, jukebox_names=f"{OBJECT.decode()}*")
    status = rpc.call(call.procedure, args, xid=xid).status
    if status != Nfsstat3.NFS3ERR_JUKEBOX:
        unsupported(f"the server does not answer JUKEBOX here: {call.procedure.name} answers {status}")


def final_status(reply: t.Any) -> Nfsstat3:
    """The status of a retry. Ends the check if the retry fails for another reason."""
    status: Nfsstat3 = reply.status
    if status == Nfsstat3.NFS3ERR_NOTSUPP:
        unsupported("the server does not support this procedure")
    if status in _FAILURES or status == Nfsstat3.NFS3ERR_JUKEBOX:
        skip(f"the retry fails for another reason: {status}")
    return status


Snapshot: t.TypeAlias = dict[bytes, Fattr3]
"""The names in the scratch directory, each with the attributes of its object."""


def snapshot(scratch: Nfs3Scratch) -> Snapshot:
    """What is in the scratch directory now."""
    found = {name: scratch.lookup(name) for name in sorted(scratch.names())}
    return {name: scratch.attributes(handle) for name, handle in found.items() if handle is not None}


def is_changed(scratch: Nfs3Scratch, before: Snapshot) -> bool:
    """Whether names, or the attributes that show a change, differ from those of a snapshot."""
    return _shown(snapshot(scratch)) != _shown(before)


def _shown(taken: Snapshot) -> dict[bytes, list[object]]:
    return {name: [getattr(seen, field) for field in _FIELDS] for name, seen in taken.items()}


def expect_no_change(scratch: Nfs3Scratch, before: Snapshot) -> None:
    """Expect the names and attributes of a snapshot."""
    __tracebackhide__ = True
    after = snapshot(scratch)
    expect_names(after, before, "names in the directory")
    for name, known in before.items():
        expect_unchanged(known, after[name], _FIELDS, show(name))

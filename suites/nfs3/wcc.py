# SPDX-License-Identifier: MIT
"""wcc_data of directories: which calls return it, in which field, and calls that fail."""

from __future__ import annotations

import typing as t

from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Nfsstat3, Sattr3
from nfsjudge import skip, unsupported
from suites.nfs3.calls import USING_NAMES, Place

CHANGES: t.Final = (
    *("create", "mkdir", "symlink", "mknod", "remove", "rmdir"),
    *("rename_from", "rename_to", "link"),
)
"""Calls that change `Place.here`."""
VARIANTS: t.Final = (*CHANGES, "unchecked", "exclusive", "rename_over")
"""Calls for `change_entry`: `CHANGES` and their variants. The names of `rename_over` are both in `Place.here`.

There is also `existing`, UNCHECKED with a name that exists. It changes nothing.
"""
_OVER: t.Final = b"renamed over another"
_VERIFIER: t.Final = b"nfsproof"
REFUSED: t.Final = (
    *("create", "mkdir", "remove", "rename_from", "rename_to"),
    *("symlink", "mknod", "rmdir", "link"),
)
"""Calls for `refused_call`."""
_FIELDS: t.Final = {
    "rename_from": "fromdir_wcc",
    "rename_to": "todir_wcc",
    "rename_over": "todir_wcc",
    "rename": "todir_wcc",
    "link": "linkdir_wcc",
}
EXISTING: t.Final = b"file"
"""A name in `Place.here` on which `refused_call` fails; the check creates it."""
_MISSING: t.Final = b"nobody-made-this"


def arrange_entry(place: Place, call: str, name: bytes) -> None:
    """Create what a call of `VARIANTS` needs."""
    if call == "rename_over":
        place.arrange("remove", _OVER)
    place.arrange("remove" if call in {"existing", "rename_over"} else call, name)


def change_entry(nfs3: Nfs3, place: Place, call: str, name: bytes) -> t.Any:
    """The reply to a call of `VARIANTS` in `Place.here`."""
    match call:
        case "unchecked" | "existing":
            return nfs3.create(place.here, name, CreateMode3.UNCHECKED, Sattr3(mode=0o644))
        case "exclusive":
            return nfs3.create(place.here, name, CreateMode3.EXCLUSIVE, verf=_VERIFIER)
        case "rename_over":
            return nfs3.rename(place.here, _OVER, place.here, name)
        case _:
            return place.call(nfs3, call, name)


def wcc_field(call: str) -> str:
    """The field of the results with the wcc_data of the directory in which the call changes a name."""
    return _FIELDS.get(call, "dir_wcc")


def wcc_of(reply: t.Any, field: str) -> t.Any:
    """The wcc_data of a successful change."""
    if reply.status == Nfsstat3.NFS3ERR_NOTSUPP:
        unsupported("the server does not support this procedure")
    if reply.resok is None:
        skip(f"the call fails, so that there is no wcc_data of a change: {reply.status}", reply)
    return getattr(reply.resok, field)


def refused_call(nfs3: Nfs3, place: Place, call: str) -> t.Any:
    """The reply to a call that cannot succeed: it creates `EXISTING`, or uses a name that does not exist."""
    if call == "rename_to":
        return nfs3.rename(place.here, _MISSING, place.here, b"new")
    return place.call(nfs3, call, _MISSING if call in USING_NAMES else EXISTING)

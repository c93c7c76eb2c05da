# SPDX-License-Identifier: MIT
"""wcc_data of directories: which calls return it, in which field, and calls that fail."""

from __future__ import annotations

import typing as t

from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import skip, unsupported
from suites.nfs3.calls import USING_NAMES, Place

CHANGES: t.Final = (
    *("create", "mkdir", "symlink", "mknod", "remove", "rmdir"),
    *("rename_from", "rename_to", "link"),
)
"""Calls that change `Place.here`."""
REFUSED: t.Final = (
    *("create", "mkdir", "remove", "rename_from", "rename_to"),
    *("symlink", "mknod", "rmdir", "link"),
)
"""Calls for `refused_call`."""
_FIELDS: t.Final = {
    "rename_from": "fromdir_wcc",
    "rename_to": "todir_wcc",
    "rename": "todir_wcc",
    "link": "linkdir_wcc",
}
EXISTING: t.Final = b"file"
"""A name in `Place.here` on which `refused_call` fails; the check creates it."""
_MISSING: t.Final = b"nobody-made-this"


def wcc_field(call: str) -> str:
    """The field of the results with the wcc_data of the directory in which the call changes a name."""
    return _FIELDS.get(call, "dir_wcc")


def wcc_of(reply: t.Any, field: str) -> t.Any:
    """The wcc_data of a successful change."""
    if reply.status == Nfsstat3.NFS3ERR_NOTSUPP:
        unsupported("the server does not support this procedure")
    if reply.resok is None:
        skip(f"the call fails, so that there is no wcc_data of a change: {reply.status}")
    return getattr(reply.resok, field)


def refused_call(nfs3: Nfs3, place: Place, call: str) -> t.Any:
    """The reply to a call that cannot succeed: it creates `EXISTING`, or uses a name that does not exist."""
    if call == "rename_to":
        return nfs3.rename(place.here, _MISSING, place.here, b"new")
    return place.call(nfs3, call, _MISSING if call in USING_NAMES else EXISTING)

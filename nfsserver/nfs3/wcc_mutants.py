# SPDX-License-Identifier: MIT
"""Mutants of wcc_data, in the replies of every procedure that changes a directory."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import CREATE, LINK, MKDIR, MKNOD, REMOVE, RENAME, RMDIR, SYMLINK, WccData
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_PROCEDURES: t.Final = (CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK)
_FIELDS: t.Final = ("dir_wcc", "fromdir_wcc", "todir_wcc", "linkdir_wcc")

Arm: t.TypeAlias = t.Literal["resok", "resfail"]
BendWcc: t.TypeAlias = Callable[[WccData], WccData]


def _bends_wcc(name: str, arm: Arm, gist: str) -> Callable[[BendWcc], BendWcc]:
    """Register what bends every wcc_data in one arm of a reply."""

    def register(bend: BendWcc) -> BendWcc:
        @mutant(name, bends=_PROCEDURES, breaks="RFC 1813 section 2.5", gist=gist)
        def middleware(
            _server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
        ) -> t.Any:
            reply = proceed(context, args)
            results = getattr(reply, arm)
            if results is None:
                return reply
            bent = {field: bend(getattr(results, field)) for field in _FIELDS if hasattr(results, field)}
            return replace(reply, **{arm: replace(results, **bent)})

        return bend

    return register


@_bends_wcc("wcc3-before-has-another-size", "resok", "dir_wcc.before has another size than the directory had")
def before_has_another_size(wcc: WccData) -> WccData:
    """Add one."""
    return wcc if wcc.before is None else replace(wcc, before=replace(wcc.before, size=wcc.before.size + 1))


def _of_another_object(wcc: WccData) -> WccData:
    return (
        wcc
        if wcc.after is None
        else replace(wcc, after=replace(wcc.after, fileid=wcc.after.fileid + 1_000_000))
    )


_bends_wcc("wcc3-after-is-of-another-object", "resok", "dir_wcc.after has the fileid of another object")(
    _of_another_object
)
_bends_wcc(
    "wcc3-refusals-show-another-object",
    "resfail",
    "dir_wcc.after of a refusal has the fileid of another object",
)(_of_another_object)

# SPDX-License-Identifier: MIT
"""Mutants of wcc_data, in the replies of every procedure that changes a directory."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    CREATE,
    LINK,
    MKDIR,
    MKNOD,
    REMOVE,
    RENAME,
    RMDIR,
    SYMLINK,
    WccAttr,
    WccData,
)
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


@_bends_wcc("wcc3-before-is-from-after", "resok", "dir_wcc.before is of the directory as it is afterwards")
def before_is_from_after(wcc: WccData) -> WccData:
    """Look too late."""
    after = wcc.after
    return wcc if after is None else replace(wcc, before=WccAttr(after.size, after.mtime, after.ctime))


@_bends_wcc("wcc3-after-is-stale", "resok", "dir_wcc.after is of the directory as it was before")
def after_is_stale(wcc: WccData) -> WccData:
    """Look too early."""
    before, after = wcc.before, wcc.after
    if before is None or after is None:
        return wcc
    stale = replace(after, size=before.size, mtime=before.mtime, ctime=before.ctime)
    return replace(wcc, after=stale)


@_bends_wcc("wcc3-after-has-old-times", "resok", "dir_wcc.after has the times from before")
def after_has_old_times(wcc: WccData) -> WccData:
    """Take them from there."""
    before, after = wcc.before, wcc.after
    if before is None or after is None:
        return wcc
    return replace(wcc, after=replace(after, mtime=before.mtime, ctime=before.ctime))


_bends_wcc("wcc3-refusals-have-another-size", "resfail", "dir_wcc.before of a refusal has another size")(
    before_has_another_size
)

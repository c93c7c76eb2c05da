# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_wcc_data.py catch."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    COMMIT,
    CREATE,
    GETATTR,
    LINK,
    MKDIR,
    MKNOD,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    SYMLINK,
    WRITE,
    Fattr3,
    WccAttr,
    WccData,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, amend_refusal, change
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import DIRECTORY_CHANGES, before_of, name_fields, with_old_times

_FIELDS: t.Final = {"from_": "fromdir_wcc", "to": "todir_wcc", "link": "linkdir_wcc"}


# ---------------------------------------------------------------- two connections


@mutant((GETATTR, *DIRECTORY_CHANGES))
def wcc3_caches_directories_by_connection(call: AnyCall) -> t.Any:
    """before contains what GETATTR last returned for the directory on the same connection"""
    said: dict[t.Any, Fattr3] = call.state.setdefault("said", {})
    reply = call.proceed()
    if reply.resok is None:
        return reply
    if call.operation is GETATTR:
        said[call.peer, call.args.object] = reply.resok.obj_attributes
        return reply
    bent = {}
    for field in name_fields(call.operation):
        old = said.get((call.peer, getattr(call.args, field).dir))
        path = _FIELDS.get(field, "dir_wcc")
        if old is not None:
            bent[path] = replace(getattr(reply.resok, path), before=WccAttr(old.size, old.mtime, old.ctime))
    return replace(reply, resok=replace(reply.resok, **bent))


@mutant((GETATTR, SETATTR, WRITE, COMMIT))
def wcc3_caches_files_by_connection(call: AnyCall) -> t.Any:
    """before of a file contains what the server last returned for it on the same connection"""
    said: dict[t.Any, Fattr3] = call.state.setdefault("said", {})
    reply = call.proceed()
    is_object = call.operation in {GETATTR, SETATTR}
    known = call.peer, call.args.object if is_object else call.args.file
    if call.operation is GETATTR:
        if reply.resok is not None:
            said[known] = reply.resok.obj_attributes
        return reply
    field = "obj_wcc" if is_object else "file_wcc"
    after = getattr(reply.resok or reply.resfail, field).after
    if known in said:
        bend = amend if reply.resok is not None else amend_refusal
        reply = bend(reply, field, before=before_of(said[known]))
    if after is not None:
        said[known] = after
    return reply


@mutant((GETATTR, *DIRECTORY_CHANGES))
def getattr3_caches_directories_by_connection(call: AnyCall) -> t.Any:
    """GETATTR of a directory repeats its last answer on this connection after another one has changed it"""
    state = call.state
    changed_by: dict[bytes, t.Any] = state.setdefault("changed_by", {})
    said: dict[t.Any, t.Any] = state.setdefault("said", {})
    if call.operation is not GETATTR:
        changed_by.update((getattr(call.args, field).dir, call.peer) for field in name_fields(call.operation))
        return call.proceed()
    known = said.get((call.peer, call.args.object))
    if known is not None and changed_by.get(call.args.object, call.peer) != call.peer:
        return known
    reply = said[call.peer, call.args.object] = call.proceed()
    return reply


_CHANGING: t.Final = (CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK)
_WCC_FIELDS: t.Final = ("dir_wcc", "fromdir_wcc", "todir_wcc", "linkdir_wcc")


def _amend_wcc(call: AnyCall, bend: Callable[[WccData], WccData]) -> t.Any:
    """A success with other wcc_data of every directory."""
    reply = call.proceed()
    return amend(reply, **_bent(reply.resok, bend))


def _amend_wcc_of_refusals(call: AnyCall, bend: Callable[[WccData], WccData]) -> t.Any:
    """A refusal with other wcc_data of every directory."""
    reply = call.proceed()
    return amend_refusal(reply, **_bent(reply.resfail, bend))


def _bent(results: t.Any, bend: Callable[[WccData], WccData]) -> dict[str, WccData]:
    return {field: bend(getattr(results, field)) for field in _WCC_FIELDS if hasattr(results, field)}


def _with_another_size(wcc: WccData) -> WccData:
    return change(wcc, "before", size=lambda it: it.size + 1)


def _of_another_object(wcc: WccData) -> WccData:
    return change(wcc, "after", fileid=lambda it: it.fileid + 1_000_000)


@mutant(_CHANGING)
def wcc3_before_has_another_size(call: AnyCall) -> t.Any:
    """dir_wcc.before has a wrong size"""
    return _amend_wcc(call, _with_another_size)


@mutant(_CHANGING)
def wcc3_refusals_have_another_size(call: AnyCall) -> t.Any:
    """dir_wcc.before of a refusal has a wrong size"""
    return _amend_wcc_of_refusals(call, _with_another_size)


@mutant(_CHANGING)
def wcc3_after_is_of_another_object(call: AnyCall) -> t.Any:
    """dir_wcc.after has the fileid of another object"""
    return _amend_wcc(call, _of_another_object)


@mutant(_CHANGING)
def wcc3_refusals_show_another_object(call: AnyCall) -> t.Any:
    """dir_wcc.after of a refusal has the fileid of another object"""
    return _amend_wcc_of_refusals(call, _of_another_object)


@mutant(_CHANGING)
def wcc3_before_is_from_after(call: AnyCall) -> t.Any:
    """dir_wcc.before has the attributes from after the call"""
    return _amend_wcc(
        call, lambda wcc: wcc if wcc.after is None else replace(wcc, before=before_of(wcc.after))
    )


@mutant(_CHANGING)
def wcc3_after_is_stale(call: AnyCall) -> t.Any:
    """dir_wcc.after has the attributes from before the call"""
    return _amend_wcc(
        call, lambda wcc: change(with_old_times(wcc), "after", size=lambda it: (wcc.before or it).size)
    )


@mutant(_CHANGING)
def wcc3_after_has_old_times(call: AnyCall) -> t.Any:
    """dir_wcc.after has the old times"""
    return _amend_wcc(call, with_old_times)

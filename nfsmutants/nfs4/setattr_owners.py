# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_setattr_owners.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate4
from nfsserver.fs import SUPERUSER
from nfsserver.nfs4.common import compound_of, is_utf8

Setattr = Call[p.Setattr4Args, p.Setattr4Res]
_NAMES: t.Final = ("owner", "owner_group")


def _given(call: Setattr) -> dict[str, bytes]:
    """The owner and the group in the arguments."""
    values = {name: getattr(call.args.obj_attributes, name) for name in _NAMES}
    return {name: bytes(value) for name, value in values.items() if value is not None}


def _with(call: Setattr, **changes: t.Any) -> p.Setattr4Res:
    return call.proceed_with(obj_attributes=call.args.obj_attributes.changed(**changes))


@mutant(p.SETATTR)
def setattr4_read_only_fileid_is_ignored(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the fileid alone succeeds, and sets nothing"""
    is_alone = p.names_of(call.args.obj_attributes.attrmask) == ["fileid"]
    return p.Setattr4Res(Nfsstat4.NFS4_OK, []) if is_alone else call.proceed()


@mutant(p.SETATTR)
def setattr4_unknown_owner_is_inval(call: Setattr) -> p.Setattr4Res:
    """SETATTR of an owner that nobody has gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_BADOWNER, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.SETATTR)
def setattr4_unknown_owner_is_nobody(call: Setattr) -> p.Setattr4Res:
    """SETATTR of an owner that nobody has gives the file to nobody"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_BADOWNER:
        return result
    return _with(call, **dict.fromkeys(_given(call), b"65534"))


@mutant(p.SETATTR)
def setattr4_owner_is_next_to_that(call: Setattr) -> p.Setattr4Res:
    """SETATTR of an owner by digits gives an object that has been given away once to the next one"""
    given = {name: text for name, text in _given(call).items() if text.isdigit() and text in call.state}
    for text in _given(call).values():
        call.state[text] = True
    return _with(call, **{name: b"%d" % (int(text) + 1) for name, text in given.items()})


@mutant(p.SETATTR)
def setattr4_owner_of_any_bytes_is_nobody(call: Setattr) -> p.Setattr4Res:
    """SETATTR of an owner that is no UTF-8 gives the file to nobody"""
    bad = [name for name, text in _given(call).items() if not is_utf8(text)]
    return _with(call, **dict.fromkeys(bad, b"65534"))


@mutant(p.SETATTR)
def setattr4_anybody_gives_files_away(call: Setattr) -> p.Setattr4Res:
    """SETATTR of another owner succeeds for each user"""
    if call.args.obj_attributes.owner is None:
        return call.proceed()
    state = compound_of(call.context)
    known, state.caller = state.caller, SUPERUSER
    try:
        return call.proceed()
    finally:
        state.caller = known

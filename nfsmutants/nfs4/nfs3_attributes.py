# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_nfs3_attributes.py catch: each version has its own attributes."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs3 as q
from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import replace
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, succeeded
from nfsserver.nfs4.common import compound_of

Getattr = Call[p.Getattr4Args, p.Getattr4Res]
Other: t.TypeAlias = dict[str, t.Callable[[t.Any], t.Any]]
_OBJECTS: t.Final[Other] = {
    "type": lambda _: p.NfsFtype4.NF4BLK,
    "size": lambda size: size + 1,
    "numlinks": lambda links: links + 1,
}
_VERSIONS: t.Final[Other] = {
    "size": _OBJECTS["size"],
    "numlinks": _OBJECTS["numlinks"],
    "mode": lambda mode: mode ^ 1,
    "fileid": lambda fileid: fileid + 1,
    "time_modify": lambda time: p.Nfstime4(time.seconds - 1, time.nseconds),
    "owner": lambda owner: owner + b"1",
    "owner_group": lambda owner: owner + b"1",
}


def _alone(call: Getattr, others: Other) -> p.Getattr4Res:
    """Another value of an attribute, if the request names no other attribute."""
    asked = p.names_of(call.args.attr_request)
    result = call.proceed()
    known = result.resok4.obj_attributes if result.resok4 is not None else None
    if known is None or len(asked) != 1 or asked[0] not in others or getattr(known, asked[0]) is None:
        return result
    name = asked[0]
    return amend4(result, obj_attributes=known.changed(**{name: others[name](getattr(known, name))}))


@mutant(p.GETATTR)
def getattr4_is_of_another_object(call: Getattr) -> p.Getattr4Res:
    """GETATTR of type, size or numlinks returns another value than NFSv3 does"""
    return _alone(call, _OBJECTS)


@mutant(p.GETATTR)
def getattr4_has_its_own_modes_and_owners(call: Getattr) -> p.Getattr4Res:
    """GETATTR of anything but the type returns another value than NFSv3 does"""
    return _alone(call, _VERSIONS)


_NAMES: t.Final = ("mode", "size", "time_modify")


@mutant((p.GETATTR, p.SETATTR, p.WRITE))
def getattr4_remembers_what_nfs4_has_seen(call: AnyCall) -> t.Any:
    """GETATTR of NFSv4 returns mode, size and time_modify of its first time, until NFSv4 changes the object"""
    inode, result = compound_of(call.context).current, call.proceed()
    if inode is None or not succeeded(result):
        return result
    key = inode.fileid, inode.generation
    if call.operation is not p.GETATTR:
        call.state.pop(key, None)
        return result
    known = result.resok4.obj_attributes
    kept: dict[str, t.Any] = call.state.setdefault(key, {})
    for name in _NAMES:
        if getattr(known, name) is not None:
            kept.setdefault(name, getattr(known, name))
    old = {name: value for name, value in kept.items() if getattr(known, name) is not None}
    return amend4(result, obj_attributes=known.changed(**old)) if old else result


@mutant((q.GETATTR, q.SETATTR))
def getattr3_remembers_what_nfs3_has_seen(call: AnyCall) -> t.Any:
    """GETATTR of NFSv3 returns mode, size and mtime of its first time, until NFSv3 sets some"""
    inode, reply = inode_of(call.server, call.args.object), call.proceed()
    if inode is None or reply.status != 0:
        return reply
    key = inode.fileid, inode.generation
    if call.operation is q.SETATTR:
        call.state.pop(key, None)
        return reply
    seen = reply.resok.obj_attributes
    old = call.state.setdefault(key, seen)
    kept = replace(seen, mode=old.mode, size=old.size, mtime=old.mtime)
    return replace(reply, resok=replace(reply.resok, obj_attributes=kept))

# SPDX-License-Identifier: MIT
"""Knobs that change replies of NFSv3, not the file system: functions around handlers, which do not know of them.

JUKEBOX, short counts, pages of entries, and attributes and handles withheld. See `nfsserver.knobs`.
"""

from __future__ import annotations

import random
import typing as t
from collections.abc import Iterator
from fnmatch import fnmatchcase

from nfsclient.protocol import nfs3 as protocol
from nfsclient.protocol.nfs3 import (
    Diropargs3,
    Fattr3,
    Nfsstat3,
    Read3Args,
    Read3Res,
    WccAttr,
    Write3Args,
    Write3Res,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import Struct, Union, XdrType, fields_of, replace, shape_of
from nfsclient.xdr.kinds import OpaqueNode, OptionalNode, StructNode
from nfsserver.freedom import Freedom
from nfsserver.fs import FsError, Inode
from nfsserver.handlers import ServerApi
from nfsserver.knobs import Settings
from nfsserver.middleware import Proceed

_EVERY: t.Final = tuple(procedure for procedure in protocol.NFS3.procedures if procedure is not protocol.NULL)
_LISTINGS: t.Final = (protocol.READDIR, protocol.READDIRPLUS)
_OF_DATA: t.Final = (protocol.READ, protocol.WRITE, protocol.COMMIT, protocol.SETATTR)
_RECALLING: t.Final = (
    *_OF_DATA,
    protocol.CREATE,
    protocol.REMOVE,
    protocol.RENAME,
    protocol.LINK,
)
"""Calls that conflict with a write delegation that somebody else holds (RFC 5661 section 10.2)."""

Name: t.TypeAlias = tuple[int, int, bytes]
"""Where a file is: identity of its directory, and its name there."""
ROOT: t.Final[Name] = (0, 0, b"/")
_MOST_REMEMBERED = 100_000


# ---------------------------------------------------------------- short counts and pages


def accept_less(
    server: ServerApi, context: CallContext, args: Write3Args, proceed: Proceed[Write3Args, Write3Res]
) -> Write3Res:
    """WRITE as if only the beginning had been sent."""
    size = min(args.count, len(args.data))
    now = server.knobs.now
    taken = size if now.write_accepts is None else min(size, now.write_accepts)
    if now.write_accepts_random is not None and taken:
        source = server.knobs.memory.setdefault("write share", random.Random(now.write_accepts_random))
        taken = source.randint(1, taken)
    if args.count != len(args.data) or taken == size:
        return proceed(context, args)
    return proceed(context, replace(args, count=taken, data=memoryview(args.data)[:taken]))


def _accepts_less(now: Settings, size: int) -> bool:
    return size > (1 if now.write_accepts_random is not None else now.write_accepts or 0)


def return_less(
    server: ServerApi, context: CallContext, args: Read3Args, proceed: Proceed[Read3Args, Read3Res]
) -> Read3Res:
    """READ as if less had been asked for."""
    most = server.knobs.now.read_returns or args.count
    return proceed(context, replace(args, count=min(args.count, most)))


def list_less(server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """READDIR and READDIRPLUS with the first entries only, and more to come."""
    reply = proceed(context, args)
    most = server.knobs.now.readdir_page
    if reply.resok is None or most is None or len(reply.resok.entries) <= most:
        return reply
    return replace(reply, resok=replace(reply.resok, entries=reply.resok.entries[:most], eof=False))


# ---------------------------------------------------------------- what is withheld


def withhold(server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """Remove the optional parts of a reply that knobs withhold."""
    return _without(proceed(context, args), server.knobs.now)


def _without(value: t.Any, now: Settings) -> t.Any:
    if isinstance(value, Union):
        arms = {
            name: _without(arm, now) for name in ("resok", "resfail") if (arm := getattr(value, name, None))
        }
        return replace(value, **arms)
    if not isinstance(value, Struct):
        return value
    changes: dict[str, object] = {}
    for name, node in fields_of(type(value)):
        inner = getattr(value, name)
        if isinstance(node, OptionalNode):
            if _is_withheld(node, now):
                changes[name] = None
        elif isinstance(inner, list):
            changes[name] = [_without(each, now) for each in inner]
        elif isinstance(node, StructNode):
            changes[name] = _without(inner, now)
    return replace(value, **changes) if changes else value


def _is_withheld(node: OptionalNode, now: Settings) -> bool:
    if isinstance(node.inner, OpaqueNode):
        return now.withhold_handles
    if isinstance(node.inner, StructNode):
        return (
            now.withhold_post_op
            if node.inner.cls is Fattr3
            else node.inner.cls is WccAttr and now.withhold_pre_op
        )
    return False


# ---------------------------------------------------------------- JUKEBOX


def place_of(inode: Inode) -> Name:
    """Where an object is, by the name that it was given last."""
    if inode.place is None:
        return ROOT
    directory, name = inode.place
    return directory.fileid, directory.generation, name


def _inode(server: ServerApi, handle: bytes) -> Inode | None:
    try:
        return server.backend.resolve(handle)
    except FsError:
        return None


def places(server: ServerApi, args: XdrType) -> Iterator[Name]:
    """The files that a call is about: those of its handles, and those that it names in directories."""
    for name, _ in fields_of(type(args)):
        value = getattr(args, name)
        if isinstance(value, Diropargs3):
            directory = _inode(server, value.dir)
            if directory is not None:
                yield directory.fileid, directory.generation, value.name
                yield place_of(directory)
        elif isinstance(value, bytes) and name in {"object", "file", "dir", "symlink", "fsroot"}:
            inode = _inode(server, value)
            if inode is not None:
                yield place_of(inode)


def reply_with_nothing(res: type[t.Any], status: Nfsstat3) -> t.Any:
    """The result of this status, without anything that may be left out of it."""
    arm = shape_of(res).arm_for(status)
    if arm is None or not isinstance(arm.node, StructNode):
        return res(status)
    cls, name = arm.node.cls, str(arm.name)
    nothing = [node.cls() if isinstance(node, StructNode) else None for _, node in fields_of(cls)]
    return res(status, **{name: cls(*nothing)})


def _later(context: CallContext) -> t.Any:
    return reply_with_nothing(context.operation.res, Nfsstat3.NFS3ERR_JUKEBOX)


def _is_early(server: ServerApi, place: Name) -> bool:
    """Whether a file is not available yet; counts the call."""
    now, memory = server.knobs.now, server.knobs.memory
    if len(memory) > _MOST_REMEMBERED:
        memory.clear()
    calls, first = memory.get(place, (0, server.backend.clock.now_ns()))
    memory[place] = (calls + 1, first)
    elapsed = server.backend.clock.now_ns() - first
    return bool(calls < now.jukebox_calls or elapsed < now.jukebox_seconds * 1e9)


def jukebox(server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """JUKEBOX for the first calls about a file, or for a while."""
    now = server.knobs.now
    if now.jukebox_calls or now.jukebox_seconds:
        chosen = [place for place in places(server, args) if _matches(place[2], now.jukebox_names)]
        if any([_is_early(server, place) for place in chosen]):  # noqa: C419  (all of them are counted)
            return _later(context)
    return proceed(context, args)


def _names(server: ServerApi, args: t.Any) -> list[bytes]:
    return [name for _, _, name in places(server, args)]


def _names_of_data(server: ServerApi, args: t.Any) -> list[bytes]:
    return _names(server, args) if _needs_data(args) else []


def _needs_data(args: t.Any) -> bool:
    return not isinstance(args, protocol.Setattr3Args) or args.new_attributes.size is not None


def _nothing(_reply: t.Any) -> list[int]:
    """For decisions by name only."""
    return []


def _entries(reply: t.Any) -> list[int]:
    return [len(reply.resok.entries) if reply.resok is not None else 0]


def recall(server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """JUKEBOX for calls that must wait until a delegation is returned."""
    if any(_matches(place[2], server.knobs.now.delegated_names) for place in places(server, args)):
        return _later(context)
    return proceed(context, args)


def fetch(server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """JUKEBOX for the first call that needs the data of an offline file."""
    now, memory = server.knobs.now, server.knobs.memory
    away = [
        place for place in places(server, args) if _needs_data(args) and _matches(place[2], now.offline_names)
    ]
    fetched = [memory.setdefault(("fetched", place), context.xid) == context.xid for place in away]
    return _later(context) if any(fetched) else proceed(context, args)


def _matches(name: bytes, glob: str) -> bool:
    return bool(glob) and fnmatchcase(name, glob.encode())


FREEDOMS: t.Final = (
    Freedom(
        (protocol.WRITE,),
        ("write_accepts", "write_accepts_random"),
        accept_less,
        of_call=lambda _, args: [args.count],
        of_reply=_nothing,
        differs=_accepts_less,
    ),
    Freedom(
        (protocol.READ,),
        ("read_returns",),
        return_less,
        of_reply=lambda reply: [len(reply.resok.data) if reply.resok is not None else 0],
        differs=lambda now, size: size > now.read_returns,
    ),
    Freedom(
        _LISTINGS,
        ("readdir_page",),
        list_less,
        of_reply=_entries,
        differs=lambda now, entries: entries > now.readdir_page,
    ),
    Freedom(_EVERY, ("withhold_pre_op", "withhold_post_op", "withhold_handles"), withhold),
    Freedom(
        _OF_DATA,
        ("offline_names",),
        fetch,
        of_call=_names_of_data,
        of_reply=_nothing,
        differs=lambda now, name: _matches(name, now.offline_names),
    ),
    Freedom(
        _RECALLING,
        ("delegated_names",),
        recall,
        of_call=_names,
        of_reply=_nothing,
        differs=lambda now, name: _matches(name, now.delegated_names),
    ),
    Freedom(
        _EVERY,
        ("jukebox_calls", "jukebox_seconds", "jukebox_names"),
        jukebox,
        of_call=_names,
        of_reply=_nothing,
        differs=lambda now, name: (
            bool(now.jukebox_calls or now.jukebox_seconds) and _matches(name, now.jukebox_names)
        ),
    ),
)
"""The innermost first."""

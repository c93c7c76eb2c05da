# SPDX-License-Identifier: MIT
"""Knobs that delay calls: JUKEBOX (RFC 1813 section 2.6)."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

from nfsclient.protocol.nfs3 import Diropargs3, Nfsstat3, Setattr3Args
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import XdrType, fields_of
from nfsserver.deciding import Name, comes_too_early, is_early, matches, place_of
from nfsserver.fs import FsError, Inode
from nfsserver.handlers import ServerApi
from nfsserver.middleware import Proceed
from nfsserver.nfs3.freedoms.withheld import reply_with_nothing
from nfsserver.settings import Settings


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


def _later(context: CallContext) -> t.Any:
    return reply_with_nothing(context.operation.res, Nfsstat3.NFS3ERR_JUKEBOX)


def jukebox(server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """JUKEBOX for the first calls about a file, or for a while."""
    now = server.knobs.now
    if not (now.jukebox_calls or now.jukebox_seconds):
        return proceed(context, args)
    early = [is_early(server, place) for place in places(server, args)]  # all of them are counted
    return _later(context) if any(early) else proceed(context, args)


def try_again(server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """JUKEBOX for the first tries of a call, whatever it is about."""
    arguments = context.message[context.arguments_at :]
    if comes_too_early(server, context.operation.name, arguments):
        return _later(context)
    return proceed(context, args)


def names_of(server: ServerApi, args: t.Any) -> list[bytes]:
    """The names of the files that a call is about, as marks of `Freedom`."""
    return [name for _, _, name in places(server, args)]


def names_of_data(server: ServerApi, args: t.Any) -> list[bytes]:
    """The same for calls that need their data."""
    return names_of(server, args) if _needs_data(args) else []


def _needs_data(args: t.Any) -> bool:
    return not isinstance(args, Setattr3Args) or args.new_attributes.size is not None


def recall(server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """JUKEBOX for calls that must wait until a delegation is returned."""
    if any(matches(place[2], server.knobs.now.delegated_names) for place in places(server, args)):
        return _later(context)
    return proceed(context, args)


def fetch(server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """JUKEBOX for the first call that needs the data of an offline file."""
    now, memory = server.knobs.now, server.knobs.memory
    away = [
        place for place in places(server, args) if _needs_data(args) and matches(place[2], now.offline_names)
    ]
    fetched = [memory.setdefault(("fetched", place), context.xid) == context.xid for place in away]
    return _later(context) if any(fetched) else proceed(context, args)


def delays(now: Settings, name: bytes) -> bool:
    """Whether `jukebox` may delay a call about a file of this name."""
    return bool(now.jukebox_calls or now.jukebox_seconds) and matches(name, now.jukebox_names)

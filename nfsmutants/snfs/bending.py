# SPDX-License-Identifier: MIT
"""What mutants of Spritely NFS share: its state table, and another way to do something for the time of a call."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Iterator

from nfsclient.protocol import nfs2
from nfsclient.protocol import snfs as p
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, Call
from nfsserver.fs import Inode
from nfsserver.snfs.calling import key_of
from nfsserver.state.spritely import Block, Entry, Key, SpritelyState

Open: t.TypeAlias = Call[p.Openargs, p.Openopres]
Close: t.TypeAlias = Call[p.Closeargs, p.Closeopres]
Write: t.TypeAlias = Call[nfs2.Writeargs, nfs2.Attrstat]
Read: t.TypeAlias = Call[nfs2.Readargs, nfs2.Readres]


def table_of(call: AnyCall) -> SpritelyState:
    """The state table of the server."""
    return call.server.spritely


def file_of(call: AnyCall) -> Inode | None:
    """The file that a call is about."""
    return inode_of(call.server, call.args.file)


def entry_of(call: AnyCall) -> Entry | None:
    """What the server knows of it."""
    inode = file_of(call)
    return None if inode is None else table_of(call).entries.get(inode)


def block_of(call: AnyCall) -> Block | None:
    """What the caller has of it."""
    entry = entry_of(call)
    return None if entry is None else entry.blocks.get(caller_of(call))


def caller_of(call: AnyCall) -> Key:
    """The client that calls."""
    return key_of(call.context)


def is_locked(call: AnyCall) -> bool:
    """Whether a callback about the file is under way."""
    entry = entry_of(call)
    return entry is not None and entry.is_locked


@contextlib.contextmanager
def swapped(thing: object, **others: object) -> Iterator[None]:
    """Other attributes of an object, for the time of a call."""
    before = {name: vars(thing)[name] for name in others if name in vars(thing)}
    for name, other in others.items():
        setattr(thing, name, other)
    try:
        yield
    finally:
        for name in others:
            if name in before:
                setattr(thing, name, before[name])
            else:
                delattr(thing, name)


def calls_nobody(*_args: object, **_options: object) -> dict[Key, t.Any]:
    """In place of `plan_open`."""
    return {}


def regardless(call: Open, entry: Entry) -> p.Openopres:
    """OPEN, as if no callback about the file were needed, or under way."""
    under_way, entry.calls = entry.calls, {}
    try:
        with swapped(table_of(call), plan_open=calls_nobody):
            return call.proceed()
    finally:
        entry.calls = under_way

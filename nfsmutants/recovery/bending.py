# SPDX-License-Identifier: MIT
"""What mutants do in a crash: to the objects that were made before it, and to the fields that calls have changed.

A mutant cannot act while the server is down. It acts in the first of its calls after the start, which should be
one of `LOOKS`, with which all checks go on.
"""

from __future__ import annotations

import contextlib
import functools
import typing as t
from collections.abc import Callable

from nfsclient.protocol import nfs2, nfs3
from nfsmutants.bending import child_of, inode_of
from nfsmutants.form import AnyCall
from nfsserver.fs import FsError, Inode, remove_tree_locally

LOOKS: t.Final = (nfs2.GETATTR, nfs3.GETATTR)
CREATES: t.Final = (nfs2.CREATE, nfs3.CREATE)
MKDIRS: t.Final = (nfs2.MKDIR, nfs3.MKDIR)
SYMLINKS: t.Final = (nfs2.SYMLINK, nfs3.SYMLINK)
LINKS: t.Final = (nfs2.LINK, nfs3.LINK)
REMOVES: t.Final = (nfs2.REMOVE, nfs3.REMOVE)
RENAMES: t.Final = (nfs2.RENAME, nfs3.RENAME)


def has_restarted(call: AnyCall) -> bool:
    """Whether this is the first call since the server has started again."""
    before = call.state.setdefault("boots", call.backend.boots)
    call.state["boots"] = call.backend.boots
    return bool(before != call.backend.boots)


def at_the_crash(call: AnyCall, damage: Callable[[], object], *, of: Inode | None = None) -> None:
    """Do this in the next crash; what was noted last is done first. Of one object, only the last counts."""
    damages: dict[object, Callable[[], object]] = call.state.setdefault("damages", {})
    key: object = object() if of is None else of
    damages.pop(key, None)
    damages[key] = damage


def strike(call: AnyCall) -> None:
    """If the server has crashed, do what was noted."""
    if has_restarted(call):
        for damage in reversed(call.state.pop("damages", {}).values()):
            with contextlib.suppress(FsError):
                damage()


def damage_new(call: AnyCall, damage: Callable[[int, Inode], None]) -> t.Any:
    """Let a crash do this to all objects that this and later calls create, with their numbers."""
    strike(call)
    known = set(call.backend.fs.inodes())
    reply = call.proceed()
    for inode in call.backend.fs.inodes():
        if inode not in known:
            number = call.state["made"] = call.state.get("made", 0) + 1
            at_the_crash(call, functools.partial(damage, number, inode))
    return reply


def restore_field(call: AnyCall, field: str) -> t.Any:
    """Let a crash undo what the last change did to a field, of each object except directories."""
    strike(call)
    if call.operation in LOOKS:
        return call.proceed()
    values = [(inode, getattr(inode, field)) for inode in call.backend.fs.inodes() if inode.directory is None]
    reply = call.proceed()
    for inode, value in values:
        if getattr(inode, field) != value:
            at_the_crash(call, functools.partial(setattr, inode, field, value), of=inode)
    return reply


def lose_name(inode: Inode) -> None:
    """Take the last name of an object away."""
    if inode.place is None:
        return
    directory, name = inode.place
    if directory.directory is not None and directory.directory.get(name) is inode:
        directory.directory.remove(name)


def entry_of(args: t.Any, *fields: str) -> tuple[bytes, bytes]:
    """The directory and the name in arguments of NFSv2 or NFSv3: in the first of the fields that is there."""
    place = next((getattr(args, field) for field in fields if hasattr(args, field)), args)
    return bytes(place.dir), bytes(place.name)


def inode_at(call: AnyCall, *fields: str) -> Inode | None:
    """The object of this entry."""
    return child_of(call.server, *entry_of(call.args, *fields))


def is_second(call: AnyCall) -> bool:
    """Whether another connection has made such a call before."""
    return bool(call.state.setdefault("first", call.peer) != call.peer)


def lose_data_of_second(call: AnyCall) -> t.Any:
    """Let a crash zero what the second of two connections writes."""
    strike(call)
    if call.operation in LOOKS or not is_second(call):
        return call.proceed()
    inode = inode_of(call.server, call.args.file)
    if inode is not None and inode.data is not None:
        data, offset = inode.data, call.args.offset
        size = len(call.args.data)
        at_the_crash(call, lambda: data.write(offset, bytes(size), stable=True))
    return call.proceed()


def lose_everything_in_a_crash(call: AnyCall) -> None:
    """Remove all directories of the root in the first call after a restart of the service."""
    boots = call.backend.boots
    if call.state.setdefault("boots", boots) == boots:
        return
    call.state["boots"] = boots
    root = call.backend.fs.root
    for name in root.directory.names() if root.directory is not None else ():
        remove_tree_locally(root.fs, name)

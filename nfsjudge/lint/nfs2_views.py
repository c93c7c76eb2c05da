# SPDX-License-Identifier: MIT
"""What each NFSv2 procedure says of which object, and what it may change (RFC 1094 section 2.2)."""

from __future__ import annotations

import typing as t
from collections.abc import Sequence
from operator import attrgetter

from nfsclient.protocol import nfs2
from nfsclient.protocol.nfs2 import IGNORED, Nfsstat2, Sattr, Timeval
from nfsclient.rpc.program import AnyOperation, Step
from nfsjudge.lint.seen import View
from nfsjudge.lint.views import Views, register
from nfsjudge.lint.world import Named, World

MILLION: t.Final = 1_000_000
MAKERS: t.Final = (nfs2.CREATE, nfs2.MKDIR)
WITHOUT_STATUS: t.Final = (nfs2.NULL, nfs2.ROOT, nfs2.WRITECACHE)

_OBJECTS: t.Final[dict[AnyOperation, tuple[str, str, bool]]] = {
    nfs2.GETATTR: ("file", "attributes", False),
    nfs2.SETATTR: ("file", "attributes", True),
    nfs2.READ: ("file", "readok.attributes", False),
    nfs2.WRITE: ("file", "attributes", True),
}
"""Procedure -> its object in the arguments, its attributes in the reply, and whether it may change it."""
_DIRECTORIES: t.Final[dict[AnyOperation, tuple[str, ...]]] = {
    nfs2.CREATE: ("where.dir",),
    nfs2.MKDIR: ("where.dir",),
    nfs2.SYMLINK: ("from_.dir",),
    nfs2.LINK: ("from_", "to.dir"),
}
"""Procedures that change just these objects, whatever is said of them."""
_HARMLESS: t.Final = frozenset(
    {
        nfs2.NULL,
        nfs2.GETATTR,
        nfs2.ROOT,
        nfs2.LOOKUP,
        nfs2.READLINK,
        nfs2.READ,
        nfs2.WRITECACHE,
        nfs2.READDIR,
        nfs2.STATFS,
    }
)
_GOING: t.Final = frozenset({nfs2.REMOVE, nfs2.RMDIR, nfs2.RENAME})


def views_of(step: Step) -> list[View]:
    """What the reply says of objects."""
    operation, args, result = step.operation, step.args, step.result
    if operation in WITHOUT_STATUS or args is None:
        return []
    if result is None or result.status != 0:
        return []
    row = _OBJECTS.get(operation)
    if row is not None:
        path, where, changes = row
        return [View(attrgetter(path)(args), attrgetter(where)(result), None, where, changes)]
    if operation in MAKERS or operation is nfs2.LOOKUP:
        made = operation is not nfs2.LOOKUP
        return [View(result.diropok.file, result.diropok.attributes, None, "diropok.attributes", made)]
    return []


def changed(step: Step) -> list[bytes] | None:
    """The handles of the objects that a call may have changed; None for any object whatever."""
    operation, args, result = step.operation, step.args, step.result
    if operation in _HARMLESS:
        return []
    if args is None or operation in _GOING:
        return None
    if result is not None and result.status is Nfsstat2.NFSERR_STALE:
        return []
    row = _OBJECTS.get(operation)
    if row is not None:
        return [attrgetter(row[0])(args)]
    paths = _DIRECTORIES.get(operation)
    if paths is None:  # an operation that a check made itself
        return None
    handles = [attrgetter(path)(args) for path in paths]
    if operation is nfs2.CREATE:  # on a name that exists it may truncate
        made = getattr(getattr(result, "diropok", None), "file", None)
        return None if made is None else [*handles, made]
    return handles


def learn(world: World, step: Step, views: Sequence[View], *, is_shared: bool) -> None:
    """Take in what a step says, and forget what it may have changed."""
    _note_times(world, step)
    world.note(views, changed(step))
    if step.result is None or step.operation in WITHOUT_STATUS:
        return
    _note_ownership(world, step)
    if step.operation in _GOING and step.result.status == 0:
        world.removed()
    world.absorb(views, is_shared=is_shared)
    if not is_shared:
        _note_names(world, step)


def _note_times(world: World, step: Step) -> None:
    """Times that a client sets."""
    new: Sattr | None = getattr(step.args, "attributes", None)
    if not isinstance(new, Sattr):
        return
    sets = [time for time in (new.atime, new.mtime) if time.seconds != IGNORED]
    # A million of microseconds is how clients of Sun ask for the server's time.
    world.odd_times |= any(time.useconds >= MILLION for time in sets)
    if not sets:
        return
    handle = getattr(step.args, "file", None)
    if step.operation in MAKERS:
        handle = getattr(getattr(step.result, "diropok", None), "file", None)
    if handle is not None:
        world.of(handle).mtime_set = True


def _note_ownership(world: World, step: Step) -> None:
    """Which objects nobody else knows of. CREATE does not say whether the file is new: a directory is."""
    operation, args, result = step.operation, step.args, step.result
    if args is None or result.status != 0:
        return
    if operation in MAKERS:
        is_ours = operation is nfs2.MKDIR or world.of(args.where.dir).is_ours
        world.of(result.diropok.file).is_ours |= is_ours
    elif operation is nfs2.LOOKUP:
        name = bytes(args.name)
        if name not in {b"", b".."} and b"/" not in name and world.of(args.dir).is_ours:
            world.of(result.diropok.file).is_ours = True
    elif operation is nfs2.LINK:
        if world.of(args.from_).is_ours != world.of(args.to.dir).is_ours:
            world.of(args.from_).is_ours = world.of(args.to.dir).is_ours = False
    elif operation is nfs2.RENAME and world.of(args.from_.dir).is_ours != world.of(args.to.dir).is_ours:
        world.disown()


def _note_names(world: World, step: Step) -> None:
    operation, args, status = step.operation, step.args, step.result.status
    if args is None:
        return
    if operation is nfs2.LOOKUP and status in {Nfsstat2.NFS_OK, Nfsstat2.NFSERR_NOENT}:
        world.names[args.dir, bytes(args.name)] = Named(status == 0, world.source)
    elif operation in MAKERS and status == 0:
        world.names[args.where.dir, bytes(args.where.name)] = Named(True, world.source)


def times_of(view: View) -> list[tuple[str, Timeval]]:
    """(name, time) of the attributes in a reply."""
    after: t.Any = view.after
    return [(name, getattr(after, name)) for name in ("atime", "mtime", "ctime")]


register(nfs2.NFS2, Views(views_of, changed, learn))

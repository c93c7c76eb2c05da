# SPDX-License-Identifier: MIT
"""What each NFSv3 procedure says of which object, and what it may change: the table that the world learns from.

A call that failed is taken to have changed what it might have changed: SETATTR is not atomic (RFC 1813 section
3.3.2), and a JUKEBOX may come after the fact (section 2.6).
"""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter

from nfsclient.protocol import nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Fattr3, Nfsstat3, Sattr3, StableHow, TimeHow, WccData
from nfsclient.rpc.program import AnyOperation, Step
from nfsjudge.lint.seen import View
from nfsjudge.lint.views import Views, register
from nfsjudge.lint.world import Named, World

Getter: t.TypeAlias = Callable[[t.Any], t.Any]


class _Row(t.NamedTuple):
    """One object of a procedure: where its handle stands in the arguments, and its attributes in the reply."""

    handle: Getter
    attribute: str
    changes: bool
    is_wcc: bool


def _row(path: str, attribute: str, *, changes: bool = False) -> _Row:
    return _Row(attrgetter(path), attribute, changes, attribute.endswith("wcc"))


_MADE: t.Final = (_row("where.dir", "dir_wcc", changes=True),)
_REMOVED: t.Final = (_row("object.dir", "dir_wcc", changes=True),)

_OBJECTS: t.Final[dict[AnyOperation, tuple[_Row, ...]]] = {
    nfs3.NULL: (),
    nfs3.GETATTR: (_row("object", "obj_attributes"),),
    nfs3.SETATTR: (_row("object", "obj_wcc", changes=True),),
    nfs3.LOOKUP: (_row("what.dir", "dir_attributes"),),
    nfs3.ACCESS: (_row("object", "obj_attributes"),),
    nfs3.READLINK: (_row("symlink", "symlink_attributes"),),
    nfs3.READ: (_row("file", "file_attributes"),),
    nfs3.WRITE: (_row("file", "file_wcc", changes=True),),
    nfs3.CREATE: _MADE,
    nfs3.MKDIR: _MADE,
    nfs3.SYMLINK: _MADE,
    nfs3.MKNOD: _MADE,
    nfs3.REMOVE: _REMOVED,
    nfs3.RMDIR: _REMOVED,
    nfs3.RENAME: (
        _row("from_.dir", "fromdir_wcc", changes=True),
        _row("to.dir", "todir_wcc", changes=True),
    ),
    nfs3.LINK: (
        _row("file", "file_attributes", changes=True),
        _row("link.dir", "linkdir_wcc", changes=True),
    ),
    nfs3.READDIR: (_row("dir", "dir_attributes"),),
    nfs3.READDIRPLUS: (_row("dir", "dir_attributes"),),
    nfs3.FSSTAT: (_row("fsroot", "obj_attributes"),),
    nfs3.FSINFO: (_row("fsroot", "obj_attributes"),),
    nfs3.PATHCONF: (_row("object", "obj_attributes"),),
    nfs3.COMMIT: (_row("file", "file_wcc", changes=True),),
}
MAKERS: t.Final = (nfs3.CREATE, nfs3.MKDIR, nfs3.SYMLINK, nfs3.MKNOD)
_GOING: t.Final = frozenset({nfs3.REMOVE, nfs3.RMDIR, nfs3.RENAME})
_READERS: t.Final = {
    procedure: _OBJECTS[procedure][0]
    for procedure in (nfs3.READ, nfs3.READLINK, nfs3.READDIR, nfs3.READDIRPLUS)
}
"""Procedures that may move atime, with their object."""
_NO_OBJECT: t.Final = frozenset({Nfsstat3.NFS3ERR_BADHANDLE, Nfsstat3.NFS3ERR_STALE})
BILLION: t.Final = 1_000_000_000


def views_of(step: Step) -> list[View]:
    """What the reply says of objects, those that it gives a handle of last."""
    operation, result = step.operation, step.result
    rows = _OBJECTS.get(operation)
    if not rows or step.args is None or result is None:
        return []
    name = "resok" if result.resok is not None else "resfail"
    arm = getattr(result, name, None)
    if arm is None:
        return []
    found = []
    for row in rows:
        value = getattr(arm, row.attribute)
        if row.is_wcc:
            wcc: WccData = value
            path = f"{name}.{row.attribute}"
            found.append(View(row.handle(step.args), wcc.after, wcc.before, path, row.changes))
        elif value is not None:
            path = f"{name}.{row.attribute}"
            found.append(View(row.handle(step.args), value, None, path, row.changes))
    if result.resok is not None and (operation in MAKERS or operation is nfs3.LOOKUP):
        handle = arm.object if operation is nfs3.LOOKUP else arm.obj
        if handle is not None and arm.obj_attributes is not None:
            found.append(
                View(handle, arm.obj_attributes, None, "resok.obj_attributes", operation is not nfs3.LOOKUP)
            )
    return found


def every_attributes(step: Step) -> Iterator[tuple[str, Fattr3]]:
    """(path, attributes) of all that a reply says, also of objects without a handle and of listed entries."""
    for view in views_of(step):
        if isinstance(view.after, Fattr3):
            yield view.path, view.after
    resok = getattr(step.result, "resok", None)
    if resok is None:
        return
    if step.operation in MAKERS and resok.obj is None and resok.obj_attributes is not None:
        yield "resok.obj_attributes", resok.obj_attributes


# ---------------------------------------------------------------- what may have been changed


def changed(step: Step) -> list[bytes] | None:
    """The handles of the objects that a call may have changed; None for any object whatever."""
    operation = step.operation
    rows = _OBJECTS.get(operation)
    if rows is None:
        return None
    args, result = step.args, step.result
    if not any(row.changes for row in rows):
        return []
    if args is None or operation in _GOING:
        return None
    if result is not None and result.status in _NO_OBJECT:
        return []
    handles = [row.handle(args) for row in rows if row.changes]
    if operation is nfs3.CREATE and args.how.mode is not CreateMode3.GUARDED:
        # It may have truncated a file that was there, or an earlier EXCLUSIVE one may answer again.
        made = getattr(getattr(result, "resok", None), "obj", None)
        return None if made is None else [*handles, made]
    return handles


# ---------------------------------------------------------------- learning


def learn(world: World, step: Step, views: Sequence[View], *, is_shared: bool) -> None:
    """Take in what a step says, and forget what it may have changed."""
    _note_sets(world, step)
    world.note(views, changed(step))
    result = step.result
    if result is None:
        return
    _note_ownership(world, step)
    if step.operation in _GOING and result.status == 0:
        world.removed()
    world.absorb(views, is_shared=is_shared)
    if not is_shared:
        _note_results(world, step)


def _note_sets(world: World, step: Step) -> None:
    """Times that a client sets, and data that is not committed: what makes times move."""
    operation, args = step.operation, step.args
    if args is None:
        return
    if operation in _READERS:
        # Where a read moves atime, it may move ctime as well.
        world.drift(t.cast("bytes", _READERS[operation].handle(args)))
    elif operation is nfs3.WRITE:
        resok = getattr(step.result, "resok", None)
        if resok is None or resok.committed is not StableHow.FILE_SYNC:
            world.drift(args.file, unstable=True)
    elif operation is nfs3.SETATTR:
        new = args.new_attributes
        for handle in world.handles_like(args.object):
            facts = world.of(handle)
            if sets_times(step):
                facts.mtime_set = True
            if step.result is not None and step.result.status == 0:
                facts.undefined = False
        world.odd_times |= any(
            time.time is not None and time.time.nseconds >= BILLION for time in (new.atime, new.mtime)
        )


def _note_ownership(world: World, step: Step) -> None:
    """Which objects nobody else knows of."""
    operation, args, resok = step.operation, step.args, getattr(step.result, "resok", None)
    if resok is None or args is None:
        return
    if operation in MAKERS:
        if resok.obj is None:
            world.odd_times |= operation is nfs3.CREATE and args.how.mode is CreateMode3.EXCLUSIVE
            return
        facts = world.of(resok.obj)
        is_new = operation is not nfs3.CREATE or args.how.mode is CreateMode3.GUARDED
        facts.is_ours |= is_new or world.of(args.where.dir).is_ours
        facts.mtime_set |= sets_times(step)
        if operation is nfs3.CREATE and args.how.mode is CreateMode3.EXCLUSIVE:
            facts.undefined = facts.mtime_set = True
    elif operation is nfs3.LOOKUP:
        name = bytes(args.what.name)
        if name not in {b"", b".."} and b"/" not in name and world.of(args.what.dir).is_ours:
            world.of(resok.object).is_ours = True
    elif operation is nfs3.LINK:
        if world.of(args.file).is_ours != world.of(args.link.dir).is_ours:
            world.of(args.file).is_ours = world.of(args.link.dir).is_ours = False
    elif operation is nfs3.RENAME and world.of(args.from_.dir).is_ours != world.of(args.to.dir).is_ours:
        world.disown()


def _initial(args: t.Any) -> Sattr3 | None:
    """The attributes that an object is to be made with."""
    for path in ("how.obj_attributes", "attributes", "symlink.symlink_attributes"):
        with contextlib.suppress(AttributeError):
            return t.cast("Sattr3 | None", attrgetter(path)(args))
    if args.what.device is not None:
        return t.cast("Sattr3", args.what.device.dev_attributes)
    return t.cast("Sattr3 | None", args.what.pipe_attributes)


def sets_times(step: Step) -> bool:
    """Whether a call asks for times to be set, to whatever; ctime may be a copy of mtime (RFC 1813 section 1.6)."""
    operation, args = step.operation, step.args
    if args is None or (operation is not nfs3.SETATTR and operation not in MAKERS):
        return False
    new = args.new_attributes if operation is nfs3.SETATTR else _initial(args)
    if new is None:
        return operation is nfs3.CREATE
    return any(time.set_it is not TimeHow.DONT_CHANGE for time in (new.atime, new.mtime))


def _note_results(world: World, step: Step) -> None:
    """Names, write verifiers and properties of file systems."""
    operation, args, result = step.operation, step.args, step.result
    if args is None:
        return
    if operation is nfs3.LOOKUP and result.status in {Nfsstat3.NFS3_OK, Nfsstat3.NFS3ERR_NOENT}:
        handle = None if result.resok is None else result.resok.object
        world.names[args.what.dir, bytes(args.what.name)] = Named(result.status == 0, world.source, handle)
    elif result.status != 0:
        return
    elif operation in MAKERS:
        world.names[args.where.dir, bytes(args.where.name)] = Named(True, world.source)
    elif operation in {nfs3.WRITE, nfs3.COMMIT}:
        first = world.first(args.file)
        if first is not None:
            world.verifiers[first.fsid] = (bytes(result.resok.verf), world.source)
    elif operation is nfs3.ACCESS:
        world.of(args.object).granted = (result.resok.access & args.access, world.source, world.epoch)
    elif operation is nfs3.FSINFO and result.resok.obj_attributes is not None:
        world.properties[result.resok.obj_attributes.fsid] = (result.resok.properties, world.source)


register(nfs3.NFS3, Views(views_of, changed, learn))

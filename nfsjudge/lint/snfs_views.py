# SPDX-License-Identifier: MIT
"""What each procedure of Spritely NFS says of which object: as NFSv2, attributes in OPEN; and who opens what."""

from __future__ import annotations

import typing as t
from collections.abc import Hashable, Sequence

from nfsclient.protocol import nfs2, snfs
from nfsclient.rpc.program import AnyOperation, Step
from nfsjudge.lint import nfs2_views
from nfsjudge.lint.seen import View
from nfsjudge.lint.snfs_opens import MOST_FILES, Openers
from nfsjudge.lint.views import Views, register
from nfsjudge.lint.world import MOST_HANDLES, Versioned, World

_IN_NFS2: t.Final[dict[AnyOperation, AnyOperation]] = {
    snfs.in_snfs(procedure): procedure for procedure in nfs2.NFS2.procedures
}
_OPENS: t.Final = frozenset({snfs.OPEN, snfs.REOPEN})
_RECOVERS: t.Final = frozenset({snfs.REOPEN, snfs.RECOVERED})


def _as_nfs2(step: Step) -> Step | None:
    operation = _IN_NFS2.get(step.operation)
    return None if operation is None else Step(operation, step.args, step.result, step.path)


def views_of(step: Step) -> list[View]:
    """What the reply says of objects."""
    same = _as_nfs2(step)
    if same is not None:
        return nfs2_views.views_of(same)
    if step.operation not in _OPENS or step.args is None or getattr(step.result, "openok", None) is None:
        return []
    return [View(step.args.file, step.result.openok.attributes, None, "openok.attributes", True)]


def changed(step: Step) -> Sequence[bytes] | None:
    """The handles of the objects that a call may have changed: by an OPEN, others write back."""
    same = _as_nfs2(step)
    if same is not None:
        return nfs2_views.changed(same)
    return [] if step.args is None or step.operation not in _OPENS else [step.args.file]


def learn(world: World, step: Step, views: Sequence[View], *, is_shared: bool) -> None:
    """Take in what a step says, and forget what it may have changed."""
    _note_restart(world, step)
    same = _as_nfs2(step)
    if same is not None:
        nfs2_views.learn(world, same, views, is_shared=is_shared)
        if step.operation is snfs.CREATE and not is_shared:
            _note_created(world, step)
        return
    if step.operation is snfs.CALLBACK:
        _note_callback(world, step, is_shared=is_shared)
        return
    _note_opens(world, step, is_shared=is_shared)
    world.note(views, changed(step))
    if step.operation in _OPENS and step.args is not None:
        _note_opened(world, bytes(step.args.file))
    if step.result is None:
        return
    world.absorb(views, is_shared=is_shared)
    opened = getattr(step.result, "openok", None)
    if opened is not None and step.args is not None and not is_shared:
        _note_version(world, bytes(step.args.file), opened.cache_version)


def _note_version(world: World, handle: bytes, version: int) -> None:
    known = world.versions.get(handle)
    if known is not None and known.version >= version:
        return
    if len(world.versions) >= MOST_HANDLES:
        world.versions.clear()
    world.versions[handle] = Versioned(version, world.source)


# ---------------------------------------------------------------- who has opened what


def _note_created(world: World, step: Step) -> None:
    """From now on, all who open the file are known, if nobody has before. CREATE does not say whether it is new."""
    handle = b"" if step.result is None or step.result.resok is None else bytes(step.result.resok.file)
    facts = world.facts.get(handle)
    if facts is None or not facts.is_ours or world.others or handle in world.openers:
        return
    if len(world.opened) >= MOST_HANDLES or not world.opened.isdisjoint(_names_of(world, handle)):
        return
    if len(world.openers) >= MOST_FILES:
        world.openers.clear()
    world.openers[handle] = Openers(world.generation)


def _names_of(world: World, handle: bytes) -> list[Hashable]:
    """A handle, and what its object is as far as that was ever seen: the file may have other handles."""
    facts = world.facts.get(handle)
    first = None if facts is None else facts.first
    return [handle] if first is None else [handle, (first.fsid, first.fileid)]


def _note_opened(world: World, handle: bytes) -> None:
    """Somebody may have opened a file. If nobody knows which one, it may be any."""
    if len(world.opened) < MOST_HANDLES:
        world.opened.update(_names_of(world, handle))
    if world.first(handle) is None:
        world.openers.clear()


def _note_restart(world: World, step: Step) -> None:
    """What only a server says that was restarted, or a client to it: who has not reopened has nothing open."""
    if step.operation in _RECOVERS or step.status == snfs.Snfsstat.SNFS_RECOVERING:
        for each in world.openers.values():
            each.now.clear()


def _openers(world: World, step: Step | None) -> Openers | None:
    """Those of the file that a call is about; None: they are not all known."""
    if step is None or step.args is None or not hasattr(step.args, "file"):
        return None
    return openers_of(world, bytes(step.args.file))


def openers_of(world: World, handle: bytes) -> Openers | None:
    """Who has opened a file; None: that is not known of everybody."""
    found = world.openers.get(handle)
    is_known = found is not None and found.generation == world.generation
    return found if is_known and len(world.handles_like(handle)) == 1 else None


def _note_opens(world: World, step: Step, *, is_shared: bool) -> None:
    found, client = _openers(world, step), world.source.client
    if found is None:
        return
    if step.operation is snfs.OPEN:
        writes, opened = bool(step.args.write_mode), getattr(step.result, "openok", None)
        found.has_opened(client, writes=writes)
        if step.status != snfs.Snfsstat.NFS_OK:
            found.now.clear()  # of those that were given up nobody knows who they are
        elif opened is not None:
            cached = bool(opened.cache_enabled)
            found.opened(client, world.source, writes=writes, may_cache=cached, is_sure=not is_shared)
    elif step.operation is snfs.REOPEN:
        found.has_opened(client, writes=True)
    elif step.operation is snfs.CLOSE:
        found.now.pop(client, None)


def _note_callback(world: World, step: Step, *, is_shared: bool) -> None:
    """A client that does not say NFS_OK may be given up, or have closed the file."""
    found = _openers(world, step)
    if found is not None and (is_shared or step.status != snfs.Snfsstat.NFS_OK):
        found.now.pop(world.source.client, None)


def unsettle(world: World, step: Step | None) -> None:
    """A call of which nobody knows when it was executed, or by whom it was made."""
    if step is None:
        return
    _note_restart(world, step)
    if step.operation in _OPENS | {snfs.CLOSE} and step.args is not None:
        handle = bytes(step.args.file)
        _note_opened(world, handle)
        world.openers.pop(handle, None)


register(snfs.SNFS, Views(views_of, changed, learn, unsettle=unsettle))

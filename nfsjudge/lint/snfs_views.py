# SPDX-License-Identifier: MIT
"""What each procedure of Spritely NFS says of which object: as NFSv2, and OPEN has attributes besides."""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

from nfsclient.protocol import nfs2, snfs
from nfsclient.rpc.program import AnyOperation, Step
from nfsjudge.lint import nfs2_views
from nfsjudge.lint.seen import View
from nfsjudge.lint.views import Views, register
from nfsjudge.lint.world import MOST_HANDLES, Versioned, World

_IN_NFS2: t.Final[dict[AnyOperation, AnyOperation]] = {
    snfs.in_snfs(procedure): procedure for procedure in nfs2.NFS2.procedures
}
_OPENS: t.Final = frozenset({snfs.OPEN, snfs.REOPEN})


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
    same = _as_nfs2(step)
    if same is not None:
        nfs2_views.learn(world, same, views, is_shared=is_shared)
        return
    world.note(views, changed(step))
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


register(snfs.SNFS, Views(views_of, changed, learn))

# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_names.py catch."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    CREATE,
    GETATTR,
    LINK,
    LOOKUP,
    MKDIR,
    MKNOD,
    READDIR,
    REMOVE,
    RENAME,
    RMDIR,
    SYMLINK,
    Nfsstat3,
)
from nfsmutants.bending import lose_everything_in_a_crash
from nfsmutants.form import AnyCall, mutant
from nfsmutants.rules import (
    RFC1813_SYNCHRONOUS,
)
from nfsserver.fs import FsError
from nfsserver.fs.permissions import SUPERUSER
from nfsserver.handlers import ServerApi

Undo: t.TypeAlias = Callable[[], object]
_NAMING: t.Final = (CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK)


def _undo_of(server: ServerApi, procedure: t.Any, args: t.Any) -> Undo:
    """Return a function that undoes an operation on names; a removed object comes back empty."""
    if procedure is RENAME:
        source, target = server.backend.resolve(args.from_.dir), server.backend.resolve(args.to.dir)
        return lambda: source.fs.rename(SUPERUSER, target, args.to.name, source, args.from_.name)
    place = args.link if procedure is LINK else args.object if procedure in {REMOVE, RMDIR} else args.where
    directory, name = server.backend.resolve(place.dir), place.name
    if procedure is REMOVE:
        return lambda: directory.fs.create(SUPERUSER, directory, name)
    if procedure is RMDIR:
        return lambda: directory.fs.mkdir(SUPERUSER, directory, name)
    if procedure is MKDIR:
        return lambda: directory.fs.rmdir(SUPERUSER, directory, name)
    return lambda: directory.fs.remove(SUPERUSER, directory, name)


@mutant((*_NAMING, LOOKUP, READDIR), RFC1813_SYNCHRONOUS)
def nfs3_crash_loses_names(call: AnyCall) -> t.Any:
    """A crash undoes the last CREATE, REMOVE, RENAME, LINK or similar call"""
    state = call.state
    if call.operation in {LOOKUP, READDIR}:
        if state.get("boots", call.backend.boots) != call.backend.boots:
            state["boots"] = call.backend.boots
            with contextlib.suppress(FsError):
                state["undo"]()
        return call.proceed()
    reply = call.proceed()
    if reply.status == Nfsstat3.NFS3_OK:
        state["boots"], state["undo"] = call.backend.boots, _undo_of(call.server, call.operation, call.args)
    return reply


@mutant((GETATTR, LOOKUP), RFC1813_SYNCHRONOUS)
def nfs3_crash_loses_everything(call: AnyCall) -> t.Any:
    """Names are in memory: after a crash the root of the export is empty"""
    lose_everything_in_a_crash(call)
    return call.proceed()

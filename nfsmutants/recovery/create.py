# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_create.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    Create3Res,
    Create3ResFail,
    CreateMode3,
    Nfsstat3,
    WccData,
)
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import find, success
from nfsmutants.nfs3.calls import Create
from nfsmutants.rules import (
    RFC1813_CREATE,
)
from nfsserver.fs import Inode
from nfsserver.fs.permissions import SUPERUSER


def _made_by(call: Create) -> tuple[Create3Res, int]:
    """The reply, and the instance of the service in which the file of the name was created, 0 if in the present one."""
    instances: dict[Inode, int] = call.state.setdefault("instances", {})
    existing = find(call.server, call.args.where)
    reply = call.proceed()
    made = find(call.server, call.args.where)
    if existing is None and made is not None:
        instances[made] = call.backend.boots
    instance = 0 if existing is None else instances.get(existing, 0)
    return reply, 0 if instance == call.backend.boots else instance


@mutant(CREATE)
def create3_exclusive_forgets_at_restart(call: Create) -> Create3Res:
    """CREATE in mode EXCLUSIVE keeps its verifiers in memory: it refuses the files that it created before a restart"""
    reply, instance = _made_by(call)
    if not instance or call.args.how.mode != CreateMode3.EXCLUSIVE:
        return reply
    return Create3Res(Nfsstat3.NFS3ERR_EXIST, resfail=Create3ResFail(WccData()))


@mutant(CREATE)
def create3_exclusive_accepts_older_files(call: Create) -> Create3Res:
    """CREATE in mode EXCLUSIVE accepts any file that was created before the last start of the service"""
    reply, instance = _made_by(call)
    if not instance or call.args.how.mode != CreateMode3.EXCLUSIVE:
        return reply
    return t.cast("Create3Res", success(call))


@mutant(CREATE)
def create3_exclusive_repeat_makes_a_new_file_after_restart(call: Create) -> Create3Res:
    """CREATE in mode EXCLUSIVE that is repeated after a restart puts a new file in place of the one that it made"""
    reply, instance = _made_by(call)
    if instance and call.args.how.mode == CreateMode3.EXCLUSIVE:
        directory, name = call.server.backend.resolve(call.args.where.dir), call.args.where.name
        directory.fs.create(SUPERUSER, directory, b"another")
        directory.fs.rename(SUPERUSER, directory, b"another", directory, name)
    return reply


@mutant(CREATE)
def create3_exclusive_truncates_after_restart(call: Create) -> Create3Res:
    """CREATE in mode EXCLUSIVE that is repeated after a restart truncates the file"""
    reply, instance = _made_by(call)
    file = find(call.server, call.args.where)
    if (
        instance
        and call.args.how.mode == CreateMode3.EXCLUSIVE
        and file is not None
        and file.data is not None
    ):
        file.data.truncate(0)
    return reply


@mutant(CREATE, breaks=RFC1813_CREATE)
def create3_guarded_accepts_files_of_before_a_restart(call: Create) -> Create3Res:
    """CREATE in mode GUARDED accepts a name that was created before the last start"""
    reply, instance = _made_by(call)
    if not instance or call.args.how.mode != CreateMode3.GUARDED:
        return reply
    return t.cast("Create3Res", success(call))

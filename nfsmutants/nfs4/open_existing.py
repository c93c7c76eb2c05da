# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_open_existing.py catch."""

from __future__ import annotations

import contextlib

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.bending import clear
from nfsmutants.form import Call, mutant
from nfsserver.fs import SUPERUSER, FsError, Inode
from nfsserver.nfs4.common import compound_of

Open = Call[p.Open4Args, p.Open4Res]


def _existing(call: Open) -> tuple[Inode, bytes, Inode] | None:
    """Directory, name and object of an OPEN that may create and finds an object; None for other OPENs."""
    where, args = compound_of(call.context).current, call.args
    if args.openhow.opentype is not p.Opentype4.OPEN4_CREATE or where is None or where.directory is None:
        return None
    name = bytes(args.claim.file or b"")
    found = where.directory.get(name)
    return None if found is None else (where, name, found)


@mutant(p.OPEN)
def open4_denied_truncates(call: Open) -> p.Open4Res:
    """OPEN that creates and is refused with SHARE_DENIED truncates the file"""
    existing, result = _existing(call), call.proceed()
    if existing is not None and result.status == Nfsstat4.NFS4ERR_SHARE_DENIED:
        clear(existing[2])
    return result


@mutant(p.OPEN)
def open4_exclusive_truncates_again(call: Open) -> p.Open4Res:
    """OPEN with EXCLUSIVE4_1 that finds its file truncates it"""
    existing, result, how = _existing(call), call.proceed(), call.args.openhow.how
    is_exclusive = how is not None and how.mode is p.Createmode4.EXCLUSIVE4_1
    if existing is not None and is_exclusive and result.status == Nfsstat4.NFS4_OK:
        clear(existing[2])
    return result


@mutant(p.OPEN)
def open4_replaces_other_objects(call: Open) -> p.Open4Res:
    """OPEN that creates replaces an object that is no regular file by a file"""
    existing = _existing(call)
    if existing is not None and existing[2].data is None:
        where, name, found = existing
        with contextlib.suppress(FsError):
            clear(found)
            (where.fs.remove if found.directory is None else where.fs.rmdir)(SUPERUSER, where, name)
    return call.proceed()

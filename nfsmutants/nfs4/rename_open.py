# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_rename_open.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsserver.fs import Inode
from nfsserver.nfs4.common import compound_of
from nfsserver.state.shares import Share

Rename = Call[p.Rename4Args, p.Rename4Res]
_OK: t.Final = Nfsstat4.NFS4_OK


def _named(directory: Inode | None, name: bytes) -> Inode | None:
    entries = None if directory is None else directory.directory
    entry = None if entries is None else entries.get(name)
    return None if entry is None else entry


def _old(call: Rename) -> Inode | None:
    return _named(compound_of(call.context).saved, bytes(call.args.oldname))


def _target(call: Rename) -> Inode | None:
    return _named(compound_of(call.context).current, bytes(call.args.newname))


@mutant(p.RENAME)
def rename4_closes_the_file(call: Rename) -> p.Rename4Res:
    """RENAME ends all opens of the file"""
    held, moved, result = call.server.states.held, _old(call), call.proceed()
    if moved is not None and result.status == _OK:
        held.forget_file(moved)
    return result


@mutant(p.RENAME)
def rename4_drops_denials(call: Rename) -> p.Rename4Res:
    """RENAME ends what the opens of the file deny"""
    shares, moved, result = call.server.states.held.shares, _old(call), call.proceed()
    if moved is not None and result.status == _OK:
        for owner in shares.owners(moved):
            shares.put(moved, owner, shares.of(moved, owner)[0], Share.NONE)
    return result


@mutant(p.RENAME)
def rename4_over_open_files_does_nothing(call: Rename) -> p.Rename4Res:
    """RENAME over a file that is open succeeds, and changes nothing"""
    target = _target(call)
    if target is None or not call.server.states.held.opens.is_open(target):
        return call.proceed()
    info = p.ChangeInfo4(False, 0, 0)
    return p.Rename4Res(_OK, p.Rename4ResOk(info, info))


@mutant(p.RENAME)
def rename4_refuses_and_removes(call: Rename) -> p.Rename4Res:
    """RENAME over a file that is open gets FILE_OPEN, and is done"""
    target = _target(call)
    is_open = target is not None and call.server.states.held.opens.is_open(target)
    result = call.proceed()
    return p.Rename4Res(Nfsstat4.NFS4ERR_FILE_OPEN) if is_open else result

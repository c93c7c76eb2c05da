# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_nfs4_names.py catch."""

from __future__ import annotations

import functools
import typing as t

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs4.bending import succeeded
from nfsmutants.recovery.bending import at_the_crash, damage_new, lose_name, strike
from nfsserver.fs import Changes, Inode
from nfsserver.fs.permissions import SUPERUSER
from nfsserver.nfs4.common import compound_of

_BACK: t.Final = p.EXCHANGE_ID
"""What a client begins with after a restart: what the crash has done is done by then."""
_EXCLUSIVE: t.Final = frozenset({p.Createmode4.EXCLUSIVE4, p.Createmode4.EXCLUSIVE4_1})


def _entry(directory: Inode | None, name: bytes | None) -> Inode | None:
    is_there = directory is not None and directory.directory is not None and name is not None
    return directory.directory.get(bytes(name)) if is_there else None  # type: ignore[union-attr,arg-type]


@mutant((p.CREATE, _BACK))
def create4_crash_loses_the_name(call: AnyCall) -> t.Any:
    """A crash loses the names that CREATE has made, but for the first one"""
    return damage_new(call, lambda number, inode: lose_name(inode) if number > 1 else None)


@mutant((p.CREATE, _BACK))
def create4_crash_empties_symlinks(call: AnyCall) -> t.Any:
    """A crash empties new symbolic links"""
    return damage_new(call, lambda _, inode: setattr(inode, "target", b""))


@mutant((p.OPEN, _BACK))
def open4_crash_loses_the_name(call: AnyCall) -> t.Any:
    """A crash loses the names of files that OPEN has created"""
    return damage_new(call, lambda _, inode: lose_name(inode))


@mutant((p.OPEN, _BACK))
def open4_crash_forgets_modes(call: AnyCall) -> t.Any:
    """After a crash, files that OPEN has created have the mode 0600"""
    return damage_new(call, lambda _, inode: setattr(inode, "mode", 0o600))


def _is_exclusive(args: p.Open4Args) -> bool:
    return args.openhow.how is not None and args.openhow.how.mode in _EXCLUSIVE


@mutant((p.OPEN, _BACK))
def open4_exclusive_forgets_at_restart(call: AnyCall) -> t.Any:
    """The verifiers of exclusive creations are in memory: a crash loses them"""
    return damage_new(call, lambda _, inode: setattr(inode, "create_verifier", None))


@mutant(p.OPEN)
def open4_exclusive_accepts_older_files(call: AnyCall) -> t.Any:
    """An exclusive creation accepts any file that was created before the last start of the server"""
    born: dict[Inode, int] = call.state.setdefault("born", {})
    known = _entry(compound_of(call.context).current, call.args.claim.file)
    if known is not None and _is_exclusive(call.args) and born.get(known, 0) < call.backend.boots:
        how = call.args.openhow.how
        verifier = how.createverf if how.ch_createboth is None else how.ch_createboth.cva_verf
        known.create_verifier = bytes(verifier)
    directory = compound_of(call.context).current
    result = call.proceed()
    made = _entry(directory, call.args.claim.file)
    if known is None and made is not None:
        born[made] = call.backend.boots
    return result


@mutant((p.OPEN, _BACK))
def open4_crash_brings_back_cut_data(call: AnyCall) -> t.Any:
    """A crash undoes the truncation by OPEN of an existing file"""
    strike(call)
    inode = (
        _entry(compound_of(call.context).current, call.args.claim.file) if call.operation is p.OPEN else None
    )
    if inode is not None and inode.data is not None:
        data, old = inode.data, inode.data.read(0, inode.size)
        at_the_crash(call, lambda: data.write(0, old, stable=True))
    return call.proceed()


@mutant((p.REMOVE, _BACK))
def remove4_crash_brings_back_the_name(call: AnyCall) -> t.Any:
    """A crash brings back what REMOVE has removed"""
    strike(call)
    where = compound_of(call.context).current if call.operation is p.REMOVE else None
    removed = None if where is None else _entry(where, call.args.target)
    if removed is not None and where is not None:
        name = bytes(call.args.target)
        make = where.fs.create if removed.directory is None else where.fs.mkdir
        at_the_crash(call, lambda: make(SUPERUSER, where, name))
    return call.proceed()


@mutant((p.RENAME, _BACK))
def rename4_crash_brings_back_the_old_name(call: AnyCall) -> t.Any:
    """A crash undoes the last RENAME"""
    strike(call)
    if call.operation is not p.RENAME:
        return call.proceed()
    compound = compound_of(call.context)
    source, target = compound.saved, compound.current
    result = call.proceed()
    if succeeded(result) and source is not None and target is not None:
        old, new = bytes(call.args.oldname), bytes(call.args.newname)
        at_the_crash(call, lambda: source.fs.rename(SUPERUSER, target, new, source, old))
    return result


@mutant((p.RENAME, _BACK))
def rename4_crash_empties_the_file(call: AnyCall) -> t.Any:
    """A crash empties a file that RENAME has put over another one"""
    strike(call)
    moved = _entry(compound_of(call.context).saved, call.args.oldname) if call.operation is p.RENAME else None
    if moved is not None and moved.data is not None:
        data = moved.data
        at_the_crash(call, lambda: data.truncate(0))
    return call.proceed()


@mutant((p.LINK, _BACK))
def link4_crash_loses_the_name(call: AnyCall) -> t.Any:
    """A crash loses the names that LINK has made"""
    strike(call)
    where = compound_of(call.context).current if call.operation is p.LINK else None
    result = call.proceed()
    if where is not None and where.directory is not None and succeeded(result):
        at_the_crash(call, functools.partial(where.directory.remove, bytes(call.args.newname)))
    return result


@mutant((p.SETATTR, _BACK))
def setattr4_is_lost_in_a_crash(call: AnyCall) -> t.Any:
    """A crash undoes the mode, size and time_modify that SETATTR has set"""
    strike(call)
    inode = compound_of(call.context).current if call.operation is p.SETATTR else None
    if inode is not None:
        size = None if inode.data is None else inode.size
        changes = Changes(mode=inode.mode, size=size, mtime=inode.mtime)
        at_the_crash(call, lambda: inode.fs.setattr(SUPERUSER, inode, changes), of=inode)
    return call.proceed()

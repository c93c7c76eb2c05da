# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_writers.py catch."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Iterator

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, calls_back
from nfsserver.fs import Inode
from nfsserver.nfs4.common import compound_of
from nfsserver.nfs4.values import View, nfstime4, read
from nfsserver.state.delegations import Said, Writer

Getattr = Call[p.Getattr4Args, p.Getattr4Res]
Learns = Callable[[Writer, Said, int], bool]


def _written(call: Getattr) -> tuple[Inode, Writer] | None:
    """The current file, and what another client that has a write delegation of it has said."""
    state = compound_of(call.context)
    if state.current is None:
        return None
    found = call.server.states.held.delegations.in_the_way(state.current, state.clientid, changes=False)
    return (state.current, found[0].writer) if found else None


def _amended(result: p.Getattr4Res, **values: t.Any) -> p.Getattr4Res:
    """Other values, of the attributes that the reply has."""
    if result.resok4 is None:
        return result
    there = {
        name: value
        for name, value in values.items()
        if getattr(result.resok4.obj_attributes, name) is not None
    }
    return amend4(result, "obj_attributes", **there)


def _local(call: Getattr) -> p.Getattr4Res:
    """What the server has."""
    state = compound_of(call.context)
    assert state.current is not None
    view = View(call.server, state.current, state.minor)
    return p.Getattr4Res(Nfsstat4.NFS4_OK, p.Getattr4ResOk(read(view, call.args.attr_request)))


@contextlib.contextmanager
def _learning(call: Getattr, learns: Learns) -> Iterator[None]:
    """Inside, this decides whether a file counts as modified."""
    found = _written(call)
    if found is None:
        yield
        return
    _, writer = found
    vars(writer)["learns"] = lambda said, size: learns(writer, said, size)
    try:
        yield
    finally:
        del vars(writer)["learns"]


@mutant(p.GETATTR)
def getattr4_keeps_its_own_size(call: Getattr) -> p.Getattr4Res:
    """GETATTR has the size of the server, whatever the holder of a write delegation answers to CB_GETATTR"""
    found, result = _written(call), call.proceed()
    return result if found is None else _amended(result, size=found[0].size)


@mutant(p.GETATTR)
def getattr4_keeps_the_first_size(call: Getattr) -> p.Getattr4Res:
    """GETATTR has the size that the holder of a write delegation has answered first, as long as that lasts"""
    found, result = _written(call), call.proceed()
    if found is None or result.resok4 is None or result.resok4.obj_attributes.size is None:
        return result
    return _amended(result, size=call.state.setdefault(found[1], result.resok4.obj_attributes.size))


@mutant(p.GETATTR)
def getattr4_ignores_the_change_of_writers(call: Getattr) -> p.Getattr4Res:
    """Only another size in the answer to CB_GETATTR makes a file count as modified"""
    with _learning(call, lambda _, said, size: said.size not in {None, size}):
        return call.proceed()


@mutant(p.GETATTR)
def getattr4_ignores_the_size_of_writers(call: Getattr) -> p.Getattr4Res:
    """Only another change in the answer to CB_GETATTR makes a file count as modified"""
    with _learning(call, lambda writer, said, _: said.change not in {None, writer.change}):
        return call.proceed()


@mutant(p.GETATTR)
def getattr4_counts_writers_once(call: Getattr) -> p.Getattr4Res:
    """change moves with the first answer that says that the file is modified, and never again"""

    def learns(writer: Writer, said: Said, size: int) -> bool:
        before = writer.is_modified
        writer.is_modified |= said.change not in {None, writer.change} or said.size not in {None, size}
        return writer.is_modified and not before

    with _learning(call, learns):
        return call.proceed()


@mutant(p.GETATTR)
def getattr4_takes_every_writer_for_modified(call: Getattr) -> p.Getattr4Res:
    """A file counts as modified whatever the holder of a write delegation answers"""
    with _learning(call, lambda *_: True):
        return call.proceed()


@mutant(p.GETATTR)
def getattr4_keeps_mtime_of_writers(call: Getattr) -> p.Getattr4Res:
    """time_modify stays as it is when the holder of a write delegation has modified the file"""
    found = _written(call)
    if found is None:
        return call.proceed()
    before = found[0].mtime
    result = call.proceed()
    found[0].mtime = before
    return _amended(result, time_modify=nfstime4(before))


@mutant(p.GETATTR)
def getattr4_stores_nothing_of_writers(call: Getattr) -> p.Getattr4Res:
    """The change that GETATTR shows while a file is modified elsewhere is not stored: it is gone with the delegation"""
    found = _written(call)
    if found is None:
        return call.proceed()
    inode, writer = found
    before = inode.change
    result = call.proceed()
    if inode.change == before:
        return result
    inode.change = before
    call.state[writer] = call.state.get(writer, before) + 1
    return _amended(result, change=call.state[writer])


@mutant(p.GETATTR)
def getattr4_asks_about_another_file(call: Getattr) -> p.Getattr4Res:
    """CB_GETATTR has the filehandle of the root of the export"""
    root = call.backend.handle_of(next(iter(call.backend.exports.values())).root)

    def bent(args: p.CbCompound4Args) -> p.CbCompound4Args:
        return replace(
            args,
            argarray=[
                replace(operation, fh=root) if isinstance(operation, p.CbGetattr4Args) else operation
                for operation in args.argarray
            ],
        )

    with calls_back(call.server, bent):
        return call.proceed()


@mutant(p.GETATTR)
def getattr4_goes_on_without_writers(call: Getattr) -> p.Getattr4Res:
    """When CB_GETATTR fails, GETATTR answers with what the server has"""
    found = _written(call)
    return _local(call) if found is not None and found[1].is_mute else call.proceed()

# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_rename.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.bending import clear
from nfsmutants.form import Call, mutant, mutant_in_steps
from nfsmutants.nfs4.bending import refusal, restate4, succeeded, with_result
from nfsmutants.rules import RFC5661_ATTRIBUTES, RFC5661_RENAME
from nfsmutants.windows import Steps
from nfsserver.fs import SUPERUSER, Inode
from nfsserver.nfs4.common import become_current, compound_of

Rename = Call[p.Rename4Args, p.Rename4Res]
_SOME = p.ChangeInfo4(False, 0, 0)
_DONE = p.Rename4Res(Nfsstat4.NFS4_OK, p.Rename4ResOk(_SOME, _SOME))


@mutant(p.RENAME)
def rename4_renames_nothing(_call: Rename) -> p.Rename4Res:
    """RENAME succeeds, and the names stay"""
    return _DONE


@mutant(p.COMPOUND)
def rename4_stays_in_the_directory(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """RENAME into another directory gives the new name in the old directory"""
    last = call.args.argarray[-1] if call.args.argarray else None
    if not isinstance(last, p.Rename4Args):
        return call.proceed()
    there = [*call.args.argarray[:-1], p.Restorefh4Args(), last]
    reply = call.proceed_with(argarray=there)
    if len(reply.resarray) != len(there):
        return reply
    kept = [*reply.resarray[:-2], reply.resarray[-1]]
    return with_result(replace(reply, resarray=kept), len(kept) - 1, kept[-1])


@mutant(p.RENAME)
def rename4_never_replaces(call: Rename) -> p.Rename4Res:
    """RENAME to a new name that exists, by an object that is compatible, gets EXIST"""
    result = call.proceed()
    is_meant = (call.args.oldname, call.args.newname) == (b"old", b"new")
    return refusal(result, Nfsstat4.NFS4ERR_EXIST) if is_meant else result


@mutant(p.RENAME)
def rename4_incompatible_is_inval(call: Rename) -> p.Rename4Res:
    """RENAME over an object that is not compatible gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_EXIST, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.COMPOUND)
def rename4_takes_a_link_away(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """RENAME of a hard link to another one removes the old name"""
    last = call.args.argarray[-1] if call.args.argarray else None
    if not isinstance(last, p.Rename4Args):
        return call.proceed()
    removing = [*call.args.argarray, p.Remove4Args(last.oldname)]
    reply = call.proceed_with(argarray=removing)
    if len(reply.resarray) != len(removing):
        return reply
    return replace(reply, status=Nfsstat4.NFS4_OK, resarray=reply.resarray[:-1])


@mutant(p.RENAME)
def rename4_empty_name_is_noent(call: Rename) -> p.Rename4Res:
    """RENAME with an empty name gets NOENT"""
    result = call.proceed()
    if call.args.oldname and call.args.newname:
        return result
    return restate4(result, Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_NOENT)


@mutant(p.RENAME)
def rename4_absent_is_ok(call: Rename) -> p.Rename4Res:
    """RENAME of a name that does not exist succeeds"""
    result = call.proceed()
    return _DONE if result.status == Nfsstat4.NFS4ERR_NOENT else result


@mutant(p.RENAME)
def rename4_change_info_is_swapped(call: Rename) -> p.Rename4Res:
    """RENAME returns the changes of the source as those of the target, and the reverse"""
    result = call.proceed()
    if result.resok4 is None:
        return result
    swapped = p.Rename4ResOk(result.resok4.target_cinfo, result.resok4.source_cinfo)
    return p.Rename4Res(Nfsstat4.NFS4_OK, swapped)


# ---------------------------------------------------------------- what moves along, what stays


def _objects(call: Rename) -> tuple[Inode | None, Inode | None]:
    """What has the old name, and what has the new one."""
    state = compound_of(call.context)
    places = (state.saved, call.args.oldname), (state.current, call.args.newname)
    old, new = (
        None if where is None or where.directory is None else where.directory.get(bytes(name))
        for where, name in places
    )
    return old, new


@mutant(p.RENAME)
def rename4_loses_an_entry(call: Rename) -> p.Rename4Res:
    """RENAME of a directory to another one loses the newest entry in it"""
    source, state = _objects(call)[0], compound_of(call.context)
    result = call.proceed()
    entries = None if source is None else source.directory
    if succeeded(result) and state.saved is not state.current and entries:
        entries.remove(entries.names()[-1])
    return result


@mutant(p.RENAME, breaks=RFC5661_RENAME)
def rename4_destroys_replaced_files(call: Rename) -> p.Rename4Res:
    """RENAME over a file empties that file"""
    source, target = _objects(call)
    result = call.proceed()
    if succeeded(result) and target is not source:
        clear(target)
    return result


@mutant(p.RENAME, breaks=RFC5661_ATTRIBUTES)
def rename4_keeps_numlinks_of_replaced_files(call: Rename) -> p.Rename4Res:
    """RENAME over a file does not count that the file has a name less"""
    source, target = _objects(call)
    result = call.proceed()
    if succeeded(result) and target is not source and target is not None and target.data is not None:
        target.nlink += 1
    return result


@mutant(p.RENAME)
def rename4_moves_below_itself(call: Rename) -> p.Rename4Res:
    """RENAME of a directory below itself cuts it off the tree"""
    source, state = _objects(call)[0], compound_of(call.context)
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_INVAL or source is None or source.directory is None:
        return result
    if state.saved is not None and state.saved.directory is not None:
        state.saved.directory.remove(bytes(call.args.oldname))
    return _DONE


@mutant(p.RENAME)
def rename4_of_itself_removes(call: Rename) -> p.Rename4Res:
    """RENAME of a file to its own name removes the target in the first place"""
    source, target = _objects(call)
    state = compound_of(call.context)
    is_own = state.saved is state.current and call.args.oldname == call.args.newname
    if source is not None and source is target and is_own and state.current is not None:
        state.current.fs.remove(SUPERUSER, state.current, bytes(call.args.newname))
    return call.proceed()


@mutant(p.LOOKUPP)
def lookupp4_finds_the_first_parent(call: Call[p.Lookupp4Args, p.Lookupp4Res]) -> p.Lookupp4Res:
    """LOOKUPP of a directory finds what it found the first time"""
    state, inode = compound_of(call.context), compound_of(call.context).current
    result = call.proceed()
    if succeeded(result) and inode is not None:
        first = call.state.setdefault((inode.fileid, inode.generation), state.current)
        if first is not None and first is not state.current:
            become_current(call.context, first)
    return result


@mutant_in_steps(p.COMPOUND)
def rename4_removes_the_old_name_in_a_first_step(
    call: Call[p.Compound4Args, p.Compound4Res],
) -> Steps[p.Compound4Res]:
    """RENAME of a file within a directory removes the old name before it adds the new one"""
    operations = call.args.argarray
    last = operations[-1] if operations else None
    handles = [operation.object for operation in operations if isinstance(operation, p.Putfh4Args)]
    if isinstance(last, p.Rename4Args) and len(handles) == 1:
        directory, name = call.backend.resolve4(handles[0]), bytes(last.oldname)
        entries = directory.directory
        source = None if entries is None else entries.get(name)
        if entries is not None and source is not None and source.directory is None:
            if entries.get(bytes(last.newname)) is not None:
                directory.fs.remove(SUPERUSER, directory, bytes(last.newname))
            entries.remove(name)
            yield
            if entries.get(name) is None:
                entries.add(name, source)
    return call.proceed()


@mutant_in_steps(p.COMPOUND)
def rename4_removes_the_target_in_a_first_step(
    call: Call[p.Compound4Args, p.Compound4Res],
) -> Steps[p.Compound4Res]:
    """RENAME within a directory, over a file, removes that file before it moves the source"""
    operations = call.args.argarray
    last = operations[-1] if operations else None
    handles = [operation.object for operation in operations if isinstance(operation, p.Putfh4Args)]
    if isinstance(last, p.Rename4Args) and len(handles) == 1:
        directory = call.backend.resolve4(handles[0])
        entries = directory.directory
        source, target = (
            None if entries is None else entries.get(bytes(name)) for name in (last.oldname, last.newname)
        )
        if source is not None and target is not None and source is not target:
            directory.fs.remove(SUPERUSER, directory, bytes(last.newname))
            yield
    return call.proceed()

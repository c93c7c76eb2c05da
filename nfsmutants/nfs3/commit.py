# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_commit.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import COMMIT, Commit3Args, Commit3Res, Commit3ResFail, Nfsstat3, WccAttr
from nfsclient.xdr import replace
from nfsmutants.bending import amend, change, count, inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs3.calls import Commit
from nfsserver.fs import FsError, Inode, Kind
from nfsserver.handlers import ServerApi
from nfsserver.nfs3.common import Watched, nfstime3


def _file(server: ServerApi, handle: bytes) -> Inode | None:
    """The regular file of a handle."""
    try:
        inode = server.backend.resolve(handle)
    except FsError:
        return None
    return inode if inode.kind is Kind.REGULAR else None


def _refusal(server: ServerApi, args: Commit3Args) -> Commit3Res:
    wcc = Watched(server, args.file).wcc()
    return Commit3Res(Nfsstat3.NFS3ERR_INVAL, resfail=Commit3ResFail(wcc))


@mutant(COMMIT)
def commit3_changes_verifier(call: Commit) -> Commit3Res:
    """COMMIT returns another verifier each time, although nothing was lost"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    state = call.state
    state["calls"] = state.get("calls", 0) + 1
    return amend(reply, verf=call.backend.codec.token(b"wrong", state["calls"]))


@mutant(COMMIT)
def commit3_has_its_own_verifier(call: Commit) -> Commit3Res:
    """COMMIT always returns the same verifier, but not that of WRITE"""
    return amend(call.proceed(), verf=call.backend.codec.token(b"commit", call.backend.boots))


@mutant(COMMIT)
def commit3_drops_data(call: Commit) -> Commit3Res:
    """COMMIT discards uncommitted data"""
    inode = _file(call.server, call.args.file)
    if inode is not None:
        inode.crash()
    return call.proceed()


@mutant(COMMIT)
def commit3_refuses_count_zero(call: Commit) -> Commit3Res:
    """COMMIT with count 0 answers NFS3ERR_INVAL"""
    return call.proceed() if call.args.count else _refusal(call.server, call.args)


@mutant(COMMIT)
def commit3_refuses_ranges(call: Commit) -> Commit3Res:
    """COMMIT of anything but the whole file answers NFS3ERR_INVAL"""
    return call.proceed() if call.args.offset == call.args.count == 0 else _refusal(call.server, call.args)


@mutant(COMMIT)
def commit3_refuses_clean_files(call: Commit) -> Commit3Res:
    """COMMIT of a file without uncommitted data answers NFS3ERR_INVAL"""
    inode = _file(call.server, call.args.file)
    is_clean = inode is not None and not inode.has_unstable
    return _refusal(call.server, call.args) if is_clean else call.proceed()


@mutant(COMMIT)
def commit3_extends_the_file(call: Commit) -> Commit3Res:
    """COMMIT of a range that reaches beyond the end extends the file"""
    inode = _file(call.server, call.args.file)
    end = call.args.offset + call.args.count
    if call.args.count and end < 2**63 and inode is not None and inode.data is not None and inode.size < end:
        inode.data.truncate(end)
    return call.proceed()


@mutant(COMMIT)
def commit3_before_has_no_size(call: Commit) -> Commit3Res:
    """The pre-operation attributes of COMMIT have size 0"""
    reply = call.proceed()
    inode = _file(call.server, call.args.file)
    if reply.resok is None or inode is None:
        return reply
    before = WccAttr(0, nfstime3(inode.mtime), nfstime3(inode.ctime))
    return amend(reply, file_wcc=replace(reply.resok.file_wcc, before=before))


@mutant(COMMIT)
def commit3_after_has_another_fileid(call: Commit) -> Commit3Res:
    """The post-operation attributes of COMMIT have the fileid of another object"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    wcc = reply.resok.file_wcc
    return reply if wcc.after is None else amend(reply, file_wcc=change(wcc, "after", fileid=1))


# ---------------------------------------------------------------- verifiers


# ---------------------------------------------------------------- COMMIT


@mutant(COMMIT)
def commit3_drops_other_files(call: Commit) -> Commit3Res:
    """COMMIT of a file discards the uncommitted data of all others"""
    committed = inode_of(call.server, call.args.file)
    for inode in call.backend.fs.inodes():
        if inode is not committed:
            inode.crash()
    return call.proceed()


@mutant(COMMIT)
def commit3_changes_the_mode_of_non_files(call: Commit) -> Commit3Res:
    """COMMIT of an object that is not a regular file sets its mode to 0"""
    inode = inode_of(call.server, call.args.file)
    if inode is not None and inode.kind is not Kind.REGULAR:
        inode.mode = 0
    return call.proceed()


@mutant(COMMIT)
def commit3_over_udp_flushes_nothing(call: Commit) -> Commit3Res:
    """COMMIT over UDP answers OK and discards the uncommitted data"""
    inode = inode_of(call.server, call.args.file)
    if call.context.transport == "udp" and inode is not None:
        inode.crash()
    return call.proceed()


@mutant(COMMIT)
def commit3_fails_the_second_time(call: Commit) -> Commit3Res:
    """The second COMMIT of a run answers NFS3ERR_IO"""
    reply = call.proceed()
    if count(call.state) != 2 or reply.resok is None:
        return reply
    return Commit3Res(Nfsstat3.NFS3ERR_IO, resfail=Commit3ResFail(reply.resok.file_wcc))

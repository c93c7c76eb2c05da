# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/snfs/test_dead.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs2
from nfsclient.protocol import snfs as p
from nfsclient.protocol.nfs2 import Nfsstat2
from nfsclient.protocol.snfs import Snfsstat
from nfsmutants.bending import restate
from nfsmutants.form import Call, mutant
from nfsmutants.snfs.bending import Open, Read, Write, caller_of, file_of, is_locked, swapped, table_of
from nfsserver.nfs2.data import read2, write2
from nfsserver.waiting import Waits


@mutant(p.OPEN)
def snfs_dead_clients_lock_files(call: Open) -> p.Openopres:
    """A file of which a client has lost dirty blocks is not opened any more"""
    reply = call.proceed()
    inode = file_of(call)
    if inode is not None and any(file is inode for _, file in table_of(call).dead):
        return p.Openopres(Snfsstat.NFSERR_IO)
    return reply


@mutant(p.OPEN)
def snfs_says_nothing_of_a_loss(call: Open) -> p.Openopres:
    """OPEN answers NFS_OK although a client has not written back"""
    return restate(call.proceed(), Snfsstat.SNFS_INCONSISTENT, Snfsstat.NFS_OK)


@mutant(p.WRITE)
def snfs_dead_client_writes(call: Write) -> nfs2.Attrstat:
    """WRITE is served to clients that have nothing open"""
    reply = call.proceed()
    return write2(call.server, call.context, call.args) if reply.status == Nfsstat2.NFSERR_STALE else reply


@mutant(p.READ)
def snfs_dead_client_reads(call: Read) -> nfs2.Readres:
    """READ is served to clients that have nothing open"""
    reply = call.proceed()
    return read2(call.server, call.context, call.args) if reply.status == Nfsstat2.NFSERR_STALE else reply


@mutant(p.OPEN)
def snfs_dead_client_opens(call: Open) -> p.Openopres:
    """A client that was given up opens the file by its old handle"""
    inode = file_of(call)
    if inode is not None:
        table_of(call).reopened(caller_of(call), inode)
    return call.proceed()


@mutant((p.OPEN, p.WRITE))
def snfs_connecting_brings_back_to_life(call: Write) -> object:
    """A client that was given up goes on when it has connected again"""
    known = call.state.setdefault(caller_of(call), call.context.channel)
    reply = call.proceed()
    is_stale = getattr(reply, "status", None) == Nfsstat2.NFSERR_STALE
    if call.operation is p.WRITE and is_stale and known is not call.context.channel:
        return write2(call.server, call.context, call.args)
    return reply


def _in_vain(*_args: object) -> None:
    """In place of `obtained`."""


@mutant(p.LOOKUP)
def snfs_dead_client_stays_out(call: Call[nfs2.Diropargs, nfs2.Diropres]) -> nfs2.Diropres:
    """LOOKUP gives a client that was given up no handle that it may use"""
    with swapped(table_of(call), obtained=_in_vain):
        return call.proceed()


@mutant(p.OPEN)
def snfs_version_survives_a_death(call: Open) -> p.Openopres:
    """The version of a file stays when a client with dirty blocks is given up"""
    inode, waiting = file_of(call), (caller_of(call), call.context.xid)
    if inode is None:
        return call.proceed()
    if waiting in call.state and not is_locked(call):
        inode.version = call.state.pop(waiting)
    version = inode.version
    try:
        return call.proceed()
    except Waits:
        call.state.setdefault(waiting, version)
        raise

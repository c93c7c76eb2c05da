# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/snfs/test_other_versions.py catch."""

from __future__ import annotations

import contextlib
import typing as t

from nfsclient.protocol import nfs2, nfs3, nfs4
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.calls import Read, Write
from nfsmutants.snfs.bending import swapped
from nfsserver.fs import Inode
from nfsserver.state.stateids import StateError
from nfsserver.state.transitions import State
from nfsserver.waiting import Waits


def _nothing(_inode: Inode, *, changes: bool) -> None:
    """In place of `clear_caches`."""


@mutant((nfs3.READ, nfs3.WRITE))
def nfs3_ignores_spritely_clients(call: AnyCall) -> t.Any:
    """NFSv3 knows nothing of what clients of Spritely NFS have cached"""
    with swapped(call.server, clear_caches=_nothing):
        return call.proceed()


@mutant(nfs3.SETATTR)
def nfs3_setattr_ignores_spritely_clients(call: AnyCall) -> t.Any:
    """SETATTR by NFSv3 leaves what clients of Spritely NFS have cached"""
    with swapped(call.server, clear_caches=_nothing):
        return call.proceed()


@mutant(nfs3.WRITE)
def nfs3_writes_to_what_is_written(call: Write) -> nfs3.Write3Res:
    """WRITE by NFSv3 calls no client of Spritely NFS that writes the file itself"""
    inode = inode_of(call.server, call.args.file)
    entry = None if inode is None else call.server.spritely.entries.get(inode)
    if entry is None or entry.state is not State.ONE_WRITER:
        return call.proceed()
    with swapped(call.server, clear_caches=_nothing):
        return call.proceed()


@mutant(nfs3.READ)
def nfs3_reads_before_the_write_back(call: Read) -> nfs3.Read3Res:
    """READ by NFSv3 calls clients of Spritely NFS, and does not wait for them"""
    usual = call.server.clear_caches

    def clear(inode: Inode, *, changes: bool) -> None:
        with contextlib.suppress(StateError, Waits):
            usual(inode, changes=changes)

    with swapped(call.server, clear_caches=clear):
        return call.proceed()


@mutant((nfs2.READ, nfs2.WRITE))
def nfs2_ignores_spritely_clients(call: AnyCall) -> t.Any:
    """NFSv2 knows nothing of what clients of Spritely NFS have cached"""
    with swapped(call.server, clear_caches=_nothing):
        return call.proceed()


@mutant((nfs4.OPEN, nfs4.READ, nfs4.WRITE))
def nfs4_ignores_spritely_clients(call: AnyCall) -> t.Any:
    """NFSv4 knows nothing of what clients of Spritely NFS have cached"""
    with swapped(call.server, clear_caches=_nothing):
        return call.proceed()


@mutant(nfs3.READ)
def nfs3_reads_as_if_it_wrote(call: Read) -> nfs3.Read3Res:
    """READ by NFSv3 counts as a write for clients of Spritely NFS"""
    usual = call.server.clear_caches

    def clear(inode: Inode, *, changes: bool) -> None:  # noqa: ARG001
        usual(inode, changes=True)

    with swapped(call.server, clear_caches=clear):
        return call.proceed()


@mutant(nfs3.WRITE)
def nfs3_writes_keep_the_version(call: Write) -> nfs3.Write3Res:
    """WRITE by NFSv3 leaves the version that clients of Spritely NFS see"""
    inode = inode_of(call.server, call.args.file)
    version = 0 if inode is None else inode.version
    reply = call.proceed()
    if inode is not None:
        inode.version = version
    return reply

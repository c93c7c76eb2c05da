# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_statfs.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import STATFS, Statfsres
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs2.calls import Statfs

# ---------------------------------------------------------------- STATFS


@mutant(STATFS)
def statfs2_returns_bsize_0(call: Statfs) -> Statfsres:
    """STATFS returns a block size of 0"""
    return amend(call.proceed(), bsize=0)


@mutant(STATFS)
def statfs2_returns_tsize_0(call: Statfs) -> Statfsres:
    """STATFS returns a preferred transfer size of 0"""
    return amend(call.proceed(), tsize=0)


@mutant(STATFS)
def statfs2_reports_more_free_than_total(call: Statfs) -> Statfsres:
    """STATFS returns more free blocks than blocks"""
    return amend(call.proceed(), bfree=lambda it: it.blocks + 1)


@mutant(STATFS)
def statfs2_reports_more_available_than_free(call: Statfs) -> Statfsres:
    """STATFS returns more blocks for users than free blocks"""
    return amend(call.proceed(), bavail=lambda it: it.bfree + 1)


@mutant(STATFS)
def statfs2_block_size_differs_by_object(call: Statfs) -> Statfsres:
    """STATFS of an object that is not a directory counts blocks of another size"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    info = reply.resok
    inode = inode_of(call.server, call.args.file)
    other = inode is not None and inode.directory is None
    return amend(reply, bsize=info.bsize // 2, blocks=info.blocks * 2) if other else reply

# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_link.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import LINK, Nfsstat2, StatRes
from nfsmutants.bending import inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs2.bending import done
from nfsmutants.nfs2.calls import Link
from nfsserver.fs import SUPERUSER

# ---------------------------------------------------------------- LINK


@mutant(LINK)
def link2_makes_a_copy(call: Link) -> StatRes:
    """LINK makes a copy of the file instead of a name"""
    inode, directory = inode_of(call.server, call.args.from_), inode_of(call.server, call.args.to.dir)
    if inode is None or inode.data is None or directory is None:
        return call.proceed()
    made = directory.fs.create(call.caller, directory, call.args.to.name)
    assert made.data is not None
    if inode.size:
        made.data.write(0, inode.data.read(0, inode.size), stable=True)
    return done()


@mutant(LINK)
def link2_keeps_nlink(call: Link) -> StatRes:
    """LINK does not increase nlink"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.from_)
    if reply.status == Nfsstat2.NFS_OK and inode is not None:
        inode.nlink -= 1
    return reply


@mutant(LINK)
def link2_refuses_and_increases_nlink(call: Link) -> StatRes:
    """LINK refuses an existing name, but increases nlink"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.from_)
    if reply.status == Nfsstat2.NFSERR_EXIST and inode is not None:
        inode.nlink += 1
    return reply


@mutant(LINK)
def link2_links_directories(call: Link) -> StatRes:
    """LINK adds names to directories, even inside the directory itself"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.from_)
    if inode is None or inode.directory is None:
        return reply
    inode.fs.create(SUPERUSER, inode, call.args.to.name)
    return done()


@mutant(LINK)
def link2_creates_removed_files(call: Link) -> StatRes:
    """LINK of a removed file fails, but makes an empty file"""
    reply = call.proceed()
    directory = inode_of(call.server, call.args.to.dir)
    if reply.status == Nfsstat2.NFSERR_STALE and directory is not None:
        directory.fs.create(SUPERUSER, directory, call.args.to.name)
    return reply

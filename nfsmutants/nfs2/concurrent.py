# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_concurrent.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import WRITE, Attrstat, Nfsstat2
from nfsmutants.bending import inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs2.calls import Write


@mutant(WRITE)
def write2_puts_the_file_back(call: Write) -> Attrstat:
    """WRITE of a small file writes all of it, as the connection knew it after its last WRITE"""
    inode, key = inode_of(call.server, call.args.file), (call.peer, bytes(call.args.file))
    reply, data = call.proceed(), bytes(call.args.data)
    if inode is None or inode.data is None or reply.status != Nfsstat2.NFS_OK or inode.size > 4096:
        return reply
    known = bytearray(call.state.get(key, inode.data.read(0, inode.size)))
    known.extend(bytes(max(0, call.args.offset + len(data) - len(known))))
    known[call.args.offset : call.args.offset + len(data)] = data
    inode.data.write(0, bytes(known), stable=True)
    call.state[key] = bytes(known)
    return reply

# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_symlink.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import MAXPATHLEN, READLINK, SYMLINK, Readlinkres
from nfsclient.xdr import replace
from nfsmutants.bending import inode_of
from nfsmutants.form import Message, mutant, wire_mutant
from nfsmutants.nfs2.bending import _arguments_of, cut_name, success
from nfsmutants.nfs2.calls import Readlink, Symlink
from nfsserver.fs import SUPERUSER
from nfsserver.middleware import Answer

# ---------------------------------------------------------------- READLINK


@mutant(READLINK)
def readlink2_drops_the_last_byte(call: Readlink) -> Readlinkres:
    """READLINK returns the text without its last byte"""
    reply = call.proceed()
    return reply if reply.data is None else replace(reply, data=reply.data[:-1])


# ---------------------------------------------------------------- oversized strings


@wire_mutant()
def symlink2_cuts_long_texts(message: Message) -> Answer:
    """SYMLINK cuts texts of more than 1024 bytes"""
    number, at = _arguments_of(message.data)
    if number != SYMLINK.number:
        return message.proceed()
    name = int.from_bytes(message.data[at + 32 : at + 36], "big")
    return message.proceed(cut_name(message.data, at + 36 + (name + 3) // 4 * 4, MAXPATHLEN))


# ---------------------------------------------------------------- SYMLINK


@mutant(SYMLINK)
def symlink2_makes_a_file(call: Symlink) -> t.Any:
    """SYMLINK makes a regular file with the text in it"""
    directory = inode_of(call.server, call.args.from_.dir)
    if directory is None:
        return call.proceed()
    made = directory.fs.create(SUPERUSER, directory, call.args.from_.name)
    assert made.data is not None
    made.data.write(0, call.args.to, stable=True)
    return success(call.server, SYMLINK, made)

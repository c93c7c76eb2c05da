# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_two_clients.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import ACCESS, READ, WRITE, Access3Res, Nfsstat3, Read3Res, Write3Res
from nfsclient.xdr import replace
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.calls import Access, Read, Write
from nfsmutants.rules import RFC1813_WRITE

# ---------------------------------------------------------------- several clients


@mutant(READ)
def read3_caches_data_by_connection(call: Read) -> Read3Res:
    """READ repeats the first data that the connection read from the file, even after changes"""
    args = call.args
    inode = inode_of(call.server, args.file)
    if inode is None or inode.data is None:
        return call.proceed()
    known: dict[tuple[bytes, object], bytes] = call.state.setdefault("known", {})
    data = known.setdefault((bytes(args.file), call.peer), inode.data.read(0, 2**16))
    part = data[args.offset : args.offset + args.count]
    reply = call.proceed()
    if reply.resok is None or args.offset >= 2**16:
        return reply
    resok = replace(reply.resok, data=part, count=len(part), eof=args.offset + len(part) >= len(data))
    return replace(reply, resok=resok)


@mutant(ACCESS)
def access3_remembers_what_it_granted(call: Access) -> Access3Res:
    """ACCESS repeats what it answered to the user for the object before"""
    key = bytes(call.args.object), call.args.access, call.caller.uid
    known: dict[object, Access3Res] = call.state.setdefault("access", {})
    if key not in known:
        known[key] = call.proceed()
    return known[key]


# ---------------------------------------------------------------- data of another user


def _as_remembered(call: AnyCall, who: object) -> t.Any:
    """Proceed with a call on data as root, if such a call of `who` on the file was granted before."""
    inode = inode_of(call.server, call.args.file)
    if inode is None:
        return call.proceed()
    key = call.operation.name, inode.fileid, inode.generation, who
    reply = call.proceed_as_root() if key in call.state else call.proceed()
    if reply.status == Nfsstat3.NFS3_OK:
        call.state[key] = True
    return reply


@mutant((READ, WRITE))
def data3_remembers_who_was_granted(call: AnyCall) -> t.Any:
    """READ and WRITE are granted to a user who was granted the same on the file before, whatever its mode is now"""
    return _as_remembered(call, call.caller.uid)


@mutant((READ, WRITE))
def data3_grants_all_what_one_was_granted(call: AnyCall) -> t.Any:
    """READ and WRITE are granted to everybody once they were granted to somebody"""
    return _as_remembered(call, "everybody")


@mutant(WRITE, breaks=RFC1813_WRITE)
def write3_gives_the_file_away(call: Write) -> Write3Res:
    """WRITE by another user than the owner makes the writer the owner, as of a new file in its place"""
    inode, reply = inode_of(call.server, call.args.file), call.proceed()
    if inode is not None and reply.status == Nfsstat3.NFS3_OK and call.args.data:
        inode.uid = call.caller.uid
    return reply

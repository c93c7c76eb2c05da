# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_two_clients.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import ACCESS, READ, Access3Res, Read3Res
from nfsclient.xdr import replace
from nfsmutants.bending import inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs3.calls import Access, Read
from nfsmutants.rules import RFC1813_ACCESS, RFC1813_READ

# ---------------------------------------------------------------- several clients


@mutant(READ, RFC1813_READ)
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


@mutant(ACCESS, RFC1813_ACCESS)
def access3_remembers_what_it_granted(call: Access) -> Access3Res:
    """ACCESS repeats what it answered to the user for the object before"""
    key = bytes(call.args.object), call.args.access, call.caller.uid
    known: dict[object, Access3Res] = call.state.setdefault("access", {})
    if key not in known:
        known[key] = call.proceed()
    return known[key]

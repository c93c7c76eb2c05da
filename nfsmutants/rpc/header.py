# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/rpc/test_header.py catch."""

from __future__ import annotations

import struct

from nfsclient.protocol import mount, nfs3
from nfsclient.rpc.messages import AcceptStat as Accept
from nfsclient.rpc.messages import accepted
from nfsmutants.form import Message, wire_mutant
from nfsmutants.rpc.bending import _HEADER
from nfsmutants.rpc.headers import head_of, with_word
from nfsserver.middleware import Answer


@wire_mutant(only_raw=True)
def rpc_treats_unknown_programs_as_nfs(message: Message) -> Answer:
    """A call of an unknown program is executed as one of NFS"""
    unknown = len(message.data) >= _HEADER and head_of(message.data)[3] not in range(100_000, 100_100)
    return message.proceed(with_word(message.data, 3, nfs3.NFS3.number) if unknown else message.data)


@wire_mutant(only_raw=True)
def rpc_treats_unknown_procedures_as_null(message: Message) -> Answer:
    """An undefined procedure number of NFS is executed as NULL"""
    _, _, _, prog, vers, proc = head_of(message.data)
    beyond = proc > 21 or (vers == 2 and proc > 17)
    return message.proceed(
        with_word(message.data, 5, 0) if prog == nfs3.NFS3.number and beyond else message.data
    )


@wire_mutant(only_raw=True)
def mount3_treats_unknown_procedures_as_null(message: Message) -> Answer:
    """An undefined procedure number of MOUNT version 3 is executed as NULL"""
    _, _, _, prog, vers, proc = head_of(message.data)
    beyond = prog == mount.PROGRAM and vers == 3 and proc > 5
    return message.proceed(with_word(message.data, 5, 0) if beyond else message.data)


@wire_mutant(only_raw=True)
def rpc_answers_replies(message: Message) -> Answer:
    """The server answers a reply that a client sends"""
    xid, mtype, *_ = head_of(message.data)
    return accepted(xid, Accept.GARBAGE_ARGS).to_buffers() if mtype == 1 else message.proceed()


@wire_mutant(only_raw=True)
def rpc_pads_short_headers(message: Message) -> Answer:
    """A truncated header is completed with that of a NULL"""
    if 8 <= len(message.data) < _HEADER and head_of(message.data)[1] == 0:
        null = struct.pack(">10I", 0, 0, 2, nfs3.NFS3.number, 3, 0, 0, 0, 0, 0)
        return message.proceed(message.data + null[len(message.data) :])
    return message.proceed()

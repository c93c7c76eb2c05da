# SPDX-License-Identifier: MIT
"""The port mapper, version 2 of the RPC binding protocol (RFC 1833 section 3).

It answers on port 111 of TCP and UDP and knows ports only, hence IPv4 only; `rpcbind` is its successor under
the same program number.
"""

from __future__ import annotations

import typing as t

from nfsclient.rpc.program import Procedure, Program
from nfsclient.xdr import Identity, LinkedList, Opaque, Struct, Void, XdrType, u32

PROGRAM = 100000
"""The RPC program number of the binding protocol, all versions (RFC 1833 section 2.1)."""
VERSION = 2
PORT = 111
"""Where every version of it listens."""
IPPROTO_TCP = 6
"""`prot` for TCP."""
IPPROTO_UDP = 17
"""`prot` for UDP."""


class Mapping(Struct):
    """mapping: a program, its version, the protocol under it, and its port."""

    prog: u32
    vers: u32
    prot: u32
    """IPPROTO_TCP or IPPROTO_UDP."""
    port: u32 = 0
    """Ignored by GETPORT and UNSET."""


class BoolRes(Struct):
    """A bare `bool`: the result of SET and UNSET."""

    value: bool


class GetportRes(Struct):
    """A bare `unsigned int`: the result of GETPORT."""

    port: u32
    """0: not registered."""


class Pmaplist(Struct):
    """pmaplist, the result of DUMP: all mappings."""

    entries: t.Annotated[list[Mapping], LinkedList()]


class CallArgs(Struct):
    """call_args: a call to be passed on to a program of the same machine."""

    prog: u32
    vers: u32
    proc: u32
    args: t.Annotated[bytes, Opaque(), Identity("body")]
    """The encoded arguments."""


class CallResult(Struct):
    """call_result: which port answered, and its encoded results. A call that fails gets no answer."""

    port: u32
    res: t.Annotated[bytes, Opaque(), Identity("body")]


A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)


def _procedure(number: int, name: str, args: type[A], res: type[R]) -> Procedure[A, R]:
    return Procedure(PROGRAM, VERSION, number, name, args, res)


NULL = _procedure(0, "NULL", Void, Void)
SET = _procedure(1, "SET", Mapping, BoolRes)
UNSET = _procedure(2, "UNSET", Mapping, BoolRes)
GETPORT = _procedure(3, "GETPORT", Mapping, GetportRes)
DUMP = _procedure(4, "DUMP", Void, Pmaplist)
CALLIT = _procedure(5, "CALLIT", CallArgs, CallResult)

PORTMAP2 = Program(PROGRAM, VERSION, "PORTMAP", (NULL, SET, UNSET, GETPORT, DUMP, CALLIT))
"""Program 100000, version 2."""

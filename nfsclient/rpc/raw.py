# SPDX-License-Identifier: MIT
"""Replies whose results are left alone, for callers that know better how to decode them."""

from __future__ import annotations

import typing as t

from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Buffer, Opaque, Struct


class RawReply(Struct):
    """The results of a reply, not decoded: as many bytes as there are."""

    results: t.Annotated[bytes, Opaque()]
    takes_rest = True

    @classmethod
    def unpack_from(cls, buf: Buffer, pos: int = 0) -> tuple[RawReply, int]:
        """All bytes from `pos` on."""
        return cls(bytes(memoryview(buf)[pos:])), len(buf)


def raw(procedure: Procedure[t.Any, t.Any], args: type[t.Any] | None = None) -> Procedure[t.Any, RawReply]:
    """The same procedure with its results left alone; with `args`, too, of another class (`Encoded`)."""
    number, name = procedure.number, procedure.name
    return Procedure(procedure.program, procedure.version, number, name, args or procedure.args, RawReply)

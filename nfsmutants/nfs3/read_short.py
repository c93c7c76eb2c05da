# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_read_short.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import READ, Read3Res
from nfsmutants.bending import amend
from nfsmutants.form import mutant
from nfsmutants.nfs3.calls import Read

# ---------------------------------------------------------------- short READs


@mutant(READ)
def read3_short_returns_eof(call: Read) -> Read3Res:
    """READ that returns fewer bytes than requested returns eof"""
    reply = call.proceed()
    if reply.resok is None or reply.resok.count >= call.args.count:
        return reply
    return amend(reply, eof=True)


@mutant(READ)
def read3_short_skips_the_first_byte(call: Read) -> Read3Res:
    """READ that returns fewer bytes than requested skips the first byte"""
    reply = call.proceed()
    if reply.resok is None or reply.resok.eof or reply.resok.count >= call.args.count:
        return reply
    shifted = call.proceed_with(offset=call.args.offset + 1).resok
    data = b"" if shifted is None else bytes(shifted.data)
    return amend(reply, data=data[: reply.resok.count].ljust(reply.resok.count, b"?"))

# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/portmap/test_null.py catch."""

from __future__ import annotations

from nfsclient.protocol import portmap as pm
from nfsmutants.form import Message, wire_mutant
from nfsserver.middleware import Answer


@wire_mutant()
def portmap_null_returns_results(message: Message) -> Answer:
    """NULL of portmap and rpcbind returns a word although it has no results"""
    reply = message.proceed()
    is_null = message.data[12:16] == pm.PROGRAM.to_bytes(4, "big") and message.data[20:24] == bytes(4)
    is_served = 2 <= int.from_bytes(message.data[16:20], "big") <= 4
    return [*reply, bytes(4)] if reply is not None and is_null and is_served else reply

# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_readdir.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2, nfs3
from nfsclient.xdr import replace
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant


def _has_restarted(call: AnyCall) -> bool:
    return bool(call.state.setdefault("first", call.backend.boots) != call.backend.boots)


@mutant((nfs3.READDIR, nfs3.READDIRPLUS))
def list_skips_an_entry_after_restart(call: AnyCall) -> t.Any:
    """READDIR and READDIRPLUS skip an entry if they go on after a restart"""
    skips = _has_restarted(call) and call.args.cookie
    return call.proceed_with(cookie=call.args.cookie + 1) if skips else call.proceed()


@mutant((nfs3.READDIR, nfs3.READDIRPLUS, nfs3.CREATE))
def list_has_old_fileids_after_restart(call: AnyCall) -> t.Any:
    """After a restart, READDIR and READDIRPLUS list the fileid of the directory for each entry"""
    has_restarted, reply = _has_restarted(call), call.proceed()
    if call.operation is nfs3.CREATE or not has_restarted or reply.resok is None:
        return reply
    return amend(reply, entries=[replace(entry, fileid=2) for entry in reply.resok.entries])


@mutant(nfs2.READDIR)
def readdir2_skips_an_entry_after_restart(call: AnyCall) -> t.Any:
    """READDIR of NFSv2 skips an entry if it goes on after a restart"""
    at = int.from_bytes(call.args.cookie, "big")
    skips = _has_restarted(call) and at
    return call.proceed_with(cookie=(at + 1).to_bytes(4, "big")) if skips else call.proceed()

# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_readdir_entries.py catch."""

from __future__ import annotations

import string
import typing as t

from nfsclient.protocol.nfs3 import (
    READDIR,
    READDIRPLUS,
    Nfsstat3,
    Readdir3Args,
    Readdir3ResOk,
    Readdirplus3ResOk,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant

_LONG_NAME: t.Final = 200
_TIDY: t.Final = (string.ascii_letters + string.digits + "-.").encode()
_DOTS: t.Final = (b".", b"..")


# ---------------------------------------------------------------- entries


@mutant((READDIR, READDIRPLUS))
def list3_replaces_special_characters(call: AnyCall) -> t.Any:
    """Listed names have `?` for special characters, and at most 200 bytes"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    resok = reply.resok
    return amend(
        reply,
        entries=[
            replace(entry, name=bytes(byte if byte in _TIDY else 63 for byte in entry.name[:_LONG_NAME]))
            for entry in resok.entries
        ],
    )


@mutant((READDIR, READDIRPLUS))
def list3_swaps_the_dots(call: AnyCall) -> t.Any:
    """`.` and `..` have each other's fileid"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    resok = reply.resok
    fileids = {entry.name: entry.fileid for entry in resok.entries if entry.name in _DOTS}
    other = {b".": fileids.get(b".."), b"..": fileids.get(b".")}
    return amend(
        reply,
        entries=[
            replace(entry, fileid=other[entry.name]) if other.get(entry.name) is not None else entry
            for entry in resok.entries
        ],
    )


@mutant((READDIR, READDIRPLUS))
def list3_wrong_fileid(call: AnyCall) -> t.Any:
    """Entries have a fileid that no object has"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    resok = reply.resok
    return amend(
        reply,
        entries=[
            replace(entry, fileid=entry.fileid + 1_000_000) if entry.name not in _DOTS else entry
            for entry in resok.entries
        ],
    )


@mutant((READDIR, READDIRPLUS))
def list3_lists_special_files(call: AnyCall) -> t.Any:
    """Objects other than directories and regular files have an empty listing"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_NOTDIR or call.backend.resolve(call.args.dir).data is not None:
        return reply
    resok = Readdir3ResOk if isinstance(call.args, Readdir3Args) else Readdirplus3ResOk
    return type(reply)(Nfsstat3.NFS3_OK, resok(None, bytes(8), [], eof=True))

# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_retransmission.py catch."""

from __future__ import annotations

import contextlib
import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    LINK,
    MKDIR,
    MKNOD,
    REMOVE,
    RENAME,
    RMDIR,
    SYMLINK,
    WRITE,
    StableHow,
)
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.calls import Write
from nfsmutants.recovery.bending import entry_of
from nfsserver.fs import SUPERUSER, FsError

_CHANGES: t.Final = (CREATE, MKDIR, SYMLINK, MKNOD, LINK, REMOVE, RMDIR, RENAME)


@mutant(_CHANGES)
def repeated_call_of_before_a_restart_makes_another_file(call: AnyCall) -> t.Any:
    """A change of names that is repeated after a restart creates another file"""
    first: dict[bytes, int] = call.state.setdefault("first", {})
    boots = first.setdefault(call.args.to_xdr(), call.backend.boots)
    if boots != call.backend.boots:
        where, name = entry_of(call.args, "where", "object", "link", "to")
        directory = inode_of(call.server, where)
        with contextlib.suppress(FsError):
            if directory is not None:
                directory.fs.create(SUPERUSER, directory, name + b" again")
    return call.proceed()


@mutant(WRITE)
def write3_repeats_its_answer_after_a_crash(call: Write) -> t.Any:
    """WRITE with UNSTABLE that is repeated after a crash is answered as before, and not executed"""
    if call.args.stable is not StableHow.UNSTABLE:
        return call.proceed()
    answers: dict[bytes, tuple[int, t.Any]] = call.state.setdefault("answers", {})
    boots, reply = answers.get(call.args.to_xdr(), (call.backend.boots, None))
    if reply is not None and boots != call.backend.boots:
        return reply
    reply = call.proceed()
    answers[call.args.to_xdr()] = call.backend.boots, reply
    return reply

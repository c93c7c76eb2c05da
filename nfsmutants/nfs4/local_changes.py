# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_local_changes.py catch."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Iterator

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import Call, mutant
from nfsmutants.rules import RFC5661_RECALL
from nfsserver.fs import SUPERUSER, FsError, Inode, Stability
from nfsserver.handlers import ServerApi


@mutant((p.GETATTR, p.READDIR), breaks=RFC5661_RECALL)
def nfs4_local_changes_do_not_wait(call: Call[t.Any, t.Any]) -> t.Any:
    """A change on the server itself recalls a delegation, and does not wait for its return"""
    # No operation is the change: the next one that looks at the file finds it done.
    states = call.server.states
    for delegation in states.held.delegations.overdue(states.now(), 0.0):
        with contextlib.suppress(FsError):
            _change(call.server, t.cast("Inode", delegation.file))
    return call.proceed()


def _change(server: ServerApi, file: Inode) -> None:
    """A file in a directory of the root grows, and loses its name."""
    for directory, name in list(_names_of(server, file)):
        file.fs.write(SUPERUSER, file, file.size, b"x", Stability.FILE_SYNC)
        file.fs.remove(SUPERUSER, directory, name)


def _names_of(server: ServerApi, file: Inode) -> Iterator[tuple[Inode, bytes]]:
    root = server.backend.fs.root.directory
    for below in () if root is None else root.names():
        directory = None if root is None else root.get(below)
        entries = None if directory is None else directory.directory
        for name in () if entries is None else entries.names():
            if directory is not None and entries is not None and entries.get(name) is file:
                yield directory, name

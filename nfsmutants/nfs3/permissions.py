# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_permissions.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import READ, READDIR, READDIRPLUS, REMOVE, RENAME, RMDIR, WRITE
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import (
    MADE,
    NAME_CHANGES,
    OF_NAMES,
    TAKEN,
    directory_of,
    is_unprivileged,
    proceed_without,
)
from nfsmutants.rules import RFC1813_PERMISSIONS


@mutant(OF_NAMES)
def names3_deny_nobody(call: AnyCall) -> t.Any:
    """Everybody may search and change every directory"""
    return call.proceed_as_root()


@mutant(OF_NAMES)
def names3_deny_everybody(call: AnyCall) -> t.Any:
    """Nobody may change a directory of another user, whatever its mode"""
    procedure = call.operation
    where = getattr(call.args, MADE.get(procedure) or TAKEN[procedure])
    directory = directory_of(call.server, where.dir)
    if directory is None or not is_unprivileged(call.context) or directory.uid == call.caller.uid:
        return call.proceed()
    mode, directory.mode = directory.mode, directory.mode & 0o700
    try:
        return call.proceed()
    finally:
        directory.mode = mode


@mutant((REMOVE, RMDIR, RENAME))
def names3_ignore_the_sticky_bit(call: AnyCall) -> t.Any:
    """Users who may write to a directory may remove the objects of others from it, sticky or not"""
    directory = directory_of(call.server, getattr(call.args, TAKEN[call.operation]).dir)
    if directory is None:
        return call.proceed()
    sticky = directory.mode & 0o1000
    directory.mode &= ~0o1000
    try:
        return call.proceed()
    finally:
        directory.mode |= sticky


# ---------------------------------------------------------------- permission


@mutant((READ, WRITE, READDIR, READDIRPLUS), breaks=RFC1813_PERMISSIONS)
def nfs3_data_ignores_permissions(call: AnyCall) -> t.Any:
    """READ, WRITE, READDIR and READDIRPLUS ignore permissions"""
    if call.caller.uid == 0:
        return call.proceed()
    return call.proceed_as_root()


@mutant(NAME_CHANGES)
def names3_let_a_squashed_root_change(call: AnyCall) -> t.Any:
    """A squashed root changes the directories of other users like root"""
    return proceed_without(call, root_squash=False)

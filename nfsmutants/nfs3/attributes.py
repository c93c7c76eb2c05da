# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_attributes.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    FSINFO,
    FSSTAT,
    MKDIR,
    MKNOD,
    PATHCONF,
    SERVER_TIME,
    Mkdir3Args,
    Mknod3Args,
    Sattr3,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant
from nfsmutants.rules import RFC1813_CREATE
from nfsserver.nfs3.common import fattr3

_OPEN: t.Final = Sattr3(mode=0o777)


@mutant((CREATE, MKDIR, MKNOD))
def creations3_ignore_initial_attributes(call: AnyCall) -> t.Any:
    """New objects have mode 777 instead of the requested attributes"""
    if isinstance(call.args, Mkdir3Args):
        return call.proceed_with(attributes=_OPEN)
    if isinstance(call.args, Mknod3Args):
        return call.proceed_with("what", pipe_attributes=_OPEN)
    if call.args.how.obj_attributes is None:
        return call.proceed()
    return call.proceed_with("how", obj_attributes=_OPEN)


def _initial(call: AnyCall) -> tuple[str, str, Sattr3 | None]:
    """Where the initial attributes of a creation stand, and what they are."""
    if isinstance(call.args, Mkdir3Args):
        return "", "attributes", call.args.attributes
    if isinstance(call.args, Mknod3Args):
        return "what", "pipe_attributes", call.args.what.pipe_attributes
    return "how", "obj_attributes", call.args.how.obj_attributes


@mutant((CREATE, MKDIR, MKNOD), breaks=RFC1813_CREATE)
def creations3_swap_initial_times(call: AnyCall) -> t.Any:
    """New objects have the requested atime as mtime, and the other way round"""
    path, name, given = _initial(call)
    if given is None:
        return call.proceed()
    return call.proceed_with(path, **{name: replace(given, atime=given.mtime, mtime=given.atime)})


@mutant((CREATE, MKDIR, MKNOD), breaks=RFC1813_CREATE)
def creations3_server_times_are_of_the_client(call: AnyCall) -> t.Any:
    """New objects have one requested time of the client for both, though one was to be the server's"""
    path, name, given = _initial(call)
    if given is None:
        return call.proceed()
    for which, other in (("atime", "mtime"), ("mtime", "atime")):
        if getattr(given, which) == SERVER_TIME:
            return call.proceed_with(path, **{name: replace(given, **{which: getattr(given, other)})})
    return call.proceed()


# ---------------------------------------------------------------- attributes of another object


@mutant((FSSTAT, FSINFO, PATHCONF))
def info3_attributes_of_the_root(call: AnyCall) -> t.Any:
    """FSSTAT, FSINFO and PATHCONF return the attributes of the export's root for every object"""
    return amend(call.proceed(), obj_attributes=fattr3(call.backend.fs.root))

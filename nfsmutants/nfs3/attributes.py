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
    Mkdir3Args,
    Mknod3Args,
    Sattr3,
)
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant
from nfsmutants.rules import RFC1813_CREATE, RFC1813_FILE_SYSTEM
from nfsserver.nfs3.common import fattr3

_OPEN: t.Final = Sattr3(mode=0o777)


@mutant((CREATE, MKDIR, MKNOD), RFC1813_CREATE)
def creations3_ignore_initial_attributes(call: AnyCall) -> t.Any:
    """New objects have mode 777 instead of the requested attributes"""
    if isinstance(call.args, Mkdir3Args):
        return call.proceed_with(attributes=_OPEN)
    if isinstance(call.args, Mknod3Args):
        return call.proceed_with("what", pipe_attributes=_OPEN)
    if call.args.how.obj_attributes is None:
        return call.proceed()
    return call.proceed_with("how", obj_attributes=_OPEN)


# ---------------------------------------------------------------- attributes of another object


@mutant((FSSTAT, FSINFO, PATHCONF), RFC1813_FILE_SYSTEM)
def info3_attributes_of_the_root(call: AnyCall) -> t.Any:
    """FSSTAT, FSINFO and PATHCONF return the attributes of the export's root for every object"""
    return amend(call.proceed(), obj_attributes=fattr3(call.backend.fs.root))

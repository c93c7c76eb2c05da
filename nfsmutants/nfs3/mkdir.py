# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_mkdir.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import CREATE, MKDIR, Mkdir3Res, Mkdir3ResOk, Nfsstat3, WccData
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant, mutant_of_each
from nfsmutants.nfs3.bending import CREATING, find, remove, success, with_handle_of_the_directory
from nfsmutants.nfs3.calls import Mkdir

_ALL_BUT_CREATE: t.Final = tuple(procedure for procedure in CREATING if procedure is not CREATE)


@mutant(MKDIR)
def mkdir3_attributes_of_the_parent(call: Mkdir) -> Mkdir3Res:
    """MKDIR returns the attributes of the directory as those of the new object"""
    return amend(call.proceed(), obj_attributes=lambda it: it.dir_wcc.after)


@mutant(MKDIR)
def mkdir3_returns_the_handle_of_the_parent(call: Mkdir) -> t.Any:
    """MKDIR of the name `handle` returns the handle of the directory"""
    return with_handle_of_the_directory(call)


@mutant_of_each(CREATING)
def creates_in_files(call: AnyCall) -> t.Any:
    """{} answers success if its directory is a file"""
    reply = call.proceed()
    return success(call) if reply.status == Nfsstat3.NFS3ERR_NOTDIR else reply


@mutant_of_each(_ALL_BUT_CREATE)
def replaces_files(call: AnyCall) -> t.Any:
    """{} replaces an existing file with the new object"""
    existing = find(call.server, call.args.where)
    if existing is not None and existing.data is not None:
        remove(call, call.args.where)
    return call.proceed()


# ---------------------------------------------------------------- MKDIR


@mutant(MKDIR)
def mkdir3_creates_a_file_inside(call: Mkdir) -> Mkdir3Res:
    """MKDIR creates a file in the new directory"""
    reply = call.proceed()
    made = find(call.server, call.args.where)
    if reply.resok is not None and made is not None:
        made.fs.create(call.caller, made, b"uninvited")
    return reply


@mutant(MKDIR)
def mkdir3_accepts_an_existing_directory(call: Mkdir) -> Mkdir3Res:
    """MKDIR answers success if a directory has the name"""
    existing = find(call.server, call.args.where)
    if existing is not None and existing.directory is not None:
        return Mkdir3Res(Nfsstat3.NFS3_OK, Mkdir3ResOk(call.backend.handle_of(existing), None, WccData()))
    return call.proceed()

# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_symlink.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    READLINK,
    SYMLINK,
    Nfsstat3,
    Readlink3Res,
    Readlink3ResFail,
    Symlink3Args,
    Symlink3Res,
)
from nfsmutants.bending import restate
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.calls import Symlink
from nfsmutants.rules import RFC1813_ERRORS, RFC1813_READLINK, RFC1813_SYMLINK


@mutant(SYMLINK, RFC1813_READLINK)
def symlink3_adds_a_byte(call: Symlink) -> Symlink3Res:
    """SYMLINK appends a slash to the data, or replaces the last byte of the longest data with one"""
    data = call.args.symlink.symlink_data[: call.backend.fs.limits.path_max - 1] + b"/"
    return call.proceed_with("symlink", symlink_data=data)


@mutant((SYMLINK, READLINK), RFC1813_SYMLINK)
def symlink3_stores_the_data_later(call: AnyCall) -> t.Any:
    """SYMLINK creates the link before its data: the first READLINK after it fails"""
    state = call.state
    if isinstance(call.args, Symlink3Args):
        state["between"] = True
    elif state.pop("between", False):
        return Readlink3Res(Nfsstat3.NFS3ERR_IO, resfail=Readlink3ResFail(None))
    return call.proceed()


@mutant(SYMLINK, RFC1813_ERRORS)
def symlink3_too_long_is_io(call: Symlink) -> Symlink3Res:
    """SYMLINK with data that is too long is refused with IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NAMETOOLONG, Nfsstat3.NFS3ERR_IO)


@mutant(SYMLINK, RFC1813_ERRORS)
def symlink3_unsupported_is_io(call: Symlink) -> Symlink3Res:
    """SYMLINK is refused with IO if the server does not support it"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NOTSUPP, Nfsstat3.NFS3ERR_IO)

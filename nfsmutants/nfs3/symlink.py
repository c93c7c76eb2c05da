# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_symlink.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import SYMLINK, Nfsstat3, Symlink3Res
from nfsmutants.bending import restate
from nfsmutants.form import mutant, mutant_in_steps
from nfsmutants.nfs3.bending import find
from nfsmutants.nfs3.calls import Symlink
from nfsmutants.windows import Steps


@mutant(SYMLINK)
def symlink3_adds_a_byte(call: Symlink) -> Symlink3Res:
    """SYMLINK appends a slash to the data, or replaces the last byte of the longest data with one"""
    data = call.args.symlink.symlink_data[: call.backend.fs.limits.path_max - 1] + b"/"
    return call.proceed_with("symlink", symlink_data=data)


@mutant_in_steps(SYMLINK)
def symlink3_stores_the_data_later(call: Symlink) -> Steps[Symlink3Res]:
    """SYMLINK creates the link before its data"""
    reply = call.proceed()
    made = find(call.server, call.args.where)
    if reply.resok is not None and made is not None:
        data, made.target = made.target, b""
        yield
        made.target = data
    return reply


@mutant(SYMLINK)
def symlink3_too_long_is_io(call: Symlink) -> Symlink3Res:
    """SYMLINK with data that is too long is refused with IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NAMETOOLONG, Nfsstat3.NFS3ERR_IO)


@mutant(SYMLINK)
def symlink3_unsupported_is_io(call: Symlink) -> Symlink3Res:
    """SYMLINK is refused with IO if the server does not support it"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NOTSUPP, Nfsstat3.NFS3ERR_IO)

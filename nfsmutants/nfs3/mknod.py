# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_mknod.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import MKNOD, Ftype3, Mknod3Res, Mknoddata3, Sattr3
from nfsclient.xdr import replace
from nfsmutants.bending import change
from nfsmutants.form import mutant
from nfsmutants.nfs3.calls import Mknod

# ---------------------------------------------------------------- MKNOD


@mutant(MKNOD)
def mknod3_makes_fifos_instead_of_sockets(call: Mknod) -> Mknod3Res:
    """MKNOD creates a FIFO instead of a socket"""
    args = call.args
    if args.what.type == Ftype3.NF3SOCK:
        args = change(args, "what", type=Ftype3.NF3FIFO)
    return call.proceed(args)


@mutant(MKNOD)
def mknod3_swaps_device_numbers(call: Mknod) -> Mknod3Res:
    """MKNOD swaps the major and the minor number"""
    device = call.args.what.device
    if device is None:
        return call.proceed()
    swapped = replace(device.spec, specdata1=device.spec.specdata2, specdata2=device.spec.specdata1)
    return call.proceed_with("what", device=replace(device, spec=swapped))


@mutant(MKNOD)
def mknod3_accepts_regular_files(call: Mknod) -> Mknod3Res:
    """MKNOD creates a FIFO instead of refusing the type of a regular file"""
    args = call.args
    if args.what.type == Ftype3.NF3REG:
        args = replace(args, what=Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=Sattr3(mode=0o644)))
    return call.proceed(args)


_MADE: t.Final = frozenset({Ftype3.NF3BLK, Ftype3.NF3CHR, Ftype3.NF3SOCK, Ftype3.NF3FIFO, Ftype3.NF3REG})


@mutant(MKNOD)
def mknod3_accepts_invalid_types(call: Mknod) -> Mknod3Res:
    """MKNOD creates a FIFO instead of refusing a type, except for regular files"""
    if call.args.what.type in _MADE:
        return call.proceed()
    from_nothing = Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=Sattr3(mode=0o644))
    return call.proceed_with(what=from_nothing)

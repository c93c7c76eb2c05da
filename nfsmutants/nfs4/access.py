# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_access.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4

Access = Call[p.Access4Args, p.Access4Res]
_ALL = 0x3F


@mutant(p.ACCESS)
def access4_supports_everything(call: Access) -> p.Access4Res:
    """ACCESS says that all rights are supported, whichever the request names"""
    return amend4(call.proceed(), supported=_ALL)


@mutant(p.ACCESS)
def access4_grants_everything(call: Access) -> p.Access4Res:
    """ACCESS grants all rights, whichever the request names"""
    return amend4(call.proceed(), access=_ALL)


@mutant(p.ACCESS)
def access4_supports_undefined_bits(call: Access) -> p.Access4Res:
    """ACCESS says that it can tell what undefined bits mean, and grants them"""
    undefined = call.args.access & ~_ALL
    return amend4(
        call.proceed(),
        supported=lambda it: it.supported | undefined,
        access=lambda it: it.access | undefined,
    )


@mutant(p.ACCESS)
def access4_never_grants_extend(call: Access) -> p.Access4Res:
    """ACCESS supports EXTEND, and never grants it"""
    return amend4(call.proceed(), access=lambda it: it.access & ~p.ACCESS4_EXTEND)

# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/mount/test_credentials.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import MNT3, UMNT3, UMNTALL3
from nfsclient.rpc.auth import AuthNone, AuthSys
from nfsmutants.form import AnyCall, mutant
from nfsmutants.rules import RFC1813_MNT

# ---------------------------------------------------------------- access


@mutant((MNT3, UMNT3, UMNTALL3), breaks=RFC1813_MNT)
def mount3_accepts_auth_none(call: AnyCall) -> t.Any:
    """MNT, UMNT and UMNTALL of version 3 accept AUTH_NONE"""
    if isinstance(call.context.credential, AuthNone):
        call.context.credential = AuthSys(65534, 65534)
    return call.proceed()

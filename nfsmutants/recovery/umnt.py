# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_umnt.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import DUMP1, DUMP3, UMNT1, UMNT3
from nfsclient.xdr import Void
from nfsmutants.form import AnyCall, mutant


@mutant((UMNT1, UMNT3, DUMP1, DUMP3))
def umnt_keeps_mounts_of_before_a_restart(call: AnyCall) -> t.Any:
    """After a restart, UMNT removes nothing"""
    first = call.state.setdefault("first", call.backend.boots)
    if call.operation in {UMNT1, UMNT3} and first != call.backend.boots:
        return Void()
    return call.proceed()

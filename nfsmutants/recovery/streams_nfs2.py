# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_streams_nfs2.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2
from nfsmutants.form import AnyCall, mutant
from nfsmutants.recovery.bending import LOOKS, lose_data_of_second


@mutant((nfs2.WRITE, *LOOKS))
def write2_crash_loses_data_of_one_connection(call: AnyCall) -> t.Any:
    """While two connections write by NFSv2, a crash loses what the second one has written"""
    return lose_data_of_second(call)

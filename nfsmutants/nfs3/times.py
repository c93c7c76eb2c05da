# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_times.py catch."""

from __future__ import annotations

import typing as t

from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import DIRECTORY_CHANGES, directory_of, name_fields
from nfsmutants.rules import RFC1813_DATA_TYPES

# ---------------------------------------------------------------- directories


@mutant(DIRECTORY_CHANGES, RFC1813_DATA_TYPES)
def names3_keep_mtime_of_directories(call: AnyCall) -> t.Any:
    """Calls that change the entries of a directory do not update its mtime"""
    directories = [
        directory_of(call.server, getattr(call.args, field).dir) for field in name_fields(call.operation)
    ]
    known = [(directory, directory.mtime) for directory in directories if directory is not None]
    reply = call.proceed()
    for directory, mtime in known:
        directory.mtime = mtime
    return reply

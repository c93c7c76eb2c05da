# SPDX-License-Identifier: MIT
"""Calls to programs that the port mapper does not know, for CALLIT, BCAST and INDIRECT."""

from __future__ import annotations

from fixtures.checks.rpcbind import UNUSED_PROGRAM

UNKNOWN_CALLS = {"program": (UNUSED_PROGRAM, 1, 0), "version": (0, 99, 0), "procedure": (0, 0, 99)}
"""Unknown part -> program, version and procedure to call.

0 stands for MOUNT's value: for security, few port mappers pass on calls of NFS.
"""


def unknown_call(what: str, mount_program: tuple[int, int]) -> tuple[int, int, int]:
    prog, vers, proc = UNKNOWN_CALLS[what]
    return prog or mount_program[0], vers or mount_program[1], proc

# SPDX-License-Identifier: MIT
"""What a compound is for: one word for a call of NFSv4, as the statistics of kernels have it."""

from __future__ import annotations

import functools
import typing as t
from collections.abc import Sequence

from nfsclient.protocol.nfs4.operations import operation_of
from nfsclient.xdr import XdrType

_AROUND: t.Final = frozenset({"SEQUENCE", "PUTFH", "PUTROOTFH", "SAVEFH", "RESTOREFH", "GETFH"})
_ALONG: t.Final = frozenset({"GETATTR", "ACCESS"})


@functools.lru_cache(maxsize=1024)
def _purpose(names: tuple[str, ...]) -> str:
    inner = [name for name in names if name not in _AROUND]
    return next((name for name in inner if name not in _ALONG), inner[0] if inner else "SEQUENCE")


def purpose_of(operations: Sequence[XdrType]) -> str:
    """What a compound is for: its first operation that is not about handles or comes along, such as OPEN.

    The statistics of a kernel's mount count so, and the papers with them.
    """
    return _purpose(tuple(operation_of(each).name for each in operations))

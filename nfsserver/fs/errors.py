# SPDX-License-Identifier: MIT
"""The one error of the file system: an errno, which every protocol face maps to its own status."""

from __future__ import annotations

import errno
import os


class FsError(Exception):
    """An operation was refused. `errno` is a value of the `errno` module.

    Two values have a special meaning here: ESTALE says that a handle names no live object,
    EBADF that it fails its own consistency check.
    """

    def __init__(self, number: int, detail: str = "") -> None:
        super().__init__(f"{errno.errorcode.get(number, number)}: {detail or os.strerror(number)}")
        self.errno = number

# SPDX-License-Identifier: MIT
"""Attributes that a caller asks to set."""

from __future__ import annotations

import enum
import typing as t
from collections.abc import Mapping
from dataclasses import dataclass


class ServerTime(enum.Enum):
    """Asks for the time of the change itself."""

    NOW = enum.auto()


NOW: t.Final = ServerTime.NOW

Time: t.TypeAlias = int | ServerTime
"""Nanoseconds since 1970, or `NOW`."""


@dataclass(frozen=True, slots=True)
class Changes:
    """None leaves an attribute as it is."""

    mode: int | None = None
    uid: int | None = None
    gid: int | None = None
    size: int | None = None
    atime: Time | None = None
    mtime: Time | None = None
    born: int | None = None
    """When the object was made (attribute `time_create` of NFSv4), in nanoseconds since 1970."""
    marks: Mapping[str, object] | None = None
    """Attributes by name that mean nothing to the file system, which keeps them."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is set."""
        return self == NOTHING

    @property
    def are_the_owners(self) -> bool:
        """Whether anything is set that only owner and superuser may set."""
        owned = (self.mode, self.uid, self.gid)
        return (
            any(value is not None for value in owned)
            or self.born is not None
            or self.marks is not None
            or isinstance(self.atime, int)
            or isinstance(self.mtime, int)
        )

    @property
    def touch(self) -> bool:
        """Whether a time is to be set to the server's time."""
        return NOW in (self.atime, self.mtime)


NOTHING: t.Final = Changes()

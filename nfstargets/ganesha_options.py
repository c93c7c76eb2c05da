# SPDX-License-Identifier: MIT
"""What may follow `ganesha:` in the name of the target: words between commas."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from nfsclient.similar import similar_text
from nfstargets.base import TargetError
from nfstargets.ganesha_config import EXPORT_KINDS, LEASE

VERSIONS = {"3": (3,), "4": (4,), "3+4": (3, 4)}
_LONGEST = 180
"""Seconds: NFS-Ganesha accepts no longer lease, and no longer grace period."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GaneshaOptions:
    """One server: its export, and its service."""

    kind: str = ""
    """Its back end; "": the first that can work."""
    protocols: tuple[int, ...] = (3, 4)
    """Versions of NFS; without 3 there is no MOUNT either."""
    lease: int = LEASE
    """Seconds, of NFSv4."""
    grace: int = 0
    """Seconds in which clients only reclaim, after a start that finds some of before. 0: it never waits."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """ "vfs,grace=10": in any order. Raises TargetError."""
        found = cls()
        for word in filter(None, text.split(",")):
            name, equals, value = word.partition("=")
            if not equals and word in EXPORT_KINDS:
                found = replace(found, kind=word)
            elif name == "vers" and value in VERSIONS:
                found = replace(found, protocols=VERSIONS[value])
            elif name == "grace" and equals:
                found = replace(found, grace=_seconds(name, value, least=0))
            elif name == "lease" and equals:
                found = replace(found, lease=_seconds(name, value, least=1))
            else:
                raise TargetError(_unknown(word))
        return found

    def words(self) -> str:
        """The options by their full name: the back end, then what differs from the default."""
        usual = type(self)()
        words = [self.kind]
        words += [
            f"{name}={getattr(self, name)}"
            for name in ("grace", "lease")
            if getattr(self, name) != getattr(usual, name)
        ]
        if self.protocols != usual.protocols:
            words.append("vers=" + "+".join(map(str, self.protocols)))
        return ",".join(words)


def _seconds(name: str, value: str, *, least: int) -> int:
    if not (value.isascii() and value.isdecimal() and least <= int(value) <= _LONGEST):
        raise TargetError(f"ganesha:{name}={value}: expected a number from {least} to {_LONGEST}")
    return int(value)


def _unknown(word: str) -> str:
    words = (*EXPORT_KINDS, "grace=", "lease=", *(f"vers={text}" for text in VERSIONS))
    near = similar_text(word.partition("=")[0] + ("=" if "=" in word else ""), words)
    expected = ", ".join([*EXPORT_KINDS, "grace=SECONDS", "lease=SECONDS", "vers=4"])
    return f"unknown option {word!r} of ganesha{near}; expected {expected}"

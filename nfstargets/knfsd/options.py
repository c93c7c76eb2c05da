# SPDX-License-Identifier: MIT
"""What may follow `knfsd:` in the name of the target: words between commas."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from nfsclient.similar import similar_text
from nfstargets.base import TargetError

FILE_SYSTEMS = ("ext4", "xfs", "tmpfs")
_NUMBERS = {
    "threads": (1, 64),
    # The kernel refuses less.
    "grace": (10, 3600),
    "lease": (10, 3600),
    "mem": (128, 4096),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnfsdOptions:
    """One server: its export, its service, its machine."""

    fs: str = "ext4"
    """File system of the export."""
    is_async: bool = False
    """Whether it answers before data and names are on the disk: the option `async` of exports(5)."""
    threads: int = 8
    grace: int = 10
    """Seconds in which NLM and NFSv4 only let clients reclaim, after a start. NFSv3 has no such time."""
    lease: int = 10
    """Seconds, of NFSv4."""
    mem: int = 256
    """MiB."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """ "tmpfs,async,threads=4": in any order. Raises TargetError."""
        found = cls()
        for word in filter(None, text.split(",")):
            name, equals, value = word.partition("=")
            if not equals and word in FILE_SYSTEMS:
                found = replace(found, fs=word)
            elif not equals and word in ("sync", "async"):
                found = replace(found, is_async=word == "async")
            elif equals and name in _NUMBERS:
                found = found._with_number(name, _number(name, value))
            else:
                words = (*FILE_SYSTEMS, "sync", "async", *(f"{one}=" for one in _NUMBERS))
                near = similar_text(f"{name}{equals}", words)
                expected = ", ".join([*words[:5], *(f"{one}=NUMBER" for one in _NUMBERS)])
                raise TargetError(f"unknown option {word!r} of knfsd{near}; expected {expected}")
        return found

    def _with_number(self, name: str, value: int) -> Self:
        numbers: dict[str, Any] = {name: value}
        return replace(self, **numbers)

    def name(self) -> str:
        """The target by its full name: the file system, then what differs from the default."""
        usual = type(self)()
        words = [self.fs, *(["async"] if self.is_async else [])]
        words += [
            f"{one}={getattr(self, one)}" for one in _NUMBERS if getattr(self, one) != getattr(usual, one)
        ]
        return "knfsd:" + ",".join(words)


def _number(name: str, value: str) -> int:
    least, most = _NUMBERS[name]
    if not (value.isascii() and value.isdecimal() and least <= int(value) <= most):
        raise TargetError(f"knfsd:{name}={value}: expected a number from {least} to {most}")
    return int(value)

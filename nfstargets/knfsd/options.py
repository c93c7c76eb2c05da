# SPDX-License-Identifier: MIT
"""What may follow `knfsd:` in the name of the target: words between commas."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from nfsclient.similar import similar_text
from nfstargets.base import TargetError

FILE_SYSTEMS = ("ext4", "xfs", "tmpfs")
MACHINES = ("v2", "qemu")
VERSIONS = ("2", "3", "4.0", "4.1", "4.2")
TESTED = {"2", "3", "4.1", "4.2"}
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

    machine: str = ""
    """What it is and which kernel it boots: "" for User-Mode Linux with Debian's kernel, "v2" with one that serves
    NFSv2 too, "qemu" for QEMU."""
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
    versions: tuple[str, ...] = ()
    """Of NFS; empty: all that the kernel has."""

    @property
    def version(self) -> int:
        """The version that a run is about: 3, unless it is not served. 4: the server has no MOUNT to ask."""
        if not self.versions or "3" in self.versions:
            return 3
        return 2 if "2" in self.versions else 4

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
            elif not equals and word in MACHINES:
                if found.machine not in ("", word):
                    raise TargetError(f"knfsd:{text}: expected one of {' and '.join(MACHINES)}")
                found = replace(found, machine=word)
            elif equals and name == "vers":
                found = replace(found, versions=_versions(value))
            elif equals and name in _NUMBERS:
                found = found._with_number(name, _number(name, value))
            else:
                raise TargetError(_unknown(word))
        if "2" in found.versions and found.machine != "v2":
            raise TargetError(f"knfsd:{text}: only the kernel of knfsd:v2 serves NFSv2")
        return found

    def _with_number(self, name: str, value: int) -> Self:
        numbers: dict[str, Any] = {name: value}
        return replace(self, **numbers)

    def name(self) -> str:
        """The target by its full name: the file system, then what differs from the default."""
        usual = type(self)()
        words = [*filter(None, [self.machine]), self.fs, *(["async"] if self.is_async else [])]
        words += [
            f"{name}={getattr(self, name)}"
            for name in _NUMBERS
            if getattr(self, name) != getattr(usual, name)
        ]
        words += [f"vers={'+'.join(self.versions)}"] if self.versions else []
        return "knfsd:" + ",".join(words)


def _unknown(word: str) -> str:
    numbers = [f"{name}=" for name in _NUMBERS]
    words = (*FILE_SYSTEMS, *MACHINES, "sync", "async")
    near = similar_text(word.partition("=")[0] + ("=" if "=" in word else ""), (*words, *numbers, "vers="))
    expected = ", ".join([*words, *(f"{name}NUMBER" for name in numbers), "vers=3+4.1"])
    return f"unknown option {word!r} of knfsd{near}; expected {expected}"


def _versions(text: str) -> tuple[str, ...]:
    """ "3+4" in the words of the kernel, which calls all minor versions of 4 together 4."""
    named = [version for word in text.split("+") for version in (VERSIONS[2:] if word == "4" else (word,))]
    if unknown := [version for version in named if version not in VERSIONS]:
        raise TargetError(f"knfsd:vers={text}: expected versions such as 3+4.1, got {unknown[0]!r}")
    if not TESTED.intersection(named):
        raise TargetError(
            f"knfsd:vers={text}: expected 2, 3, 4.1 or 4.2 among the versions: nfsproof tests these"
        )
    return tuple(version for version in VERSIONS if version in named)


def _number(name: str, value: str) -> int:
    least, most = _NUMBERS[name]
    if not (value.isascii() and value.isdecimal() and least <= int(value) <= most):
        raise TargetError(f"knfsd:{name}={value}: expected a number from {least} to {most}")
    return int(value)

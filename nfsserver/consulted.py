# SPDX-License-Identifier: MIT
"""Which knobs decide something while the server answers, and so which settings a check can notice.

Until a knob decides something, its value makes no difference. So run a check on a server with default knobs: if no knob
decides anything that another value would decide differently, the check sees the same on a server with that value.
`Consulted` collects the decisions, and `may_differ` compares them with a setting.
"""

from __future__ import annotations

import dataclasses
import typing as t
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from nfsserver.freedom import Freedom, Mark
from nfsserver.fs import Limits
from nfsserver.knobs import KNOBS, Knob
from nfsserver.settings import Settings

_MOST_NAMES = 200
"""If more names are compared, they are not kept: any glob may match one of them."""
_FIELDS = frozenset(field.name for field in dataclasses.fields(Limits))
Plain: t.TypeAlias = dict[str, t.Any]


@dataclass(slots=True)
class Consulted:
    """What was decided since the last `clear`."""

    has_files: bool = False
    """Whether any operation on files was called."""
    has_compounds: bool = False
    """Whether any operation of NFSv4 was performed."""
    has_opens: bool = False
    """Whether any procedure of Spritely NFS was called."""
    is_turned: bool = False
    """Whether a knob was set meanwhile."""
    reads: set[str] = field(default_factory=set)
    """Fields of `Limits` whose value was used."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Fields of `Limits` with which sizes were compared -> the largest of these."""
    names: dict[str, set[bytes] | None] = field(default_factory=dict)
    """Globs in `Limits`, and freedoms -> names that were compared with them; None: too many to keep."""
    answered: dict[str, int] = field(default_factory=dict)
    """Freedoms that would have had a reply to change -> the largest size."""

    def clear(self) -> None:
        self.__init__()  # type: ignore[misc]

    def turned(self, limits: Limits) -> Limits:
        """A knob was set: the limits from now on, which note here what they decide."""
        self.is_turned = True
        return NotedLimits.of(limits, self)

    def note_size(self, name: str, size: int) -> None:
        """A size was compared with a limit."""
        self.sizes[name] = max(size, self.sizes.get(name, 0))

    def note_name(self, key: str, name: bytes) -> None:
        """A name was compared with a glob."""
        known = self.names.setdefault(key, set())
        if known is not None:
            known.add(name)
            if len(known) > _MOST_NAMES:
                self.names[key] = None

    def note_mark(self, freedom: str, mark: Mark) -> None:
        """A call or its reply reached a freedom."""
        if isinstance(mark, bytes):
            self.note_name(freedom, mark)
        else:
            self.answered[freedom] = max(mark, self.answered.get(freedom, 0))

    def to_plain(self) -> Plain:
        """As plain values for JSON."""
        return {
            "has_files": self.has_files,
            "has_compounds": self.has_compounds,
            "has_opens": self.has_opens,
            "is_turned": self.is_turned,
            "reads": sorted(self.reads),
            "sizes": self.sizes,
            "names": {
                key: None if known is None else sorted(name.hex() for name in known)
                for key, known in self.names.items()
            },
            "answered": self.answered,
        }

    @classmethod
    def from_plain(cls, plain: Plain) -> Consulted:
        """The inverse of `to_plain`."""
        names = {
            key: None if known is None else {bytes.fromhex(name) for name in known}
            for key, known in plain["names"].items()
        }
        return cls(**{**plain, "reads": set(plain["reads"]), "names": names})

    # ------------------------------------------------------------ compared with a setting

    def may_differ(self, now: Settings, freedoms: Sequence[Freedom]) -> bool:
        """Whether a server with these settings might have answered differently from one with default knobs."""
        if self.is_turned or any(self._is_changed(freedom, now) for freedom in freedoms):
            return True
        by_freedom = {name for freedom in freedoms for name in freedom.knobs}
        return any(
            knob.is_of_rpc or self._is_seen(knob, getattr(now, name))
            for name, knob in KNOBS.items()
            if getattr(now, name) != knob.default and name not in by_freedom
        )

    def _is_changed(self, freedom: Freedom, now: Settings) -> bool:
        if not freedom.is_used(now):
            return False
        names = self.names.get(freedom.name, set())
        if names is None:
            return True
        marks: list[Mark] = [
            *names,
            *([self.answered[freedom.name]] if freedom.name in self.answered else []),
        ]
        return any(freedom.differs(now, mark) for mark in marks)

    def _is_seen(self, knob: Knob, value: t.Any) -> bool:
        """Whether another value of a knob mattered that no freedom obeys."""
        if knob.of_snfs:
            return self.has_opens
        return self.has_compounds if knob.of_nfs4 else self._is_decided(knob.limit, value)

    def _is_decided(self, limit: str | None, value: t.Any) -> bool:
        """Whether another value of a limit mattered; a knob that is no limit matters wherever files are."""
        if limit is None:
            return self.has_files
        if limit in self.reads:
            return True
        if limit in self.sizes and self.sizes[limit] > min(value, getattr(Limits(), limit)):
            return True
        names = self.names.get(limit, set())
        return names is None or any(fnmatchcase(name, str(value).encode()) for name in names)


class NotedLimits(Limits):
    """Limits that note what they decide."""

    __slots__ = ("consulted",)
    consulted: Consulted

    @classmethod
    def of(cls, limits: Limits, consulted: Consulted) -> NotedLimits:
        """The same limits, which report their decisions to `consulted`."""
        noted = cls(**{name: getattr(limits, name) for name in _FIELDS})
        object.__setattr__(noted, "consulted", consulted)
        return noted

    def __getattribute__(self, name: str) -> t.Any:
        if name in _FIELDS:
            consulted: Consulted = object.__getattribute__(self, "consulted")
            consulted.reads.add(name)
        return object.__getattribute__(self, name)

    def bound(self, name: str, size: int) -> int:
        self.consulted.note_size(name, size)
        return min(size, int(object.__getattribute__(self, name)))

    def matches(self, name: str, file: bytes) -> bool:
        self.consulted.note_name(name, file)
        glob: str = object.__getattribute__(self, name)
        return bool(glob) and fnmatchcase(file, glob.encode())

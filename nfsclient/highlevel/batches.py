# SPDX-License-Identifier: MIT
"""The entries of one page of a directory: their names at once, all else when it is read."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Collection, Sequence

from nfsclient.files import Entry
from nfsclient.files.neutral import AttributesOf
from nfsclient.xdr.outline import Rows, SkimmedPage

EntryOf: t.TypeAlias = Callable[[t.Any], Entry]
"""Makes the neutral form of an entry as the protocol has it."""


class Batch(t.Protocol):
    """The entries of one page."""

    names: list[bytes]

    def entries(self) -> list[Entry]:
        """The entries in their neutral form."""
        ...

    def without(self, known: Collection[bytes]) -> Batch:
        """Those whose names are not known."""
        ...


class DecodedBatch:
    """Entries that were decoded in the ordinary way."""

    def __init__(self, raw: Sequence[t.Any], entry_of: EntryOf) -> None:
        self.names: list[bytes] = [entry.name for entry in raw]
        self._raw = raw
        self._entry_of = entry_of

    def entries(self) -> list[Entry]:
        """The entries in their neutral form."""
        return [self._entry_of(raw) for raw in self._raw]

    def without(self, known: Collection[bytes]) -> Batch:
        """Those whose names are not known."""
        return DecodedBatch([raw for raw in self._raw if raw.name not in known], self._entry_of)


class LateEntry(Entry):
    """An entry that was checked, and is decoded when more than its name is read."""

    __slots__ = ("_source", "_start")

    _source: SkimmedBatch | Entry
    """What decodes it, or what it decoded to."""
    _start: int

    @property
    def _decoded(self) -> Entry:
        source = self._source
        if type(source) is SkimmedBatch:
            source = self._source = source.entry_at(self._start)
        return t.cast("Entry", source)

    @property
    def handle(self) -> bytes | None:  # type: ignore[override]
        return self._decoded.handle

    @property
    def raw(self) -> t.Any:
        return self._decoded.raw

    @property
    def _attributes_of(self) -> AttributesOf:  # type: ignore[override]
        return self._decoded._attributes_of


class SkimmedBatch:
    """Entries of a page that was passed over."""

    def __init__(
        self, page: SkimmedPage[t.Any, t.Any], names: list[bytes], starts: list[int], entry_of: EntryOf
    ) -> None:
        self.names = names
        self._page = page
        self._starts = starts
        self._entry_of = entry_of

    @classmethod
    def of(cls, page: SkimmedPage[t.Any, t.Any], rows: Rows[t.Any], entry_of: EntryOf) -> SkimmedBatch:
        """All entries of a page."""
        return cls(page, rows.names, rows.starts, entry_of)

    def entries(self) -> list[Entry]:
        """The entries in their neutral form."""
        # Without a call of Python for each: there are thousands.
        new = object.__new__
        entries: list[Entry] = []
        add = entries.append
        for name, start in zip(self.names, self._starts, strict=True):
            entry = new(LateEntry)
            entry.name = name
            entry._source = self
            entry._start = start
            add(entry)
        return entries

    def entry_at(self, start: int) -> Entry:
        """The entry that begins there, decoded."""
        return self._entry_of(self._page.element(start))

    def without(self, known: Collection[bytes]) -> Batch:
        """Those whose names are not known."""
        kept = [index for index, name in enumerate(self.names) if name not in known]
        names = [self.names[index] for index in kept]
        return SkimmedBatch(self._page, names, [self._starts[index] for index in kept], self._entry_of)

# SPDX-License-Identifier: MIT
"""Attributes that were checked when they came, and are decoded when one of them is read."""

from __future__ import annotations

import dataclasses
import typing as t
from collections.abc import Callable, Iterable

from nfsclient.files.neutral import Attributes, FileType

_NAMES: t.Final = tuple(field.name for field in dataclasses.fields(Attributes))


class LateAttributes(Attributes):
    """`Attributes` of which only the type is there; the first look at another one decodes all."""

    __slots__ = ("_decode", "_raw")

    _decode: Callable[[t.Any], Attributes]
    _raw: t.Any

    def __init__(self, type: FileType, raw: t.Any, decode: Callable[[t.Any], Attributes]) -> None:
        self.type = type
        self._raw = raw
        self._decode = decode

    if not t.TYPE_CHECKING:

        def __getattr__(self, name: str) -> t.Any:
            # Only slots without a value come here.
            if name not in _NAMES:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            decoded = self._decode(self._raw)
            for each in _NAMES:
                setattr(self, each, getattr(decoded, each))
            return getattr(decoded, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Attributes):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _NAMES)

    @classmethod
    def of_all(
        cls, kinds: Iterable[FileType], raws: Iterable[t.Any], decode: Callable[[t.Any], Attributes]
    ) -> list[LateAttributes]:
        """Those of many objects, made without a call of Python for each."""
        new, made = object.__new__, []
        for kind, raw in zip(kinds, raws, strict=True):
            each = new(cls)
            each.type = kind
            each._raw = raw
            each._decode = decode
            made.append(each)
        return made

    __hash__ = None  # type: ignore[assignment]  # as of Attributes, which can be changed

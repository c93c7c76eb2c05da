# SPDX-License-Identifier: MIT
"""Paths on a server: bytes on the wire, text for people."""

from __future__ import annotations

import os
import typing as t

PathLike: t.TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def as_bytes(path: PathLike) -> bytes:
    """A path as the wire has it: text becomes UTF-8, escaped bytes (surrogates) become themselves again."""
    plain = os.fspath(path)
    return plain.encode("utf-8", "surrogateescape") if isinstance(plain, str) else plain


def as_text(path: bytes) -> str:
    """The inverse of `as_bytes`, for any bytes."""
    return path.decode("utf-8", "surrogateescape")


def shown(path: bytes) -> str:
    """A path for messages: printable on any terminal."""
    return path.decode("utf-8", "backslashreplace")


def names_of(path: bytes) -> list[bytes]:
    """The names that make up a path; doubled slashes and "." are nothing."""
    return [name for name in path.split(b"/") if name not in {b"", b"."}]

# SPDX-License-Identifier: MIT
"""Code of generated codecs that is kept between processes: compiling it is more than half of the cost of a codec.

A program that wants this names a file (`keep_in`) and says when it is full (`save`); the library alone keeps nothing.
The file maps the digest of a source text to its code, so a declaration that has changed finds nothing old. What must
stay true:

- Nothing depends on the file. One that is missing, damaged, or cannot be written costs the time to compile.
- Code is executed, so the file is read only if it belongs to this user and nobody else may write to it.
- Code is of one version of Python: the file belongs to one, by its name and its first bytes.
"""

from __future__ import annotations

import contextlib
import importlib.util
import marshal
import os
import stat
import sys
import types
import typing as t
from pathlib import Path

_MOST: t.Final = 16 << 20
"""Bytes of a file that is read, and of one that is written."""
_MAGIC: t.Final = b"nfsclient codecs 1 " + importlib.util.MAGIC_NUMBER
_DIGEST: t.Final = 32
"""Bytes of a SHA-256."""
NAME: t.Final = f"codecs.{sys.implementation.cache_tag or 'python'}"
"""A name for the file."""


class _Kept:
    """The codes of one file."""

    def __init__(self) -> None:
        self.file: Path | None = None
        self.old: dict[bytes, bytes] = {}
        """From the file."""
        self.used: dict[bytes, bytes] = {}
        """What this process has used, or made."""
        self.is_changed = False


_KEPT = _Kept()


def keep_in(file: Path) -> None:
    """Use the codes in a file from now on. It does not have to exist."""
    if _KEPT.file != file:
        _KEPT.file, _KEPT.old, _KEPT.is_changed = file, _read(file), False


def save() -> None:
    """Write what was compiled since into the file; nothing happens where that is not possible."""
    if _KEPT.file is None or not _KEPT.is_changed:
        return
    _KEPT.is_changed = False
    every = _read(_KEPT.file) | _KEPT.used  # another process may have written meanwhile
    if sum(map(len, every.values())) > _MOST // 2:
        every = _KEPT.used
    body = marshal.dumps(every)
    if len(body) < _MOST - _DIGEST - len(_MAGIC):
        with contextlib.suppress(OSError):
            _write(_KEPT.file, _MAGIC + _digest(body) + body)


def code_of(source: str, name: str) -> types.CodeType:
    """The code of a module with this text, which `name` stands for in tracebacks."""
    if _KEPT.file is None:
        return _compiled(source, name)
    key = _digest(f"{name}\n{source}".encode())
    kept = _KEPT.used.get(key) or _KEPT.old.get(key)
    if kept is not None:
        _KEPT.used[key] = kept
        code: types.CodeType = marshal.loads(kept)  # noqa: S302  (its digest was compared, see `_read`)
        return code
    made = _compiled(source, name)
    _KEPT.used[key] = marshal.dumps(made)
    _KEPT.is_changed = True
    return made


def _digest(data: bytes) -> bytes:
    import hashlib  # a program that keeps nothing does without

    return hashlib.sha256(data).digest()


def _compiled(source: str, name: str) -> types.CodeType:
    return compile(source, name, "exec", dont_inherit=True)


def _read(file: Path) -> dict[bytes, bytes]:
    """What is in a file that is whole, of this Python, and of this user; else nothing."""
    try:
        with open(file, "rb", opener=_at_once) as stream:
            status = os.fstat(stream.fileno())
            is_own = status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            if not is_own or not stat.S_ISREG(status.st_mode):
                return {}
            data = stream.read(_MOST)
    except OSError:
        return {}
    head, body = data[: len(_MAGIC) + _DIGEST], data[len(_MAGIC) + _DIGEST :]
    if head != _MAGIC + _digest(body):
        return {}
    codes = marshal.loads(body)  # noqa: S302  (whole, and made by this user)
    return codes if isinstance(codes, dict) else {}


def _at_once(path: str, flags: int) -> int:
    """Open without waiting for whoever writes, if it is a FIFO."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _write(file: Path, data: bytes) -> None:
    """Replace the file as a whole. Raises OSError."""
    import tempfile  # a program that keeps nothing does without

    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("wb", dir=file.parent, delete=False) as stream:
        stream.write(data)
    try:
        Path(stream.name).replace(file)
    except OSError:
        Path(stream.name).unlink(missing_ok=True)
        raise

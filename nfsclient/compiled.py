# SPDX-License-Identifier: MIT
"""Code of generated functions that is kept between processes: compiling it is more than half of the cost of a codec.

A program that wants this names a file (`keep_in`) and says when it is full (`save`); the library alone keeps nothing.
A program that starts often may keep what the dataclasses of all its modules are made of, too (`keep_dataclasses`).
The file maps source texts to their code, so a declaration that has changed finds nothing old. What must
stay true:

- Nothing depends on the file. One that is missing, damaged, or cannot be written costs the time to compile.
- Code is executed, so the file is read only if it belongs to this user and nobody else may write to it.
- Code is of one version of Python: the file belongs to one, by its name and its first bytes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import marshal
import os
import stat
import sys
import types
import typing as t
import zlib
from pathlib import Path

_MOST: t.Final = 16 << 20
"""Bytes of a file that is read, and of one that is written."""
_MAGIC: t.Final = b"nfsclient codecs 2 " + importlib.util.MAGIC_NUMBER
_CHECKSUM: t.Final = 4
"""Bytes of a CRC-32: it is against damage, not against enemies, and `hashlib` takes long to import."""
_PYTHON: t.Final = sys.implementation.cache_tag or "python"


class _Kept:
    """The codes of one file."""

    def __init__(self) -> None:
        self.file: Path | None = None
        self.old: dict[str, bytes] = {}
        """From the file: a name and a text -> the code."""
        self.used: dict[str, bytes] = {}
        """What this process has used, or made."""
        self.is_changed = False


_KEPT = _Kept()


def name_of(use: str) -> str:
    """A name for the file of programs that use the same: a large file takes long to read."""
    return f"{use}.{_PYTHON}"


def keep_in(file: Path) -> None:
    """Use the codes in a file from now on. It does not have to exist."""
    if _KEPT.file != file:
        _KEPT.file, _KEPT.old, _KEPT.is_changed = file, _read(file), False


def keep_dataclasses() -> None:
    """Keep the methods of dataclasses that are made from now on: compiling them is a tenth of the start of a run.

    `dataclasses` gives the text of each method to the builtin `exec`; a name of the module comes before it.
    """
    vars(dataclasses)["exec"] = _execute


def _execute(source: str, names: dict[str, t.Any], found: dict[str, t.Any]) -> None:
    """What `exec` does with the text of a method; `found` gets the function that makes it."""
    exec(code_of(source, "<string>"), names, found)  # noqa: S102


def save() -> None:
    """Write what was compiled since into the file; nothing happens where that is not possible."""
    if _KEPT.file is None or not _KEPT.is_changed:
        return
    _KEPT.is_changed = False
    every = _read(_KEPT.file) | _KEPT.used  # another process may have written meanwhile
    body = marshal.dumps(every)
    if len(body) > _MOST // 2:
        body = marshal.dumps(_KEPT.used)
    if len(body) < _MOST - _CHECKSUM - len(_MAGIC):
        with contextlib.suppress(OSError):
            _write(_KEPT.file, _MAGIC + _checksum(body) + body)


def code_of(source: str, name: str) -> types.CodeType:
    """The code of a module with this text, which `name` stands for in tracebacks."""
    if _KEPT.file is None:
        return _compiled(source, name)
    key = f"{name}\n{source}"
    kept = _KEPT.used.get(key) or _KEPT.old.get(key)
    if kept is not None:
        _KEPT.used[key] = kept
        code: types.CodeType = marshal.loads(kept)  # noqa: S302  (its checksum was compared, see `_read`)
        return code
    made = _compiled(source, name)
    _KEPT.used[key] = marshal.dumps(made)
    _KEPT.is_changed = True
    return made


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM, "big")


def _compiled(source: str, name: str) -> types.CodeType:
    return compile(source, name, "exec", dont_inherit=True)


def _read(file: Path) -> dict[str, bytes]:
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
    head, body = data[: len(_MAGIC) + _CHECKSUM], data[len(_MAGIC) + _CHECKSUM :]
    if head != _MAGIC + _checksum(body):
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

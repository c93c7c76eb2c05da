# SPDX-License-Identifier: MIT
"""Archives of runs, as they are handed over: a .tar.gz or .zip with a manifest, records and evidence.

An archive comes from a stranger. What is taken out of it are regular files whose names are those of a run's folder,
with limits on number and size; everything else is reported and ignored. Nothing in it is executed.
"""

from __future__ import annotations

import gzip
import io
import itertools
import json
import re
import shutil
import stat
import struct
import tarfile
import typing as t
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FORMAT = "nfsproof-archive"
SCHEMA = 1
"""Grows when a field of the manifest changes its meaning or goes away."""
MANIFEST = "manifest.json"
ENDINGS = (".tar.gz", ".tgz", ".zip")

MOST_FILES = 20_000
MOST_BYTES_OF_FILE = 512 * 2**20
MOST_BYTES = 2 * 2**30
"""Of all files of an archive together."""
_MOST_OF_HEADER = 2**20
"""Bytes of a single read of tar's own headers; the names of a run are short."""
_MOST_PROBLEMS = 20
_CHUNK = 2**16

_PART = r"[A-Za-z0-9_][A-Za-z0-9._+=,@-]{0,199}"
_WANTED = re.compile(rf"manifest\.json|records\.jsonl|(?:evidence/(?:{_PART}/){{0,8}}|logs/){_PART}")
_BROKEN = (
    *(EOFError, LookupError, OSError, RuntimeError, ValueError),
    *(struct.error, tarfile.TarError, zipfile.BadZipFile, zlib.error),
)
"""What the modules for archives raise for an invalid archive."""
_MARK = ".nfsproof-unpacked"
"""A file in each folder that was unpacked."""


class BadArchive(ValueError):
    """A file from which no records can be taken; the text names it and says why."""


@dataclass(slots=True)
class Manifest:
    """What an archive says of itself."""

    nfsproof: str = ""
    """The version of the suite that ran."""
    label: str = ""
    anonymous: bool = False
    with_hosts: bool = False
    made: str = ""
    """UTC, ISO 8601."""
    records_schema: int = 1
    files: dict[str, int] = field(default_factory=dict)
    """Name -> bytes."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Name -> why."""
    format: str = FORMAT
    schema: int = SCHEMA


@dataclass(slots=True)
class Unpacked:
    """A folder with what was taken out of an archive."""

    folder: Path
    problems: list[str] = field(default_factory=list)


def is_archive(path: Path) -> bool:
    """Whether a file is to be read as an archive: by its name or by its first bytes. Raises nothing."""
    if path.name.endswith(ENDINGS):
        return True
    try:
        with path.open("rb") as file:
            return file.read(4).startswith((b"\x1f\x8b", b"PK\x03\x04"))
    except OSError:
        return False


def is_from_archive(folder: Path) -> bool:
    """Whether a folder was taken out of an archive, here or by hand."""
    return any((folder / name).exists() for name in (_MARK, MANIFEST))


def stem(path: Path) -> str:
    """The name of an archive without its ending."""
    ending = next((ending for ending in ENDINGS if path.name.endswith(ending)), "")
    return path.name.removesuffix(ending) or "archive"


def unpack(archive: Path, into: Path) -> Unpacked:
    """Take the files of a run out of an archive, into a folder that is made.

    An archive that is torn gives what came before the tear. Raises OSError where nothing can be read or written, and
    `BadArchive` when there are no records in it.
    """
    into.mkdir(parents=True, exist_ok=True)
    (into / _MARK).touch()
    found = Unpacked(into)
    taker = _Taker(into, found.problems)
    with archive.open("rb") as file:
        is_zip = file.read(2) == b"PK"
        file.seek(0)
        try:
            for name, size, stream in _zipped(file, taker) if is_zip else _tarred(file, taker):
                taker.take(name, size, stream)
        except _Full as full:
            found.problems.append(str(full))
        except _BROKEN as error:
            if isinstance(error, OSError) and error.filename is not None:
                raise  # of the folder, not of the archive
            found.problems.append(f"broken: {str(error) or type(error).__name__}")
    _hold_manifest(into, found.problems)
    if len(found.problems) > _MOST_PROBLEMS:
        more = len(found.problems) - _MOST_PROBLEMS
        found.problems[_MOST_PROBLEMS:] = [f"{more} more such lines"]
    found.problems = [f"{archive}: {text}" for text in found.problems]
    if not (into / "records.jsonl").exists():
        why = f"; {found.problems[0]}" if found.problems else ""
        raise BadArchive(f"{archive}: not the archive of a run: it has no records.jsonl{why}")
    return found


def _hold_manifest(folder: Path, problems: list[str]) -> None:
    """Tell when the manifest is missing, of something else, or of a later version; the records are read anyway."""
    try:
        with (folder / MANIFEST).open("rb") as file:
            plain = json.loads(file.read(_MOST_OF_HEADER * 8))
    except (OSError, ValueError, RecursionError):
        problems.append("it has no readable manifest.json; another program may have made it")
        return
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        problems.append("its manifest.json belongs to something else")
    elif not isinstance(plain.get("schema"), int) or plain["schema"] > SCHEMA:
        problems.append(f"its manifest has schema {plain.get('schema')!r:.20}, which is later than {SCHEMA}")


class _Full(Exception):
    """An archive has more in it than is taken."""


class _Taker:
    """Writes files into a folder, within the bounds."""

    def __init__(self, folder: Path, problems: list[str]) -> None:
        self._folder = folder
        self._problems = problems
        self._names: set[str] = set()
        self._folders: set[str] = set()
        self._room = MOST_BYTES
        self.seen = 0

    def refuse(self, name: str, why: str) -> None:
        """Tell that a member stays inside."""
        if len(self._problems) < 10 * _MOST_PROBLEMS:
            self._problems.append(f"{name[:100]!r} is ignored: {why}")

    def count(self) -> None:
        """One more member. Raises `_Full`."""
        self.seen += 1
        if self.seen > MOST_FILES:
            raise _Full(f"it has more than {MOST_FILES} files; the rest is ignored")

    def wants(self, name: str, kind: str) -> str | None:
        """The name below the folder under which a member is kept, or None."""
        parts = name.split("/")
        below = name if name in {MANIFEST, "records.jsonl"} else "/".join(parts[1:])
        if kind != "file":
            self.refuse(name, f"it is not a file but a {kind}")
        elif not _WANTED.fullmatch(below) or {"", ".", ".."} & set(parts):
            self.refuse(name, "a run has no file with this name")
        elif below.casefold() in self._names:
            self.refuse(name, "it is in the archive twice")
        elif below.casefold() in self._folders or self._names & {*_folders_of(below.casefold())}:
            self.refuse(name, "the archive has both a file and a folder of one name")
        else:
            self._names.add(below.casefold())
            self._folders |= {*_folders_of(below.casefold())}
            return below
        return None

    def take(self, name: str, size: int, stream: t.IO[bytes]) -> None:
        """Copy a member. What it says of its size is not trusted. Raises `_Full`, OSError, and what is in _BROKEN."""
        if size > MOST_BYTES_OF_FILE:
            self.refuse(name, f"it is larger than {MOST_BYTES_OF_FILE} bytes")
            return
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        taken = 0
        # A file that was there is replaced: what was a link there is not followed.
        path.unlink(missing_ok=True)
        with path.open("xb") as out:
            while piece := stream.read(_CHUNK):
                taken += len(piece)
                self._room -= len(piece)
                if taken > MOST_BYTES_OF_FILE or self._room < 0:
                    out.truncate(0)
                    raise _Full(f"it unpacks to more than {MOST_BYTES} bytes; the rest is ignored")
                out.write(piece)


def _folders_of(name: str) -> Iterator[str]:
    """The folders that a file is in: ``a`` and ``a/b`` of ``a/b/c``."""
    return itertools.accumulate(name.split("/")[:-1], "{}/{}".format)


def _tarred(file: t.BinaryIO, taker: _Taker) -> Iterator[tuple[str, int, t.IO[bytes]]]:
    with (
        gzip.GzipFile(fileobj=file) as inner,
        tarfile.open(fileobj=t.cast("t.IO[bytes]", _Bounded(inner)), mode="r:") as archive,
    ):
        for member in archive:
            taker.count()
            kind = "file" if member.isreg() and not member.issparse() else _kind(member)
            if member.isdir():
                continue
            name = taker.wants(member.name, kind)
            stream = archive.extractfile(member) if name is not None else None
            if name is not None and stream is not None:
                yield name, member.size, stream


def _kind(member: tarfile.TarInfo) -> str:
    return "link" if member.issym() or member.islnk() else "device, pipe or file with holes"


class _Bounded(io.RawIOBase):
    """What a compressed file unpacks to, bounded, for tarfile: headers of a bomb must not fill the memory."""

    def __init__(self, inner: gzip.GzipFile) -> None:
        self._inner = inner

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _MOST_OF_HEADER:
            raise tarfile.ReadError(f"a header of {size} bytes")
        data = self._inner.read(size)
        self._hold()
        return data

    def _hold(self) -> None:
        if self._inner.tell() > MOST_BYTES + MOST_FILES * 2048:
            raise _Full(f"it unpacks to more than {MOST_BYTES} bytes; the rest is ignored")

    def seekable(self) -> bool:
        return True

    def seek(self, position: int, whence: int = 0) -> int:
        """Forward: what is passed over is unpacked in pieces, and counts."""
        if whence != 0 or position < self._inner.tell():
            return self._inner.seek(position, whence)
        while (rest := position - self._inner.tell()) > 0:
            if not self._inner.read(min(rest, _CHUNK)):
                break
            self._hold()
        return self._inner.tell()

    def tell(self) -> int:
        return self._inner.tell()


def _zipped(file: t.BinaryIO, taker: _Taker) -> Iterator[tuple[str, int, t.IO[bytes]]]:
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            taker.count()
            if member.is_dir():
                continue
            mode = stat.S_IFMT(member.external_attr >> 16)
            kind = "link" if mode == stat.S_IFLNK else "file" if mode in {0, stat.S_IFREG} else "device"
            name = taker.wants(member.filename, kind)
            if name is None:
                continue
            if member.flag_bits & 1:
                taker.refuse(member.filename, "it is encrypted")
                continue
            with archive.open(member) as stream:
                yield name, member.file_size, stream


def find_archives(folder: Path) -> list[Path]:
    """The archives that lie in a folder, in order of name."""
    return sorted(path for path in folder.iterdir() if path.name.endswith(ENDINGS) and path.is_file())


def replace_folder(folder: Path) -> None:
    """Make room for what is unpacked: a folder that was unpacked earlier goes. Raises OSError for any other."""
    if not folder.exists():
        return
    if not (folder / _MARK).exists() and any(folder.iterdir()):
        raise FileExistsError(17, "the folder exists and was not extracted from an archive", str(folder))
    shutil.rmtree(folder)

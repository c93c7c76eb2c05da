# SPDX-License-Identifier: MIT
"""What a client under test does: it runs where the client is, as one file and with the standard library alone.

    python3 program.py '{"how": "posix", "at": "/run/mnt", "steps": [{"do": "mkdir", "path": "d"}]}'

For each step it prints a line of JSON when the step has ended: ``{"step": 0, "value": null}``, or ``{"step": 0,
"error": "EIO"}``. It goes on after an error. `how` is the client: a mount (`posix`), libnfs, or nfsclient.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import json
import os
import signal
import sys
import typing as t
from pathlib import Path

Plain = dict[str, t.Any]
PIECE: t.Final = 32_768
"""Bytes of one write or read of the program."""


def data_of(seed: str, size: int) -> bytes:
    """The contents of a file: the same here and where they are compared."""
    return hashlib.shake_256(seed.encode()).digest(size)


class File(t.Protocol):
    """An open file; errors are OSError."""

    def pwrite(self, data: bytes, offset: int) -> int:
        """How many bytes were written."""
        ...

    def pread(self, count: int, offset: int) -> bytes:
        """Fewer bytes than asked for, or none, at the end of the file."""
        ...

    def append(self, data: bytes) -> int:
        """At the end of a file that was opened for it; how many bytes were written."""
        ...

    def sync(self) -> None: ...

    def close(self) -> None: ...


class Files(t.Protocol):
    """What a client offers to programs; errors are OSError. Modes: r, w (truncates), x (exclusive), + (both), a."""

    def open(self, path: str, mode: str) -> File: ...

    def mkdir(self, path: str) -> None: ...

    def rmdir(self, path: str) -> None: ...

    def remove(self, path: str) -> None: ...

    def rename(self, path: str, to: str) -> None: ...

    def link(self, path: str, to: str) -> None: ...

    def symlink(self, target: str, path: str) -> None: ...

    def truncate(self, path: str, size: int) -> None: ...

    def chmod(self, path: str, mode: int) -> None: ...

    def names(self, path: str) -> list[str]: ...

    def close(self) -> None:
        """Nothing more comes."""
        ...


# ---------------------------------------------------------------------------------------------------- a mount

_FLAGS: t.Final = {
    "r": os.O_RDONLY,
    "w": os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
    "x": os.O_WRONLY | os.O_CREAT | os.O_EXCL,
    "+": os.O_RDWR,
    "a": os.O_WRONLY | os.O_APPEND,
}


class PosixFile:
    """An open file of a mount."""

    def __init__(self, number: int) -> None:
        self.number = number

    def pwrite(self, data: bytes, offset: int) -> int:
        return os.pwrite(self.number, data, offset)

    def pread(self, count: int, offset: int) -> bytes:
        return os.pread(self.number, count, offset)

    def append(self, data: bytes) -> int:
        return os.write(self.number, data)

    def sync(self) -> None:
        os.fsync(self.number)

    def close(self) -> None:
        os.close(self.number)


class Posix:
    """A directory at which a client has mounted the export."""

    def __init__(self, at: str) -> None:
        self.at = Path(at)

    def open(self, path: str, mode: str) -> PosixFile:
        return PosixFile(os.open(self.at / path, _FLAGS[mode], 0o644))

    def mkdir(self, path: str) -> None:
        (self.at / path).mkdir()

    def rmdir(self, path: str) -> None:
        (self.at / path).rmdir()

    def remove(self, path: str) -> None:
        (self.at / path).unlink()

    def rename(self, path: str, to: str) -> None:
        (self.at / path).rename(self.at / to)

    def link(self, path: str, to: str) -> None:
        (self.at / to).hardlink_to(self.at / path)

    def symlink(self, target: str, path: str) -> None:
        (self.at / path).symlink_to(target)

    def truncate(self, path: str, size: int) -> None:
        os.truncate(self.at / path, size)

    def chmod(self, path: str, mode: int) -> None:
        (self.at / path).chmod(mode)

    def names(self, path: str) -> list[str]:
        return [entry.name for entry in (self.at / path).iterdir()]

    def close(self) -> None:
        pass


# ---------------------------------------------------------------------------------------------------- libnfs

LIBNFS: t.Final = ("libnfs.so.14", "libnfs.so.13")
"""Versions 4 and 5. Those from 6 on have other arguments."""
_BUFFER: t.Final = 1 << 16


class _Entry(ctypes.Structure):
    """The beginning of `struct nfsdirent`; a listing is a list of them."""


_Entry._fields_ = [("next", ctypes.POINTER(_Entry)), ("name", ctypes.c_char_p)]


def find_libnfs() -> ctypes.CDLL:
    """The library of this machine. Raises OSError."""
    for name in LIBNFS:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise OSError(errno.ENOENT, f"none of {', '.join(LIBNFS)} is installed")


class Libnfs:
    """libnfs, by its C functions that wait."""

    def __init__(self, at: str) -> None:
        """`at`: the URL of the export. Raises OSError."""
        self._library = find_libnfs()
        pointer = ctypes.c_void_p
        for name in ("nfs_init_context", "nfs_parse_url_dir", "nfs_readdir"):
            getattr(self._library, name).restype = pointer
        self._library.nfs_get_error.restype = ctypes.c_char_p
        self._library.nfs_readdir.restype = ctypes.POINTER(_Entry)
        self._nfs = pointer(self._library.nfs_init_context())
        url = self._library.nfs_parse_url_dir(self._nfs, at.encode())
        if not url:
            raise OSError(errno.EINVAL, self._said())
        fields = ctypes.cast(url, ctypes.POINTER(ctypes.c_char_p * 2)).contents
        self.call("mount", fields[0], fields[1])

    def _said(self) -> str:
        said: bytes | None = self._library.nfs_get_error(self._nfs)
        return (said or b"no reason given").decode(errors="replace")

    def call(self, name: str, *arguments: t.Any) -> int:
        """A function of the library. Raises OSError."""
        result: int = getattr(self._library, f"nfs_{name}")(self._nfs, *arguments)
        if result < 0:
            raise OSError(-result, self._said())
        return result

    def open(self, path: str, mode: str) -> LibnfsFile:
        file = ctypes.c_void_p()
        self.call("open2", _name(path), _FLAGS[mode], 0o644, ctypes.byref(file))
        return LibnfsFile(self, file)

    def mkdir(self, path: str) -> None:
        self.call("mkdir", _name(path))

    def rmdir(self, path: str) -> None:
        self.call("rmdir", _name(path))

    def remove(self, path: str) -> None:
        self.call("unlink", _name(path))

    def rename(self, path: str, to: str) -> None:
        self.call("rename", _name(path), _name(to))

    def link(self, path: str, to: str) -> None:
        self.call("link", _name(path), _name(to))

    def symlink(self, target: str, path: str) -> None:
        self.call("symlink", target.encode(), _name(path))

    def truncate(self, path: str, size: int) -> None:
        self.call("truncate", _name(path), ctypes.c_uint64(size))

    def chmod(self, path: str, mode: int) -> None:
        self.call("chmod", _name(path), mode)

    def names(self, path: str) -> list[str]:
        folder = ctypes.c_void_p()
        self.call("opendir", _name(path), ctypes.byref(folder))
        found = []
        while entry := self._library.nfs_readdir(self._nfs, folder):
            found.append(entry.contents.name.decode())
        self._library.nfs_closedir(self._nfs, folder)
        return [name for name in found if name not in {".", ".."}]

    def close(self) -> None:
        self._library.nfs_destroy_context(self._nfs)


class LibnfsFile:
    """An open file of libnfs."""

    def __init__(self, nfs: Libnfs, file: ctypes.c_void_p) -> None:
        self._nfs = nfs
        self._file = file

    def pwrite(self, data: bytes, offset: int) -> int:
        count, at = ctypes.c_uint64(len(data)), ctypes.c_uint64(offset)
        return self._nfs.call("pwrite", self._file, at, count, data)

    def pread(self, count: int, offset: int) -> bytes:
        into = ctypes.create_string_buffer(min(count, _BUFFER))
        size, at = ctypes.c_uint64(len(into)), ctypes.c_uint64(offset)
        done = self._nfs.call("pread", self._file, at, size, into)
        return into.raw[:done]

    def append(self, data: bytes) -> int:
        return self._nfs.call("write", self._file, ctypes.c_uint64(len(data)), data)

    def sync(self) -> None:
        self._nfs.call("fsync", self._file)

    def close(self) -> None:
        self._nfs.call("close", self._file)


def _name(path: str) -> bytes:
    return b"/" + path.encode()


# ---------------------------------------------------------------------------------------------------- nfsclient


class OfLibrary:
    """nfsclient's files by path."""

    def __init__(self, at: str) -> None:
        from nfsclient import connect

        self._nfs = connect(at)
        self.mkdir = self._nfs.mkdir
        self.rmdir = self._nfs.rmdir
        self.remove = self._nfs.remove
        self.rename = self._nfs.rename
        self.link = self._nfs.link
        self.symlink = self._nfs.symlink
        self.truncate = self._nfs.truncate
        self.chmod = self._nfs.chmod
        self.names = self._nfs.listdir
        self.close = self._nfs.close

    def open(self, path: str, mode: str) -> FileOfLibrary:
        return FileOfLibrary(self._nfs.open(path, "r+" if mode == "+" else mode))


class FileOfLibrary:
    """An open file of nfsclient."""

    def __init__(self, file: t.Any) -> None:
        self._file = file

    def pwrite(self, data: bytes, offset: int) -> int:
        self._file.seek(offset)
        written: int = self._file.write(data)
        return written

    def pread(self, count: int, offset: int) -> bytes:
        self._file.seek(offset)
        data: bytes = self._file.read(count)
        return data

    def append(self, data: bytes) -> int:
        written: int = self._file.write(data)
        return written

    def sync(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()


CLIENTS: t.Final[dict[str, t.Callable[[str], t.Any]]] = {
    "posix": Posix,
    "libnfs": Libnfs,
    "nfsclient": OfLibrary,
}

# ---------------------------------------------------------------------------------------------------- the steps


def _write(files: Files, step: Plain) -> None:
    """All of a new file, in pieces, and stable at the end."""
    data = data_of(step["seed"], step["size"])
    file = files.open(step["path"], step.get("mode", "w"))
    for offset in range(0, len(data), PIECE):
        _write_all(file, data[offset : offset + PIECE], offset)
    file.sync()
    file.close()


def _write_all(file: File, data: bytes, offset: int) -> None:
    done = 0
    while done < len(data):
        done += _some(file.pwrite(data[done:], offset + done))


def _some(count: int) -> int:
    if count <= 0:
        raise OSError(errno.ENODATA, "nothing was written")
    return count


def _patch(files: Files, step: Plain) -> None:
    """Ranges of a file one after the other: [offset, size, seed]; stable after each `sync_after`, and at the end."""
    file = files.open(step["path"], "+")
    for number, (offset, size, seed) in enumerate(step["ranges"], 1):
        _write_all(file, data_of(seed, size), offset)
        if number % step["sync_after"] == 0:
            file.sync()
    file.sync()
    file.close()


def _append(files: Files, step: Plain) -> None:
    """Lines at the end of a file, each stable before the next."""
    file = files.open(step["path"], "a")
    for line in step["lines"]:
        data = line.encode()
        while data:
            data = data[_some(file.append(data)) :]
        file.sync()
    file.close()


def _read(files: Files, step: Plain) -> str:
    """The digest of a whole file."""
    digest, offset = hashlib.sha256(), 0
    file = files.open(step["path"], "r")
    while data := file.pread(PIECE, offset):
        digest.update(data)
        offset += len(data)
    file.close()
    return f"{offset} bytes, {digest.hexdigest()}"


def _count(files: Files, step: Plain) -> None:
    """Two processes count in one file, under a lock for each turn."""
    path = Path(t.cast("Posix", files).at, step["path"])
    children = [_counting(path, step["turns"]) for _ in range(2)]
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    if any(statuses):
        raise OSError(max(statuses), "in one of the processes")


def _counting(path: Path, turns: int) -> int:
    """A child that counts, and exits with the number of its error; its process ID."""
    child = os.fork()
    if child:
        return child
    status = 0
    try:
        for _ in range(turns):
            with path.open("r+b", buffering=0) as file:
                fcntl.lockf(file, fcntl.LOCK_EX)
                number = int(file.read(100))
                file.seek(0)
                file.write(b"%09d\n" % (number + 1))
                os.fsync(file.fileno())
                fcntl.lockf(file, fcntl.LOCK_UN)
    except OSError as error:
        status = error.errno or errno.EIO
    except ValueError:
        status = errno.ENOMSG
    os._exit(status)


DOES: t.Final[dict[str, t.Callable[[Files, Plain], t.Any]]] = {
    "write": _write,
    "patch": _patch,
    "append": _append,
    "read": _read,
    "count": _count,
    "create": lambda files, step: files.open(step["path"], "x").close(),
    "mkdir": lambda files, step: files.mkdir(step["path"]),
    "rmdir": lambda files, step: files.rmdir(step["path"]),
    "remove": lambda files, step: files.remove(step["path"]),
    "rename": lambda files, step: files.rename(step["path"], step["to"]),
    "link": lambda files, step: files.link(step["path"], step["to"]),
    "symlink": lambda files, step: files.symlink(step["target"], step["path"]),
    "truncate": lambda files, step: files.truncate(step["path"], step["size"]),
    "chmod": lambda files, step: files.chmod(step["path"], step["mode"]),
    "names": lambda files, step: sorted(files.names(step["path"])),
}


def _error_of(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return errno.errorcode.get(number, str(number)) if isinstance(number, int) else type(error).__name__


def _say(line: Plain) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


_PR_SET_PDEATHSIG: t.Final = 1


def _end_with_parent() -> None:
    """On Linux, be killed when the parent ends, however that ends: a client may never come to an end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _client_of(order: Plain) -> t.Any:
    """The client; with `mutant`, the library of nfsproof with a defect."""
    if not order.get("mutant"):
        return CLIENTS[order["how"]](order["at"])
    from nfstargets.clients.mutants import MUTANTS

    return MUTANTS[order["mutant"]].make(order["at"])


def main(order: Plain) -> None:
    """Make the steps."""
    if order["how"] != "posix":
        _end_with_parent()
    try:
        files = _client_of(order)
    except Exception as error:  # noqa: BLE001  whatever a client raises is its answer
        _say({"step": -1, "error": _error_of(error), "why": str(error)[:300]})
        return
    for number, step in enumerate(order["steps"]):
        try:
            value = DOES[step["do"]](files, step)
        except Exception as error:  # noqa: BLE001  as above
            _say({"step": number, "error": _error_of(error), "why": str(error)[:300]})
        else:
            _say({"step": number, "value": value if isinstance(value, str | list) else None})
    with contextlib.suppress(Exception):
        files.close()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

# SPDX-License-Identifier: MIT
"""The limits and properties of the file system and of transfers, which FSINFO, FSSTAT and PATHCONF report."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Every size is in bytes unless it says otherwise."""

    capacity: int = 256 * MIB
    """Memory that file data may take, pre-images of uncommitted pages included."""
    max_files: int = 65_536
    """Objects of any type."""
    max_entries: int = 4 * 65_536
    """Directory entries in all directories together (hard links make more names than files)."""
    max_file_size: int = 2**63 - 1
    name_max: int = 255
    path_max: int = 4096
    """Longest data of a symbolic link."""
    link_max: int = 255
    read_max: int = MIB
    write_max: int = MIB
    directory_max: int = 128 * 1024
    """Largest READDIR or READDIRPLUS result."""
    datagram_max: int = 32 * 1024
    """What a READ, WRITE or directory result may carry over UDP, where 64 KiB bound the whole message."""
    quota: int | None = None
    """The quota of each owner in bytes, counted in whole pages; None: no quota."""
    time_granularity: int = 1
    """Nanoseconds: every time is a multiple of it. Above 1, changes may share a time."""
    hard_links: bool = True
    symlinks: bool = True
    case_insensitive: bool = False
    """Whether names that differ in the case of ASCII letters are the same; their spelling is kept."""
    read_only_names: str = ""
    """Glob of the files that nobody may write or set attributes of, by the name that they were given last."""
    stale_on_remove: bool = True
    """Whether a file is gone with its last name; otherwise handles keep it until the server restarts."""
    stale_on_rename: bool = False
    """Whether an object gets another generation with another name, so that its handles become stale."""
    list_dots: bool = True
    """Whether listings have entries for ``.`` and ``..``."""
    plain_directories: bool = False
    """Whether directories are reported with one link and size 0."""
    holes: bool = True
    """Whether the reported space of a file leaves out its holes, as if the storage had sparse files."""
    directory_times_lag: int = 0
    """Nanoseconds until the reported times of a directory show a change of its entries."""
    ctime_is_mtime: bool = False
    """Whether mtime is reported as ctime, too."""
    empty_write_moves_times: bool = False
    """Whether a WRITE of no data updates times."""
    restricted_names: bool = False
    """Whether names must be UTF-8 without control characters and without any of ``\\ : * ? " < > |``."""

    def bound(self, name: str, size: int) -> int:
        """The size, or the limit of this name if that is smaller."""
        return min(size, int(getattr(self, name)))

    def allows(self, name: str, size: int) -> bool:
        """Whether a size does not exceed the limit of this name."""
        return self.bound(name, size) == size

    def matches(self, name: str, file: bytes) -> bool:
        """Whether the glob of this name matches a file name."""
        glob: str = getattr(self, name)
        return bool(glob) and fnmatchcase(file, glob.encode())


@dataclass(frozen=True, slots=True)
class Statistics:
    """Room in the file system, in bytes and in objects."""

    total_bytes: int
    free_bytes: int
    total_files: int
    free_files: int

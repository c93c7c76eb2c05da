# SPDX-License-Identifier: MIT
"""Where a file system is: fs_locations, fs_locations_info and fs_status (RFC 5661 sections 11.9 to 11.11).

The file systems of this server are here and nowhere else. By the knob `referral` there is one that is absent: of that
only these attributes can be read, and what says where it begins (section 11.3).
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable, Mapping

from nfsclient.protocol import nfs4 as p
from nfsserver.fs import Inode
from nfsserver.handlers import ServerApi

_ELSEWHERE: t.Final = (b"nfs.example.net", [b"data", b"here"])
"""The server of the absent file system, and its path there: a name that is nobody's."""
_CLASSES: t.Final = bytes(10)
"""The classes, ranks and orders of `fls_info`: a class of 0 is that of no other replica."""


def _is_absent(server: ServerApi, inode: Inode) -> bool:
    return server.backend.pseudo.is_absent(inode)


def _locations(server: ServerApi, inode: Inode) -> p.FsLocations4:
    """No other ones than here; of the absent file system the one that it has."""
    path = server.backend.pseudo.path_of(inode.fs)
    host, there = _ELSEWHERE
    return p.FsLocations4(path, [p.FsLocation4([host], there)] if _is_absent(server, inode) else [])


def _info(server: ServerApi, inode: Inode) -> p.FsLocationsInfo4:
    """The same with what each is good for: here, with an empty name; of a referral, the server that has it."""
    path = server.backend.pseudo.path_of(inode.fs)
    flags = 0 if inode.fs.read_only else p.FSLI4GF_WRITABLE
    if _is_absent(server, inode):
        host, there = _ELSEWHERE
    else:
        host, there, flags = b"", path, flags | p.FSLI4GF_CUR_REQ
    entry = p.FsLocationsServer4(0, bytes([flags, 0]) + _CLASSES, host)
    return p.FsLocationsInfo4(0, 0, path, [p.FsLocationsItem4([entry], there)])


def _status(server: ServerApi, inode: Inode) -> p.Fs4Status:
    is_absent = _is_absent(server, inode)
    kind = p.Fs4StatusType.STATUS4_UPDATED if inode.fs.read_only else p.Fs4StatusType.STATUS4_WRITABLE
    if is_absent:
        kind = p.Fs4StatusType.STATUS4_REFERRAL
    return p.Fs4Status(is_absent, kind, b"", b"", 0, p.Nfstime4(0, 0))


READERS: t.Final[Mapping[str, Callable[[ServerApi, Inode], t.Any]]] = {
    "fs_locations": _locations,
    "fs_locations_info": _info,
    "fs_status": _status,
}
"""How such an attribute is read."""
OF_ABSENT: t.Final = frozenset({*READERS, "fsid", "mounted_on_fileid", "rdattr_error"})
"""What an absent file system has."""


def has_location(names: Iterable[str]) -> bool:
    """Whether one of the attributes is about where the file system is: otherwise its absence is an error."""
    return not READERS.keys().isdisjoint(names)

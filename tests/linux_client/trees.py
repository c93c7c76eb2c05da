# SPDX-License-Identifier: MIT
"""Trees, as the guest sees them and as our library does."""

from __future__ import annotations

import hashlib
import json
import stat
from typing import Any

from nfsclient import NfsClient
from nfsclient.files import FileType
from tests.linux_client.conftest import Mounted

_LOOK = """
import hashlib, json, os, stat, sys
found = {}
def note(path, name):
    status = os.lstat(path)
    kind = stat.S_IFMT(status.st_mode)
    entry = [kind, stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid, status.st_mtime_ns]
    if kind == stat.S_IFREG:
        with open(path, "rb") as file:
            entry += [status.st_size, status.st_nlink, hashlib.file_digest(file, "sha256").hexdigest()]
    elif kind == stat.S_IFLNK:
        entry += [os.readlink(path)]
    found[name] = entry
def walk(path, below):
    for name in os.listdir(path):
        note(os.path.join(path, name), below + name)
        if found[below + name][0] == stat.S_IFDIR:
            walk(os.path.join(path, name), below + name + "/")
walk(sys.argv[1], "")
json.dump(found, open("/tmp/found", "w"))
"""

Tree = dict[str, list[Any]]
"""Name -> type, mode, owner, group, mtime; of files size, links and checksum; of links their text."""

_KINDS = {
    FileType.REGULAR: stat.S_IFREG,
    FileType.DIRECTORY: stat.S_IFDIR,
    FileType.LINK: stat.S_IFLNK,
    FileType.FIFO: stat.S_IFIFO,
    FileType.SOCKET: stat.S_IFSOCK,
    FileType.BLOCK: stat.S_IFBLK,
    FileType.CHARACTER: stat.S_IFCHR,
}


def in_guest(client: Mounted, path: str) -> Tree:
    """A tree of the guest, relative to the export."""
    client.python(_LOOK, path)
    found: Tree = json.loads(client.guest.read_file("/tmp/found"))
    return found


def on_server(nfs: NfsClient, path: str) -> Tree:
    """The same tree, read by our library."""
    found: Tree = {}
    for folder, folders, files in nfs.walk(path):
        for name in [*folders, *files]:
            whole = f"{folder}/{name}"
            attributes = nfs.lstat(whole)
            assert attributes.type is not None
            assert attributes.mtime is not None
            entry: list[Any] = [
                _KINDS[attributes.type],
                attributes.mode,
                attributes.uid,
                attributes.gid,
                attributes.mtime.ns,
            ]
            if attributes.type is FileType.REGULAR:
                digest = hashlib.sha256(nfs.read_file(whole)).hexdigest()
                entry += [attributes.size, attributes.nlink, digest]
            elif attributes.type is FileType.LINK:
                entry += [nfs.readlink(whole)]
            found[whole.removeprefix(f"{path}/")] = entry
    return found

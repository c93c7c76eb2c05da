# SPDX-License-Identifier: MIT
"""Trees, as the guest sees them and as our library does."""

from __future__ import annotations

import hashlib
import json
import stat
from typing import Any

from nfsclient import NfsClient
from nfsclient.protocol.nfs3 import Ftype3
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
    Ftype3.NF3REG: stat.S_IFREG,
    Ftype3.NF3DIR: stat.S_IFDIR,
    Ftype3.NF3LNK: stat.S_IFLNK,
    Ftype3.NF3FIFO: stat.S_IFIFO,
    Ftype3.NF3SOCK: stat.S_IFSOCK,
    Ftype3.NF3BLK: stat.S_IFBLK,
    Ftype3.NF3CHR: stat.S_IFCHR,
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
            times = attributes.mtime.seconds * 10**9 + attributes.mtime.nseconds
            entry: list[Any] = [
                _KINDS[attributes.type],
                attributes.mode,
                attributes.uid,
                attributes.gid,
                times,
            ]
            if attributes.type is Ftype3.NF3REG:
                digest = hashlib.sha256(nfs.read_file(whole)).hexdigest()
                entry += [attributes.size, attributes.nlink, digest]
            elif attributes.type is Ftype3.NF3LNK:
                entry += [nfs.readlink(whole)]
            found[whole.removeprefix(f"{path}/")] = entry
    return found

# SPDX-License-Identifier: MIT
"""Owners and groups as text: decimal digits, or a name and a domain (RFC 5661 section 5.9)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs4 import Nfsstat4
from nfsserver.fs import NOBODY
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.common import Nfs4Error

DOMAIN: t.Final = b"localdomain"
_NAMES: t.Final = {b"root": 0, b"nobody": NOBODY, b"nogroup": NOBODY}
_MOST: t.Final = 0xFFFF_FFFF


def spell(server: ServerApi, number: int, kind: t.Literal["user", "group"]) -> bytes:
    """A uid or gid as text."""
    if not server.knobs.now.owner_names:
        return b"%d" % number
    names = {0: b"root", NOBODY: b"nobody" if kind == "user" else b"nogroup"}
    return names.get(number, b"%s%d" % (kind.encode(), number)) + b"@" + DOMAIN


def parse(text: bytes) -> int:
    """The number of an owner or group, in each form that `spell` has. Raises BADOWNER."""
    name, at, domain = bytes(text).partition(b"@")
    if at:
        if domain.lower() != DOMAIN:
            raise Nfs4Error(Nfsstat4.NFS4ERR_BADOWNER)
        if name in _NAMES:
            return _NAMES[name]
        name = name.removeprefix(b"user").removeprefix(b"group")
    is_number = (
        name.isdigit() and (name == b"0" or not name.startswith(b"0")) and len(name) <= len(str(_MOST))
    )
    if not is_number or int(name) > _MOST:
        raise Nfs4Error(Nfsstat4.NFS4ERR_BADOWNER)
    return int(name)

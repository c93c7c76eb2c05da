# SPDX-License-Identifier: MIT
"""Values of fs_locations and fs_locations_info, as checks compare them (RFC 5661 sections 11.9 and 11.10)."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable

from nfsclient.protocol import nfs4 as p

CUR_REQ: t.Final = p.FSLI4GF_CUR_REQ
DEFINED_BYTES: t.Final = p.FSLI4BX_WRITEORDER + 1
"""Of fls_info: no RFC has defined more."""


class Replica(t.NamedTuple):
    """One server with the file system."""

    server: bytes
    info: bytes

    @property
    def flags(self) -> int:
        """The general flags; none if the array is too short to have them."""
        return self.info[p.FSLI4BX_GFLAGS] if len(self.info) > p.FSLI4BX_GFLAGS else 0


def entries_of(found: p.FsLocationsInfo4) -> list[Replica]:
    """All servers in it."""
    return [
        Replica(bytes(entry.fls_server), bytes(entry.fls_info))
        for item in found.fli_items
        for entry in item.fli_entries
    ]


def path_shown(path: Iterable[bytes]) -> bytes:
    """A path as a text."""
    return b"/" + b"/".join(bytes(name) for name in path)

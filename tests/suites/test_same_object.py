# SPDX-License-Identifier: MIT
"""Two filehandles of NFSv4 without `fileid`: a change by one of them must show by the other."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import CompoundReply
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsjudge import Nonconformance
from suites.nfs4.handles import expect_same_object


class Server:
    """Objects by filehandle, without fileid; each SETATTR moves `change`."""

    def __init__(self, objects: dict[bytes, str]) -> None:
        self._objects = objects
        self._change = dict.fromkeys(objects.values(), 1)

    def attributes(self, handle: bytes, *_names: str) -> Fattr4:
        change = self._change[self._objects[handle]]
        return Fattr4(fsid=p.Fsid4(1, 1), unique_handles=False, mode=0o644, change=change)

    def run(self, putfh: p.Putfh4Args, *_setting: object) -> CompoundReply:
        self._change[self._objects[putfh.object]] += 1
        return CompoundReply(p.Compound4Args(b"", 1, []), p.Compound4Res(Nfsstat4.NFS4_OK, b"", []))


def compare(objects: dict[bytes, str]) -> None:
    first, second = objects
    expect_same_object(t.cast("Nfs4Scratch", Server(objects)), first, second, "handle")


def test_one_object_with_two_filehandles() -> None:
    compare({b"first": "file", b"second": "file"})


def test_two_objects() -> None:
    with pytest.raises(Nonconformance, match="change by the handle"):
        compare({b"first": "file", b"second": "other"})

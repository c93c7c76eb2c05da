# SPDX-License-Identifier: MIT
"""The bytes that both codecs decode: attributes of a file, and a READDIRPLUS page of 100 entries."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs3 as p

PAGE_ENTRIES: t.Final = 100


def _attributes(fileid: int) -> p.Fattr3:
    when = [p.Nfstime3(1_700_000_000 + fileid, 123_456_789 - k) for k in range(3)]
    return p.Fattr3(
        p.Ftype3.NF3REG, 0o644, 1, 1000, 1000, 4096 * fileid, 4096, p.Specdata3(0, 0), 2049, fileid, *when
    )


def _entry(number: int) -> p.Entryplus3:
    name = b"file-%05d.dat" % number
    return p.Entryplus3(7000 + number, name, number + 3, _attributes(7000 + number), bytes(range(28)))


FATTR3: t.Final = _attributes(4711).to_xdr()
PAGE: t.Final = p.Readdirplus3Res(
    p.Nfsstat3.NFS3_OK,
    p.Readdirplus3ResOk(
        _attributes(7), b"verifier", [_entry(number) for number in range(PAGE_ENTRIES)], False
    ),
).to_xdr()


def every_field(attributes: p.Fattr3) -> tuple[object, ...]:
    """Reads all there is, so that nothing stays undecoded."""
    a = attributes
    numbers = (a.type, a.mode, a.nlink, a.uid, a.gid, a.size, a.used, a.fsid, a.fileid)
    return (*numbers, a.rdev, a.atime, a.mtime, a.ctime)

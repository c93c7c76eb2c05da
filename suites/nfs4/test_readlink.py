# SPDX-License-Identifier: MIT
"""READLINK (RFC 5661 section 18.24)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, Part, expect, proves, should, stated
from suites.nfs4.minors import MINORS

READS_THE_LINK = stated(
    "RFC 5661",
    "18.24.3",
    "READLINK reads the data associated with a symbolic link",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.25.4")},
)
NEEDS_A_LINK = stated(
    "RFC 5661",
    "18.24.4",
    "READLINK is only allowed on objects of type NF4LNK",
    also={"4.0": ("RFC 7530", "16.25.5")},
)
RETURNS_WRONG_TYPE = should(
    "RFC 5661",
    "18.24.4",
    "READLINK of an object of another type than NF4LNK returns NFS4ERR_WRONG_TYPE",
    part=Part.IMPLEMENTATION,
)


@MINORS
@pytest.mark.parametrize("text", [b"target", b"../up/./a//b", b"x" * 1000], ids=["name", "path", "long"])
@proves(READS_THE_LINK, killed_by="readlink4-cuts-the-text")
def test_text(compounds: Compounds, scratch: Nfs4Scratch, text: bytes) -> None:
    """READLINK returns the text that the link was made with."""
    link = scratch.symlink("link", text)
    result = expect(compounds.compound(op.putfh(link), op.readlink())).of(p.READLINK).ok()
    expect(bytes(result.link), "link", of=result, field="link").equals(text)


@MINORS
@pytest.mark.parametrize("kind", ["file", "directory"])
@proves(
    NEEDS_A_LINK,
    RETURNS_WRONG_TYPE,
    killed_by=("readlink4-of-a-file-is-empty", "readlink4-of-a-file-is-inval"),
)
def test_other_types(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """READLINK of a file or a directory is refused with WRONG_TYPE."""
    handle = scratch.file("file") if kind == "file" else scratch.handle
    reply = compounds.compound(op.putfh(handle), op.readlink())
    expect(reply).refused(Nfsstat4.NFS4ERR_WRONG_TYPE, because=RETURNS_WRONG_TYPE)

# SPDX-License-Identifier: MIT
"""GETATTR (RFC 5661 section 18.7): attributes by bitmap."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import ATTRIBUTES, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import expect, must, observe, proves, skip, stated, unsupported
from suites.nfs4.minors import MINORS
from suites.nfs4.ticks import expect_moves

REQUIRED_ARE_RETURNED = must(
    "RFC 5661",
    "18.7.3",
    "every server supports the REQUIRED attributes, and returns each supported attribute that the request names",
    also={"4.0": ("RFC 7530", "16.7.4")},
)
ONLY_SUPPORTED_ARE_RETURNED = must(
    "RFC 5661",
    "18.7.3",
    "an attribute that the server does not support is left out of the result",
    also={"4.0": ("RFC 7530", "16.7.4")},
)
ONLY_ASKED_ARE_RETURNED = stated(
    "RFC 5661",
    "18.7.3",
    "the result has attributes that the request names, and no others",
    also={"4.0": ("RFC 7530", "16.7.4")},
)
SET_ONLY_IS_INVALID = must("RFC 5661", "5.5", "to get a set-only attribute gets NFS4ERR_INVAL")
TYPE_IS_THE_OBJECTS = stated(
    "RFC 5661",
    "5.8.1.2",
    "attribute type designates the type of the object",
    also={"4.0": ("RFC 7530", "5.8.1.2")},
)
CHANGES_WITH_THE_OBJECT = stated(
    "RFC 5661",
    "5.8.1.4",
    "attribute change has another value after data or attributes of the object changed",
    also={"4.0": ("RFC 7530", "5.8.1.4")},
)
_REQUIRED: t.Final = [
    attribute.name
    for attribute in ATTRIBUTES.values()
    if attribute.about.required and attribute.name != "rdattr_error"
]
"""Table 2. `rdattr_error` has a meaning in READDIR only (section 5.8.1.12)."""


def _required(minor: int) -> list[str]:
    """Those that a minor version has."""
    return [name for name in _REQUIRED if ATTRIBUTES[p.NUMBERS[name]].about.since <= minor]


@MINORS
@pytest.mark.parametrize("name", _REQUIRED)
@proves(REQUIRED_ARE_RETURNED, killed_by="getattr4-lacks-a-required-attribute")
def test_required(compounds: Compounds, scratch: Nfs4Scratch, minor: int, name: str) -> None:
    """GETATTR returns a REQUIRED attribute in a request of its name alone."""
    if name not in _required(minor):
        unsupported(f"NFSv4.{minor} has no {name}")
    reply = expect(compounds.compound(op.putfh(scratch.file("file")), op.getattr(name))).ok()
    expect(reply.attributes).field(name).is_present()


def _made(scratch: Nfs4Scratch, kind: str) -> XdrType:
    """The operation that makes an object of a type the current one."""
    match kind:
        case "pseudo-root":
            return op.putrootfh()
        case "directory":
            return op.putfh(scratch.directory("directory"))
        case "link":
            return op.putfh(scratch.symlink("link", b"target"))
        case _:
            return op.putfh(scratch.fifo("fifo"))


@MINORS
@pytest.mark.parametrize("kind", ["pseudo-root", "directory", "link", "fifo"])
@proves(REQUIRED_ARE_RETURNED, killed_by="getattr4-only-files-have-all")
def test_required_of_others(compounds: Compounds, scratch: Nfs4Scratch, minor: int, kind: str) -> None:
    """GETATTR returns all REQUIRED attributes of the root of the pseudo file system and of other objects than files."""
    reply = expect(compounds.compound(_made(scratch, kind), op.getattr(*_required(minor)))).ok()
    missing = set(_required(minor)) - set(p.names_of(reply.attributes.attrmask))
    expect(sorted(missing), f"REQUIRED attributes that the {kind} lacks").equals([])


@MINORS
@proves(REQUIRED_ARE_RETURNED, killed_by="getattr4-hides-a-required-attribute")
def test_supported(compounds: Compounds, scratch: Nfs4Scratch, minor: int) -> None:
    """supported_attrs has every REQUIRED attribute."""
    reply = expect(compounds.compound(op.putfh(scratch.file("file")), op.getattr("supported_attrs"))).ok()
    supported = set(p.names_of(reply.attributes.supported_attrs or []))
    expect(
        sorted(set(_required(minor)) - supported), "REQUIRED attributes that are not in supported_attrs"
    ).equals([])


def _are_alone(compounds: Compounds, file: bytes, names: list[str]) -> bool:
    """Whether GETATTR of each attribute succeeds if it is the only one: then the server can obtain all values."""
    return all(
        compounds.compound(op.putfh(file), op.getattr(name)).status == Nfsstat4.NFS4_OK for name in names
    )


@MINORS
@proves(
    REQUIRED_ARE_RETURNED,
    killed_by=("getattr4-drops-the-last-attribute", "getattr4-of-many-is-a-fault"),
)
def test_all_supported(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """GETATTR returns every attribute that the server says it supports, all at once."""
    file = scratch.file("file")
    known = scratch.attributes(file, "supported_attrs").supported_attrs or []
    readable = [
        name
        for name in p.names_of(known)
        if name in p.NUMBERS and ATTRIBUTES[p.NUMBERS[name]].about.is_readable and name != "rdattr_error"
    ]
    reply = compounds.compound(op.putfh(file), op.getattr(*readable))
    if reply.failed is p.GETATTR and not _are_alone(compounds, file, readable):
        # What it must answer if it cannot obtain one of the values.
        skip(f"GETATTR of all {len(readable)} supported attributes answers {reply.status.name}")
    expect(reply).ok()
    seen = set(p.names_of(reply.attributes.attrmask))
    expect(sorted(set(readable) - seen), "supported attributes that are missing").equals([])


@MINORS
@proves(ONLY_SUPPORTED_ARE_RETURNED, killed_by="getattr4-unknown-bit-is-an-error")
def test_unknown_bits(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Bits that no attribute has are left out of the result, without an error."""
    asked = [*p.bitmap("type", "size"), 0, 0, 0, 1 << 31]
    reply = expect(compounds.compound(op.putfh(scratch.file("f", b"four")), p.Getattr4Args(asked))).ok()
    expect(p.names_of(reply.attributes.attrmask), "attributes", of=reply.attributes).equals(["type", "size"])


@MINORS
@proves(ONLY_SUPPORTED_ARE_RETURNED, killed_by="getattr4-fails-within-three-words")
def test_unknown_bit_between(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A bit that no attribute has, in the word of the last attributes, is left out of the result, without an error."""
    asked = [*p.bitmap("type", "size", "mode"), 1 << 31]
    reply = expect(compounds.compound(op.putfh(scratch.file("f", b"four")), p.Getattr4Args(asked))).ok()
    expect(set(p.names_of(reply.attributes.attrmask)) - {"mode"}, "attributes", of=reply.attributes).equals(
        {"type", "size"}
    )


@MINORS
@proves(ONLY_ASKED_ARE_RETURNED, killed_by="getattr4-adds-the-type")
def test_only_asked(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """GETATTR returns what the request names and nothing else."""
    reply = expect(compounds.compound(op.putfh(scratch.file("f", b"four")), op.getattr("size"))).ok()
    expect(p.names_of(reply.attributes.attrmask), "attributes", of=reply.attributes).equals(["size"])
    expect(reply.attributes).field("size").equals(4)


@MINORS
@proves(ONLY_ASKED_ARE_RETURNED, killed_by="getattr4-nothing-is-everything")
def test_nothing(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """GETATTR of an empty bitmap returns no attributes."""
    reply = expect(compounds.compound(op.putfh(scratch.handle), p.Getattr4Args([]))).ok()
    expect(p.names_of(reply.attributes.attrmask), "attributes", of=reply.attributes).equals([])


@MINORS
@pytest.mark.parametrize("name", ["time_access_set", "time_modify_set"])
@proves(SET_ONLY_IS_INVALID, killed_by="getattr4-set-only-is-left-out")
def test_set_only(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """GETATTR of a set-only attribute fails with INVAL."""
    reply = compounds.compound(op.putfh(scratch.file("file")), op.getattr(name))
    supported = p.names_of(scratch.attributes(None, "supported_attrs").supported_attrs or [])
    if name not in supported and reply.status == Nfsstat4.NFS4_OK:
        observe("set-only attribute that is not supported", "left out")
        return
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=SET_ONLY_IS_INVALID)


@MINORS
@pytest.mark.parametrize("kind", ["file", "directory"])
@proves(TYPE_IS_THE_OBJECTS, killed_by="getattr4-swaps-types")
def test_type(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """GETATTR returns the type of the object."""
    handle = scratch.file("f") if kind == "file" else scratch.directory("d")
    reply = expect(compounds.compound(op.putfh(handle), op.getattr("type"))).ok()
    expected = p.NfsFtype4.NF4REG if kind == "file" else p.NfsFtype4.NF4DIR
    expect(reply.attributes).field("type").equals(expected)


@MINORS
@proves(CHANGES_WITH_THE_OBJECT, killed_by="getattr4-change-stands")
def test_change(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """change of a file is another one after a WRITE, and of a directory after a new entry."""
    here = scratch.directory("here")
    file = scratch.file("file", directory=here)
    expect_moves(scratch, file, lambda number: scratch.write(file, b"data %d" % number), "WRITE")
    expect_moves(
        scratch, here, lambda number: scratch.file(f"another-{number}", directory=here), "a new entry"
    )

# SPDX-License-Identifier: MIT
"""Operations on the data and attributes of the current filehandle (RFC 5661 section 18)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs4.attributes import AttributeBits4, Fattr4
from nfsclient.protocol.nfs4.types import (
    Count4,
    Linktext4,
    Nfsstat4,
    Offset4,
    StableHow4,
    Stateid4,
    Verifier4,
)
from nfsclient.xdr import Buffer, Bulk, Case, Struct, Union, u32

ACCESS4_READ = 0x001
"""Read data, or list a directory (section 18.1)."""
ACCESS4_LOOKUP = 0x002
ACCESS4_MODIFY = 0x004
"""Rewrite data, or change entries of a directory."""
ACCESS4_EXTEND = 0x008
"""Write new data, or add entries."""
ACCESS4_DELETE = 0x010
"""Delete an entry."""
ACCESS4_EXECUTE = 0x020
ACCESS4_XAREAD = 0x040
"""Read extended attributes (RFC 8276 section 8.5)."""
ACCESS4_XAWRITE = 0x080
ACCESS4_XALIST = 0x100


class Access4Args(Struct):
    """ACCESS4args (section 18.1)."""

    access: u32
    """The ACCESS4_* bits to ask about."""


class Access4ResOk(Struct):
    """ACCESS4resok (section 18.1)."""

    supported: u32
    """Those of the asked bits that the server can tell."""
    access: u32
    """Those that are granted: advice, no promise."""


class Access4Res(Union):
    """ACCESS4res (section 18.1)."""

    status: Nfsstat4
    resok4: t.Annotated[Access4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Commit4Args(Struct):
    """COMMIT4args (section 18.3)."""

    offset: Offset4
    count: Count4
    """0 means to the end of the file."""


class Commit4ResOk(Struct):
    """COMMIT4resok (section 18.3)."""

    writeverf: Verifier4
    """Data written under another verifier may be lost and must be sent again."""


class Commit4Res(Union):
    """COMMIT4res (section 18.3)."""

    status: Nfsstat4
    resok4: t.Annotated[Commit4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Getattr4Args(Struct):
    """GETATTR4args (section 18.7)."""

    attr_request: AttributeBits4


class Getattr4ResOk(Struct):
    """GETATTR4resok: of the asked attributes those that the server supports (section 18.7)."""

    obj_attributes: Fattr4


class Getattr4Res(Union):
    """GETATTR4res (section 18.7)."""

    status: Nfsstat4
    resok4: t.Annotated[Getattr4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Setattr4Args(Struct):
    """SETATTR4args (section 18.30)."""

    stateid: Stateid4
    """Matters where `size` is set."""
    obj_attributes: Fattr4


class Setattr4Res(Struct):
    """SETATTR4res: no union, because part may have been done (section 18.30)."""

    status: Nfsstat4
    attrsset: AttributeBits4


class Read4Args(Struct):
    """READ4args (section 18.22)."""

    stateid: Stateid4
    offset: Offset4
    count: Count4


class Read4ResOk(Struct):
    """READ4resok (section 18.22)."""

    eof: bool
    data: t.Annotated[Buffer, Bulk()]


class Read4Res(Union):
    """READ4res (section 18.22)."""

    status: Nfsstat4
    resok4: t.Annotated[Read4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Write4Args(Struct):
    """WRITE4args (section 18.32)."""

    stateid: Stateid4
    offset: Offset4
    stable: StableHow4
    data: t.Annotated[Buffer, Bulk()]


class Write4ResOk(Struct):
    """WRITE4resok (section 18.32)."""

    count: Count4
    """Bytes written; may be fewer than sent."""
    committed: StableHow4
    writeverf: Verifier4


class Write4Res(Union):
    """WRITE4res (section 18.32)."""

    status: Nfsstat4
    resok4: t.Annotated[Write4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Readlink4Args(Struct):
    """READLINK has no arguments (section 18.24)."""


class Readlink4ResOk(Struct):
    """READLINK4resok (section 18.24)."""

    link: Linktext4


class Readlink4Res(Union):
    """READLINK4res (section 18.24)."""

    status: Nfsstat4
    resok4: t.Annotated[Readlink4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Verify4Args(Struct):
    """VERIFY4args (section 18.31)."""

    obj_attributes: Fattr4


class Verify4Res(Struct):
    """VERIFY4res: NFS4_OK where all attributes are as given, else NOT_SAME (section 18.31)."""

    status: Nfsstat4


class Nverify4Args(Struct):
    """NVERIFY4args (section 18.15)."""

    obj_attributes: Fattr4


class Nverify4Res(Struct):
    """NVERIFY4res: SAME where all attributes are as given (section 18.15)."""

    status: Nfsstat4

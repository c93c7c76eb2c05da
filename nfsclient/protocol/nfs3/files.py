# SPDX-License-Identifier: MIT
"""Arguments and results of the NFSv3 procedures that work on one object (RFC 1813 section 3.3).

GETATTR, SETATTR, ACCESS, READLINK, READ, WRITE, COMMIT. A reply is a union over its status: `resok` is set
when it is NFS3_OK, else `resfail` (GETATTR has none). Attributes may be withheld in any reply but GETATTR's.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3.types import (
    Count3,
    Fattr3,
    NfsFh3,
    Nfspath3,
    Nfsstat3,
    Nfstime3,
    Offset3,
    Sattr3,
    StableHow,
    WccData,
    Writeverf3,
)
from nfsclient.xdr import Buffer, Bulk, Case, Default, Lazy, Struct, Union, u32

ACCESS3_READ = 0x0001
"""Read data from a file, or list a directory (section 3.3.4)."""
ACCESS3_LOOKUP = 0x0002
"""Look a name up in a directory; without meaning for other objects."""
ACCESS3_MODIFY = 0x0004
"""Rewrite existing data of a file, or change existing entries of a directory."""
ACCESS3_EXTEND = 0x0008
"""Write new data or add directory entries."""
ACCESS3_DELETE = 0x0010
"""Delete an existing directory entry."""
ACCESS3_EXECUTE = 0x0020
"""Execute a file; without meaning for directories."""


class Getattr3Args(Struct):
    """GETATTR3args (section 3.3.1)."""

    object: NfsFh3


class Getattr3ResOk(Struct):
    """GETATTR3resok: the attributes, which this procedure owes (section 3.3.1)."""

    obj_attributes: Fattr3


class Getattr3Res(Union):
    """GETATTR3res: the only reply whose failure arm is void (section 3.3.1)."""

    status: Nfsstat3
    resok: t.Annotated[Getattr3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    __void_default__ = True


class Setattr3Args(Struct):
    """SETATTR3args (section 3.3.2)."""

    object: NfsFh3
    new_attributes: Sattr3
    guard: Nfstime3 | None = None
    """sattrguard3: change nothing (NOT_SYNC) unless this is the object's `ctime`; None checks nothing."""


class Setattr3ResOk(Struct):
    """SETATTR3resok (section 3.3.2)."""

    obj_wcc: WccData


class Setattr3ResFail(Struct):
    """SETATTR3resfail: part of the change may have been made (section 3.3.2)."""

    obj_wcc: WccData


class Setattr3Res(Union):
    """SETATTR3res (section 3.3.2)."""

    status: Nfsstat3
    resok: t.Annotated[Setattr3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Setattr3ResFail | None, Default()] = None


class Access3Args(Struct):
    """ACCESS3args (section 3.3.4)."""

    object: NfsFh3
    access: u32
    """The ACCESS3_* bits to ask about."""


class Access3ResOk(Struct):
    """ACCESS3resok (section 3.3.4)."""

    obj_attributes: Fattr3 | None
    access: u32
    """Those of the asked bits that are granted: advice, no promise."""


class Access3ResFail(Struct):
    """ACCESS3resfail (section 3.3.4)."""

    obj_attributes: Fattr3 | None = None


class Access3Res(Union):
    """ACCESS3res (section 3.3.4)."""

    status: Nfsstat3
    resok: t.Annotated[Access3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Access3ResFail | None, Default()] = None


class Readlink3Args(Struct):
    """READLINK3args (section 3.3.5)."""

    symlink: NfsFh3


class Readlink3ResOk(Struct):
    """READLINK3resok (section 3.3.5)."""

    symlink_attributes: Fattr3 | None
    data: Nfspath3
    """The text of the link as it was given to SYMLINK."""


class Readlink3ResFail(Struct):
    """READLINK3resfail (section 3.3.5)."""

    symlink_attributes: Fattr3 | None = None


class Readlink3Res(Union):
    """READLINK3res (section 3.3.5)."""

    status: Nfsstat3
    resok: t.Annotated[Readlink3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Readlink3ResFail | None, Default()] = None


class Read3Args(Struct):
    """READ3args (section 3.3.6)."""

    file: NfsFh3
    offset: Offset3
    count: Count3
    """Bytes wanted; FSINFO's `rtmax` is the most that one call gets."""


class Read3ResOk(Struct):
    """READ3resok: a server may return fewer bytes than asked for at any time (section 3.3.6)."""

    file_attributes: t.Annotated[Fattr3 | None, Lazy()]
    count: Count3
    """Bytes read: the length of `data`."""
    eof: bool
    """Whether the read ended at the end of the file."""
    data: t.Annotated[Buffer, Bulk()]


class Read3ResFail(Struct):
    """READ3resfail (section 3.3.6)."""

    file_attributes: Fattr3 | None = None


class Read3Res(Union):
    """READ3res (section 3.3.6)."""

    status: Nfsstat3
    resok: t.Annotated[Read3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Read3ResFail | None, Default()] = None


class Write3Args(Struct):
    """WRITE3args (section 3.3.7)."""

    file: NfsFh3
    offset: Offset3
    count: Count3
    """Bytes to write: the length of `data`, which is said twice on the wire."""
    stable: StableHow
    data: t.Annotated[Buffer, Bulk()]


class Write3ResOk(Struct):
    """WRITE3resok (section 3.3.7)."""

    file_wcc: WccData
    count: Count3
    """Bytes written, counted from `offset`; may be fewer than sent."""
    committed: StableHow
    """How firmly they are stored: at least as asked for."""
    verf: Writeverf3


class Write3ResFail(Struct):
    """WRITE3resfail (section 3.3.7)."""

    file_wcc: WccData


class Write3Res(Union):
    """WRITE3res (section 3.3.7)."""

    status: Nfsstat3
    resok: t.Annotated[Write3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Write3ResFail | None, Default()] = None


class Commit3Args(Struct):
    """COMMIT3args (section 3.3.21)."""

    file: NfsFh3
    offset: Offset3
    count: Count3
    """Bytes to flush from `offset` on; 0 means to the end of the file."""


class Commit3ResOk(Struct):
    """COMMIT3resok (section 3.3.21)."""

    file_wcc: WccData
    verf: Writeverf3
    """Data written under another verifier may be lost and must be sent again."""


class Commit3ResFail(Struct):
    """COMMIT3resfail (section 3.3.21)."""

    file_wcc: WccData


class Commit3Res(Union):
    """COMMIT3res (section 3.3.21)."""

    status: Nfsstat3
    resok: t.Annotated[Commit3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Commit3ResFail | None, Default()] = None

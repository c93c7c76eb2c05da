# SPDX-License-Identifier: MIT
"""Operations that move the current and the saved filehandle, and ask for its security (RFC 5661 section 18).

A result is a union over its status; results that only have a status are structures. Operations without
arguments have an empty class each, because the class of an object tells its operation.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs4.security import Secinfo4
from nfsclient.protocol.nfs4.types import Component4, NfsFh4, Nfsstat4
from nfsclient.xdr import Array, Case, Struct, Union, XdrEnum


class Getfh4Args(Struct):
    """GETFH has no arguments (section 18.8)."""


class Getfh4ResOk(Struct):
    """GETFH4resok (section 18.8)."""

    object: NfsFh4


class Getfh4Res(Union):
    """GETFH4res (section 18.8)."""

    status: Nfsstat4
    resok4: t.Annotated[Getfh4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Putfh4Args(Struct):
    """PUTFH4args (section 18.19)."""

    object: NfsFh4


class Putfh4Res(Struct):
    """PUTFH4res (section 18.19)."""

    status: Nfsstat4


class Putpubfh4Args(Struct):
    """PUTPUBFH has no arguments (section 18.20)."""


class Putpubfh4Res(Struct):
    """PUTPUBFH4res (section 18.20)."""

    status: Nfsstat4


class Putrootfh4Args(Struct):
    """PUTROOTFH has no arguments (section 18.21)."""


class Putrootfh4Res(Struct):
    """PUTROOTFH4res (section 18.21)."""

    status: Nfsstat4


class Savefh4Args(Struct):
    """SAVEFH has no arguments (section 18.28)."""


class Savefh4Res(Struct):
    """SAVEFH4res (section 18.28)."""

    status: Nfsstat4


class Restorefh4Args(Struct):
    """RESTOREFH has no arguments (section 18.27)."""


class Restorefh4Res(Struct):
    """RESTOREFH4res (section 18.27)."""

    status: Nfsstat4


class Lookup4Args(Struct):
    """LOOKUP4args (section 18.13)."""

    objname: Component4


class Lookup4Res(Struct):
    """LOOKUP4res (section 18.13)."""

    status: Nfsstat4


class Lookupp4Args(Struct):
    """LOOKUPP has no arguments (section 18.14)."""


class Lookupp4Res(Struct):
    """LOOKUPP4res (section 18.14)."""

    status: Nfsstat4


class Openattr4Args(Struct):
    """OPENATTR4args (section 18.17)."""

    createdir: bool
    """Whether to create the attribute directory if there is none."""


class Openattr4Res(Struct):
    """OPENATTR4res (section 18.17)."""

    status: Nfsstat4


class Secinfo4Args(Struct):
    """SECINFO4args (section 18.29)."""

    name: Component4


class Secinfo4Res(Union):
    """SECINFO4res: the flavors in the order of the server's preference (section 18.29)."""

    status: Nfsstat4
    resok4: t.Annotated[list[Secinfo4] | None, Array(), Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class SecinfoStyle4(XdrEnum):
    """secinfo_style4: whose security SECINFO_NO_NAME asks for (section 18.45)."""

    SECINFO_STYLE4_CURRENT_FH = 0
    SECINFO_STYLE4_PARENT = 1


class SecinfoNoName4Args(Struct):
    """SECINFO_NO_NAME4args: a bare enum in the RFC (section 18.45)."""

    style: SecinfoStyle4


class SecinfoNoName4Res(Union):
    """SECINFO_NO_NAME4res: the same as SECINFO4res (section 18.45)."""

    status: Nfsstat4
    resok4: t.Annotated[list[Secinfo4] | None, Array(), Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Illegal4Args(Struct):
    """ILLEGAL has no arguments (section 18.52)."""


class Illegal4Res(Struct):
    """ILLEGAL4res: the answer to every operation that is none (section 18.52)."""

    status: Nfsstat4

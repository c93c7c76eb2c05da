# SPDX-License-Identifier: MIT
"""Extended attributes (RFC 8276 section 8.4): names and bytes, apart from the data and the other attributes of a file.

Sections are those of RFC 8276.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs4.types import ChangeInfo4, Component4, Count4, NfsCookie4, Nfsstat4
from nfsclient.xdr import Array, Case, Opaque, Struct, Union, XdrEnum

Xattrkey4: t.TypeAlias = Component4
"""The name of an extended attribute."""
Xattrvalue4 = t.Annotated[bytes, Opaque()]
"""Its value."""


class Getxattr4Args(Struct):
    """GETXATTR4args (section 8.4.1)."""

    gxa_name: Xattrkey4


class Getxattr4Res(Union):
    """GETXATTR4res (section 8.4.1)."""

    gxr_status: Nfsstat4
    gxr_value: t.Annotated[Xattrvalue4 | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class SetxattrOption4(XdrEnum):
    """setxattr_option4: what SETXATTR does when the name exists, or does not (section 8.4.2)."""

    SETXATTR4_EITHER = 0
    SETXATTR4_CREATE = 1
    SETXATTR4_REPLACE = 2


class Setxattr4Args(Struct):
    """SETXATTR4args (section 8.4.2)."""

    sxa_option: SetxattrOption4
    sxa_key: Xattrkey4
    sxa_value: Xattrvalue4


class Setxattr4Res(Union):
    """SETXATTR4res (section 8.4.2)."""

    sxr_status: Nfsstat4
    sxr_info: t.Annotated[ChangeInfo4 | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Listxattrs4Args(Struct):
    """LISTXATTRS4args (section 8.4.3)."""

    lxa_cookie: NfsCookie4
    lxa_maxcount: Count4


class Listxattrs4ResOk(Struct):
    """LISTXATTRS4resok (section 8.4.3)."""

    lxr_cookie: NfsCookie4
    lxr_names: t.Annotated[list[Xattrkey4], Array()]
    lxr_eof: bool


class Listxattrs4Res(Union):
    """LISTXATTRS4res (section 8.4.3)."""

    lxr_status: Nfsstat4
    lxr_value: t.Annotated[Listxattrs4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Removexattr4Args(Struct):
    """REMOVEXATTR4args (section 8.4.4)."""

    rxa_name: Xattrkey4


class Removexattr4Res(Union):
    """REMOVEXATTR4res (section 8.4.4)."""

    rxr_status: Nfsstat4
    rxr_info: t.Annotated[ChangeInfo4 | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True

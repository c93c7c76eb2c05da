# SPDX-License-Identifier: MIT
"""Operations on the names in a directory (RFC 5661 section 18)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs4.attributes import AttributeBits4, Fattr4
from nfsclient.protocol.nfs4.types import (
    ChangeInfo4,
    Component4,
    Count4,
    Linktext4,
    NfsCookie4,
    NfsFtype4,
    Nfsstat4,
    Specdata4,
    Verifier4,
)
from nfsclient.xdr import Case, LinkedList, Struct, Union


class Createtype4(Union):
    """createtype4: what CREATE makes; regular files are made by OPEN (section 18.4)."""

    type: NfsFtype4
    linkdata: t.Annotated[Linktext4 | None, Case(NfsFtype4.NF4LNK)] = None
    devdata: t.Annotated[Specdata4 | None, Case(NfsFtype4.NF4BLK, NfsFtype4.NF4CHR)] = None
    __void_default__ = True


class Create4Args(Struct):
    """CREATE4args (section 18.4)."""

    objtype: Createtype4
    objname: Component4
    createattrs: Fattr4


class Create4ResOk(Struct):
    """CREATE4resok (section 18.4)."""

    cinfo: ChangeInfo4
    attrset: AttributeBits4
    """The attributes that were set."""


class Create4Res(Union):
    """CREATE4res (section 18.4)."""

    status: Nfsstat4
    resok4: t.Annotated[Create4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Link4Args(Struct):
    """LINK4args: a name in the current filehandle for the saved one (section 18.9)."""

    newname: Component4


class Link4ResOk(Struct):
    """LINK4resok (section 18.9)."""

    cinfo: ChangeInfo4


class Link4Res(Union):
    """LINK4res (section 18.9)."""

    status: Nfsstat4
    resok4: t.Annotated[Link4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Readdir4Args(Struct):
    """READDIR4args (section 18.23)."""

    cookie: NfsCookie4
    cookieverf: Verifier4
    dircount: Count4
    """A hint: bytes of names and cookies; 0 is none."""
    maxcount: Count4
    """The most bytes of READDIR4resok."""
    attr_request: AttributeBits4


class Entry4(Struct):
    """entry4, as an element of a list: `nextentry` is the list (section 18.23)."""

    cookie: NfsCookie4
    name: Component4
    attrs: Fattr4


class Dirlist4(Struct):
    """dirlist4 (section 18.23)."""

    entries: t.Annotated[list[Entry4], LinkedList()]
    eof: bool


class Readdir4ResOk(Struct):
    """READDIR4resok (section 18.23)."""

    cookieverf: Verifier4
    reply: Dirlist4


class Readdir4Res(Union):
    """READDIR4res (section 18.23)."""

    status: Nfsstat4
    resok4: t.Annotated[Readdir4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Remove4Args(Struct):
    """REMOVE4args (section 18.25)."""

    target: Component4


class Remove4ResOk(Struct):
    """REMOVE4resok (section 18.25)."""

    cinfo: ChangeInfo4


class Remove4Res(Union):
    """REMOVE4res (section 18.25)."""

    status: Nfsstat4
    resok4: t.Annotated[Remove4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Rename4Args(Struct):
    """RENAME4args: from the saved filehandle into the current one (section 18.26)."""

    oldname: Component4
    newname: Component4


class Rename4ResOk(Struct):
    """RENAME4resok (section 18.26)."""

    source_cinfo: ChangeInfo4
    target_cinfo: ChangeInfo4


class Rename4Res(Union):
    """RENAME4res (section 18.26)."""

    status: Nfsstat4
    resok4: t.Annotated[Rename4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True

# SPDX-License-Identifier: MIT
"""Arguments and results of the NFSv3 procedures on names in directories (RFC 1813 section 3.3).

LOOKUP, CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK, READDIR, READDIRPLUS. A reply is a union
over its status, as in `files`. A server may withhold the handle and the attributes of what it created, and
the `wcc` of the directory.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3.types import (
    Cookie3,
    Cookieverf3,
    Count3,
    CreateMode3,
    Createverf3,
    Diropargs3,
    Fattr3,
    Fileid3,
    Filename3,
    Ftype3,
    NfsFh3,
    Nfspath3,
    Nfsstat3,
    Sattr3,
    Specdata3,
    WccData,
)
from nfsclient.xdr import Case, Default, Lazy, LinkedList, Struct, Union


class Lookup3Args(Struct):
    """LOOKUP3args (section 3.3.3)."""

    what: Diropargs3


class Lookup3ResOk(Struct):
    """LOOKUP3resok: the handle is mandatory (section 3.3.3)."""

    object: NfsFh3
    obj_attributes: Fattr3 | None = None
    dir_attributes: t.Annotated[Fattr3 | None, Lazy()] = None


class Lookup3ResFail(Struct):
    """LOOKUP3resfail (section 3.3.3)."""

    dir_attributes: Fattr3 | None = None


class Lookup3Res(Union):
    """LOOKUP3res (section 3.3.3)."""

    status: Nfsstat3
    resok: t.Annotated[Lookup3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Lookup3ResFail | None, Default()] = None


class Createhow3(Union):
    """createhow3: attributes for UNCHECKED and GUARDED, a verifier for EXCLUSIVE (section 3.3.8)."""

    mode: CreateMode3
    obj_attributes: t.Annotated[Sattr3 | None, Case(CreateMode3.UNCHECKED, CreateMode3.GUARDED)] = None
    verf: t.Annotated[Createverf3 | None, Case(CreateMode3.EXCLUSIVE)] = None


class Create3Args(Struct):
    """CREATE3args (section 3.3.8)."""

    where: Diropargs3
    how: Createhow3


class Create3ResOk(Struct):
    """CREATE3resok (section 3.3.8)."""

    obj: NfsFh3 | None
    obj_attributes: t.Annotated[Fattr3 | None, Lazy()]
    dir_wcc: WccData


class Create3ResFail(Struct):
    """CREATE3resfail (section 3.3.8)."""

    dir_wcc: WccData


class Create3Res(Union):
    """CREATE3res (section 3.3.8)."""

    status: Nfsstat3
    resok: t.Annotated[Create3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Create3ResFail | None, Default()] = None


class Mkdir3Args(Struct):
    """MKDIR3args (section 3.3.9)."""

    where: Diropargs3
    attributes: Sattr3


class Mkdir3ResOk(Struct):
    """MKDIR3resok (section 3.3.9)."""

    obj: NfsFh3 | None
    obj_attributes: t.Annotated[Fattr3 | None, Lazy()]
    dir_wcc: WccData


class Mkdir3ResFail(Struct):
    """MKDIR3resfail (section 3.3.9)."""

    dir_wcc: WccData


class Mkdir3Res(Union):
    """MKDIR3res (section 3.3.9)."""

    status: Nfsstat3
    resok: t.Annotated[Mkdir3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Mkdir3ResFail | None, Default()] = None


class Symlinkdata3(Struct):
    """symlinkdata3 (section 3.3.10)."""

    symlink_attributes: Sattr3
    symlink_data: Nfspath3


class Symlink3Args(Struct):
    """SYMLINK3args (section 3.3.10)."""

    where: Diropargs3
    symlink: Symlinkdata3


class Symlink3ResOk(Struct):
    """SYMLINK3resok (section 3.3.10)."""

    obj: NfsFh3 | None
    obj_attributes: t.Annotated[Fattr3 | None, Lazy()]
    dir_wcc: WccData


class Symlink3ResFail(Struct):
    """SYMLINK3resfail (section 3.3.10)."""

    dir_wcc: WccData


class Symlink3Res(Union):
    """SYMLINK3res (section 3.3.10)."""

    status: Nfsstat3
    resok: t.Annotated[Symlink3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Symlink3ResFail | None, Default()] = None


class Devicedata3(Struct):
    """devicedata3 (section 3.3.11)."""

    dev_attributes: Sattr3
    spec: Specdata3


class Mknoddata3(Union):
    """mknoddata3: what to make; types but these four carry nothing and are refused (section 3.3.11)."""

    type: Ftype3
    device: t.Annotated[Devicedata3 | None, Case(Ftype3.NF3CHR, Ftype3.NF3BLK)] = None
    pipe_attributes: t.Annotated[Sattr3 | None, Case(Ftype3.NF3SOCK, Ftype3.NF3FIFO)] = None
    __void_default__ = True


class Mknod3Args(Struct):
    """MKNOD3args (section 3.3.11)."""

    where: Diropargs3
    what: Mknoddata3


class Mknod3ResOk(Struct):
    """MKNOD3resok (section 3.3.11)."""

    obj: NfsFh3 | None
    obj_attributes: t.Annotated[Fattr3 | None, Lazy()]
    dir_wcc: WccData


class Mknod3ResFail(Struct):
    """MKNOD3resfail (section 3.3.11)."""

    dir_wcc: WccData


class Mknod3Res(Union):
    """MKNOD3res (section 3.3.11)."""

    status: Nfsstat3
    resok: t.Annotated[Mknod3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Mknod3ResFail | None, Default()] = None


class Remove3Args(Struct):
    """REMOVE3args (section 3.3.12)."""

    object: Diropargs3


class Remove3ResOk(Struct):
    """REMOVE3resok (section 3.3.12)."""

    dir_wcc: WccData


class Remove3ResFail(Struct):
    """REMOVE3resfail (section 3.3.12)."""

    dir_wcc: WccData


class Remove3Res(Union):
    """REMOVE3res (section 3.3.12)."""

    status: Nfsstat3
    resok: t.Annotated[Remove3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Remove3ResFail | None, Default()] = None


class Rmdir3Args(Struct):
    """RMDIR3args (section 3.3.13)."""

    object: Diropargs3


class Rmdir3ResOk(Struct):
    """RMDIR3resok (section 3.3.13)."""

    dir_wcc: WccData


class Rmdir3ResFail(Struct):
    """RMDIR3resfail (section 3.3.13)."""

    dir_wcc: WccData


class Rmdir3Res(Union):
    """RMDIR3res (section 3.3.13)."""

    status: Nfsstat3
    resok: t.Annotated[Rmdir3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Rmdir3ResFail | None, Default()] = None


class Rename3Args(Struct):
    """RENAME3args (section 3.3.14). The RFC's `from` is a reserved word of Python, hence the underscore."""

    from_: Diropargs3
    to: Diropargs3


class Rename3ResOk(Struct):
    """RENAME3resok (section 3.3.14)."""

    fromdir_wcc: WccData
    todir_wcc: WccData


class Rename3ResFail(Struct):
    """RENAME3resfail (section 3.3.14)."""

    fromdir_wcc: WccData
    todir_wcc: WccData


class Rename3Res(Union):
    """RENAME3res (section 3.3.14)."""

    status: Nfsstat3
    resok: t.Annotated[Rename3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Rename3ResFail | None, Default()] = None


class Link3Args(Struct):
    """LINK3args (section 3.3.15)."""

    file: NfsFh3
    link: Diropargs3


class Link3ResOk(Struct):
    """LINK3resok (section 3.3.15)."""

    file_attributes: Fattr3 | None
    linkdir_wcc: WccData


class Link3ResFail(Struct):
    """LINK3resfail (section 3.3.15)."""

    file_attributes: Fattr3 | None
    linkdir_wcc: WccData


class Link3Res(Union):
    """LINK3res (section 3.3.15)."""

    status: Nfsstat3
    resok: t.Annotated[Link3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Link3ResFail | None, Default()] = None


class Readdir3Args(Struct):
    """READDIR3args (section 3.3.16)."""

    dir: NfsFh3
    cookie: Cookie3
    cookieverf: Cookieverf3
    count: Count3
    """Most bytes of the READDIR3resok structure, with all XDR overhead."""


class Entry3(Struct):
    """entry3: one name; the list's `nextentry` is implied by the list (section 3.3.16)."""

    fileid: Fileid3
    name: Filename3
    cookie: Cookie3
    """Where the listing continues after this entry."""


class Readdir3ResOk(Struct):
    """READDIR3resok, with the dirlist3 `reply` laid flat: `entries` and `eof` (section 3.3.16)."""

    dir_attributes: Fattr3 | None
    cookieverf: Cookieverf3
    entries: t.Annotated[list[Entry3], LinkedList()]
    eof: bool
    """Whether the directory ends with the last entry; if not, there may be more."""


class Readdir3ResFail(Struct):
    """READDIR3resfail (section 3.3.16)."""

    dir_attributes: Fattr3 | None = None


class Readdir3Res(Union):
    """READDIR3res (section 3.3.16)."""

    status: Nfsstat3
    resok: t.Annotated[Readdir3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Readdir3ResFail | None, Default()] = None


class Readdirplus3Args(Struct):
    """READDIRPLUS3args (section 3.3.17)."""

    dir: NfsFh3
    cookie: Cookie3
    cookieverf: Cookieverf3
    dircount: Count3
    """Most bytes of directory information, attributes and handles not counted; to many servers a hint."""
    maxcount: Count3
    """Most bytes of the READDIRPLUS3resok structure, with all XDR overhead."""


class Entryplus3(Struct):
    """entryplus3: one name with attributes and handle, each of which may be withheld (section 3.3.17)."""

    fileid: Fileid3
    name: Filename3
    cookie: Cookie3
    name_attributes: t.Annotated[Fattr3 | None, Lazy()] = None
    """Decoded when first read: a listing often wants the names only."""
    name_handle: NfsFh3 | None = None


class Readdirplus3ResOk(Struct):
    """READDIRPLUS3resok, with the dirlistplus3 `reply` laid flat: `entries` and `eof` (section 3.3.17)."""

    dir_attributes: Fattr3 | None
    cookieverf: Cookieverf3
    entries: t.Annotated[list[Entryplus3], LinkedList()]
    eof: bool


class Readdirplus3ResFail(Struct):
    """READDIRPLUS3resfail (section 3.3.17)."""

    dir_attributes: Fattr3 | None = None


class Readdirplus3Res(Union):
    """READDIRPLUS3res (section 3.3.17)."""

    status: Nfsstat3
    resok: t.Annotated[Readdirplus3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Readdirplus3ResFail | None, Default()] = None

# SPDX-License-Identifier: MIT
"""Arguments and results of FSSTAT, FSINFO and PATHCONF (RFC 1813 sections 3.3.18 to 3.3.20)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3.types import Fattr3, NfsFh3, Nfsstat3, Nfstime3, Size3
from nfsclient.xdr import Case, Default, Struct, Union, u32

FSF3_LINK = 0x0001
"""The file system has hard links (section 3.3.19)."""
FSF3_SYMLINK = 0x0002
"""The file system has symbolic links."""
FSF3_HOMOGENEOUS = 0x0008
"""PATHCONF says the same for every object of the file system."""
FSF3_CANSETTIME = 0x0010
"""SETATTR sets times, to the accuracy of `time_delta`."""


class Fsstat3Args(Struct):
    """FSSTAT3args (section 3.3.18)."""

    fsroot: NfsFh3


class Fsstat3ResOk(Struct):
    """FSSTAT3resok: how full the file system is (section 3.3.18)."""

    obj_attributes: Fattr3 | None
    tbytes: Size3
    """Size of the file system in bytes."""
    fbytes: Size3
    """Free bytes."""
    abytes: Size3
    """Free bytes that this caller may use; quotas not counted."""
    tfiles: Size3
    """File slots in all."""
    ffiles: Size3
    """Free file slots."""
    afiles: Size3
    """Free file slots that this caller may use."""
    invarsec: u32
    """Seconds for which these values are not expected to change; 0 says nothing."""


class Fsstat3ResFail(Struct):
    """FSSTAT3resfail (section 3.3.18)."""

    obj_attributes: Fattr3 | None = None


class Fsstat3Res(Union):
    """FSSTAT3res (section 3.3.18)."""

    status: Nfsstat3
    resok: t.Annotated[Fsstat3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Fsstat3ResFail | None, Default()] = None


class Fsinfo3Args(Struct):
    """FSINFOargs, as the RFC spells it (section 3.3.19)."""

    fsroot: NfsFh3


class Fsinfo3ResOk(Struct):
    """FSINFO3resok: limits and preferences; sizes in bytes (section 3.3.19)."""

    obj_attributes: Fattr3 | None
    rtmax: u32
    """Largest READ; a longer one is answered short."""
    rtpref: u32
    """Preferred size of a READ."""
    rtmult: u32
    """READ sizes are best a multiple of this."""
    wtmax: u32
    """Largest WRITE; nothing guarantees that a longer one is handled."""
    wtpref: u32
    """Preferred size of a WRITE."""
    wtmult: u32
    """WRITE sizes are best a multiple of this."""
    dtpref: u32
    """Preferred size of a READDIR reply."""
    maxfilesize: Size3
    time_delta: Nfstime3
    """The step of the server's times."""
    properties: u32
    """The FSF3_* bits."""


class Fsinfo3ResFail(Struct):
    """FSINFO3resfail (section 3.3.19)."""

    obj_attributes: Fattr3 | None = None


class Fsinfo3Res(Union):
    """FSINFO3res (section 3.3.19)."""

    status: Nfsstat3
    resok: t.Annotated[Fsinfo3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Fsinfo3ResFail | None, Default()] = None


class Pathconf3Args(Struct):
    """PATHCONF3args (section 3.3.20)."""

    object: NfsFh3


class Pathconf3ResOk(Struct):
    """PATHCONF3resok: what POSIX asks of pathconf() (section 3.3.20)."""

    obj_attributes: Fattr3 | None
    linkmax: u32
    """Most hard links to one object."""
    name_max: u32
    """Longest name of a component, in bytes."""
    no_trunc: bool
    """Whether longer names are refused (NAMETOOLONG); else they are cut silently."""
    chown_restricted: bool
    """Whether only a privileged user may change owner or group."""
    case_insensitive: bool
    case_preserving: bool


class Pathconf3ResFail(Struct):
    """PATHCONF3resfail (section 3.3.20)."""

    obj_attributes: Fattr3 | None = None


class Pathconf3Res(Union):
    """PATHCONF3res (section 3.3.20)."""

    status: Nfsstat3
    resok: t.Annotated[Pathconf3ResOk | None, Case(Nfsstat3.NFS3_OK)] = None
    resfail: t.Annotated[Pathconf3ResFail | None, Default()] = None

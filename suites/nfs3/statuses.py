# SPDX-License-Identifier: MIT
"""Groups of statuses that checks accept for one another."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import Nfsstat3

NO_PERMISSION: t.Final = (Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM)
"""Servers use either."""
NOT_ALLOWED: t.Final = (*NO_PERMISSION, Nfsstat3.NFS3ERR_ROFS)
"""Many servers check permissions and read-only exports before anything else."""
NO_SPACE: t.Final = (Nfsstat3.NFS3ERR_NOSPC, Nfsstat3.NFS3ERR_DQUOT)
GONE: t.Final = (Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_NOENT)
"""Many systems answer NOENT for any name in a removed directory, before they check the directory itself."""
NOT_A_HANDLE: t.Final = (
    Nfsstat3.NFS3ERR_BADHANDLE,
    Nfsstat3.NFS3ERR_STALE,
    # A server may not know what is wrong with the handle.
    Nfsstat3.NFS3ERR_IO,
    Nfsstat3.NFS3ERR_SERVERFAULT,
    # An altered handle may refer to another export, which this client may not access.
    Nfsstat3.NFS3ERR_ACCES,
    Nfsstat3.NFS3ERR_PERM,
)
INCOMPATIBLE: t.Final = (
    Nfsstat3.NFS3ERR_EXIST,
    Nfsstat3.NFS3ERR_NOTEMPTY,
    Nfsstat3.NFS3ERR_ISDIR,
    Nfsstat3.NFS3ERR_NOTDIR,
)
"""RENAME over another type of object: the text asks for EXIST, and the list of errors has the others too."""

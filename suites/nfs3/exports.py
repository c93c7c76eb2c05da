# SPDX-License-Identifier: MIT
"""The exports of the target, for checks that need a second one and do not judge EXPORT."""

from __future__ import annotations

from nfsclient.clients import Mount, Nfs3
from nfsclient.errors import NfsClientError
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import observe, skip
from nfsjudge.answers import describe_error


def exported(mount: Mount) -> list[bytes]:
    """The paths that EXPORT returns. SKIP if it fails: other checks judge that."""
    try:
        return [entry.ex_dir for entry in mount.export()]
    except NfsClientError as error:
        skip(f"cannot get the list of exports: {describe_error(error)}")


def remove_if_created(nfs3: Nfs3, elsewhere: bytes, name: bytes, status: Nfsstat3) -> None:
    """Remove what the server created although it should have refused to."""
    if status == Nfsstat3.NFS3_OK:
        observe("REMOVE of the object created by mistake", nfs3.remove(elsewhere, name).status)

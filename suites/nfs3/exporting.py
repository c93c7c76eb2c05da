# SPDX-License-Identifier: MIT
"""The exports of the target, for checks that need them and do not judge EXPORT."""

from __future__ import annotations

from nfsclient.clients import Mount
from nfsclient.errors import NfsClientError
from nfsjudge import skip


def exported(mount: Mount) -> list[bytes]:
    """The paths that EXPORT returns. SKIP if it fails: other checks judge that."""
    try:
        return [entry.ex_dir for entry in mount.export()]
    except NfsClientError as error:
        skip(f"the list of exports cannot be had: {error}")

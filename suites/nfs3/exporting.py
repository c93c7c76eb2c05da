# SPDX-License-Identifier: MIT
"""What the target exports, for checks that need to know it and do not judge it."""

from __future__ import annotations

from nfsclient.clients import Mount
from nfsclient.errors import NfsClientError
from nfsjudge import skip


def exported(mount: Mount) -> list[bytes]:
    """The paths that EXPORT lists. SKIP where it gives no list: it may be refused, and is judged elsewhere."""
    try:
        return [entry.ex_dir for entry in mount.export()]
    except NfsClientError as error:
        skip(f"the list of exports cannot be had: {error}")

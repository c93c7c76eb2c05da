# SPDX-License-Identifier: MIT
"""Other ways to write the address of a server."""

from __future__ import annotations

import re

_AS_IN_MOUNT = re.compile(
    r"(?!nfs:)(?P<host>[\w.-]+|\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]|[0-9A-Fa-f:]*:[0-9A-Fa-f:]*):(?P<path>/(?!/).*)",
    re.DOTALL | re.IGNORECASE,
)


def as_url(word: str) -> str:
    """``host:/export`` and ``[v6]:/export``, as `mount` takes them, as a URL; any other word as it is.

    What follows is that of a URL, so ``host:/export?nfsport=2050`` has a parameter.
    """
    found = _AS_IN_MOUNT.fullmatch(word)
    if found is None:
        return word
    host = found["host"].replace("%", "%25")
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"nfs://{host}{found['path']}"

# SPDX-License-Identifier: MIT
"""What a reply shows of objects, and which exchange showed it: what `World` learns and rules look at."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import Fattr
from nfsclient.protocol.nfs3 import Fattr3, WccAttr

Attributes: t.TypeAlias = Fattr3 | Fattr
"""Those of either version: fields of the same names, of 64 or 32 bits."""


class View(t.NamedTuple):
    """What a reply says of one object: its attributes, in `after`, and those before the call, in `before`.

    `path` leads to them in the reply. `changes` tells whether the operation may change this object.
    """

    handle: bytes
    after: Attributes | None
    before: WccAttr | None
    path: str
    changes: bool


class Source(t.NamedTuple):
    """Which exchange something was learned from: its number, and who asked."""

    number: int
    credential: object
    xid: int = 0
    at: float = 0.0
    """When the reply came."""
    client: str = ""
    """The address that the call came from, or that a callback went to; empty where it is not known."""

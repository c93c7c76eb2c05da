# SPDX-License-Identifier: MIT
"""What a server of nfsproof says of the calls that came to it (`nfsproof serve --counts`), whoever made them."""

from __future__ import annotations

import json
import socket
import typing as t
from collections import Counter

from workloads.mountstats import MountCounts
from workloads.shape import Misshaped, Scalar
from workloads.trouble import Stopped

_WAIT: t.Final = 10.0
_LONGEST: t.Final = 64 << 10


def ask_counts(where: str) -> MountCounts:
    """The counts of the server, whose port for them is HOST:PORT. Raises `Stopped`."""
    host, _, port = where.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_WAIT) as connection:
            data = b""
            while len(data) < _LONGEST and (part := connection.recv(_LONGEST - len(data))):
                data += part
        return _parsed(json.loads(data))
    except (OSError, OverflowError) as error:
        raise Stopped("connection", f"the counts of the server at {where}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise Stopped(
            "connection", f"expected the counts of nfsproof serve --counts at {where}, got something else"
        ) from error


def _parsed(plain: t.Any) -> MountCounts:
    try:
        calls = Counter({_short(name): _number(number) for name, number in plain["calls"].items()})
        return MountCounts(calls, calls.total(), _number(plain["call_bytes"]), _number(plain["reply_bytes"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise Misshaped(str(error)) from error


def _short(name: Scalar) -> str:
    if not (isinstance(name, str) and 0 < len(name) <= 40 and name.replace("_", "").isalnum()):
        raise Misshaped("a procedure has another name")
    return name


def _number(value: t.Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 62:
        raise Misshaped("a count is no number")
    return value

# SPDX-License-Identifier: MIT
"""What a run may do to an export: bounds on bytes, files and seconds, and no full disk where others have files."""

from __future__ import annotations

import os
import secrets
import typing as t
from dataclasses import dataclass
from pathlib import Path

from nfsclient.errors import NfsClientError
from workloads.clients import Link, entries
from workloads.spec import MOST_READ, Demand, Order
from workloads.sweeping import PREFIX
from workloads.trouble import Refused

_HALF: t.Final = 0.5
_MARGIN: t.Final = 0.95
_BLOCK: t.Final = 4096
_MOST_CALLERS: t.Final = 4096
_MOST_WINDOW: t.Final = 1024
_LARGEST: t.Final = 1 << 20
LEAST_PAGE: t.Final = 512
"""Bytes of a page of a directory in which an entry has room in every version: the names of a run are short."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the user allows."""

    bytes: int = 1 << 30
    files: int = 200_000
    seconds: float = 600.0


def new_directory() -> str:
    """A name for the directory of a run that nobody has."""
    return PREFIX + secrets.token_hex(6)


def shown(demand: Demand) -> str:
    """A demand for people."""
    unit, amount = "bytes", float(demand.bytes)
    for name in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        unit, amount = name, amount / 1024
    files = "1 file" if demand.files == 1 else f"{demand.files} files"
    directories = f"{demand.directories + 1} directories" if demand.directories else "1 directory"
    return f"{amount:.4g} {unit} of data in {files} and {directories}"


def require_within(demand: Demand, limits: Limits, order: Order, seconds: float) -> None:
    """Raise `Refused` for a run that is larger than the user allows, or makes no sense."""
    if demand.bytes > limits.bytes:
        raise Refused(f"the run makes {demand.bytes} bytes, and --max-bytes is {limits.bytes}")
    if demand.files + demand.directories > limits.files:
        raise Refused(
            f"the run makes {demand.files + demand.directories} files and directories, "
            f"and --max-files is {limits.files}"
        )
    if not seconds <= limits.seconds:  # NaN, too
        raise Refused(f"the run takes {seconds:g} s, and --max-seconds is {limits.seconds:g}")
    for name, value, least, most in (
        ("callers of all clients", order.callers * order.clients, 1, _MOST_CALLERS),
        ("window", order.window, 1, _MOST_WINDOW),
        ("read size", order.rsize, 1, MOST_READ.get(order.version, _LARGEST)),
        ("write size", order.wsize, 1, MOST_READ.get(order.version, _LARGEST)),
        ("bytes of a page of a directory (--page)", order.page, LEAST_PAGE, _LARGEST),
    ):
        if not least <= value <= most:
            raise Refused(f"expected {least} to {most} as the {name}, got {value}")


def require_room(link: Link, root: bytes, demand: Demand) -> None:
    """Raise `Refused` if the run would not fit, or would fill a disk on which others have files."""
    try:
        space = link.do(link.files.statfs(root))
        foreign = [name for name in entries(link, root) if not name.startswith(PREFIX.encode())]
    except NfsClientError as error:
        raise Refused(f"cannot see what is in the export: {error}") from error
    if space.abytes is None or not space.tbytes:
        return
    _require_fits(demand, space.abytes, [name.decode(errors="backslashreplace") for name in foreign[:1]])


def require_room_below(mount: Path, demand: Demand) -> None:
    """As `require_room`, for a mounted directory."""
    try:
        space = os.statvfs(mount)
        foreign = [entry.name for entry in mount.iterdir() if not entry.name.startswith(PREFIX)]
    except OSError as error:
        raise Refused(f"cannot use {mount}: {error.strerror}") from error
    _require_fits(demand, space.f_bavail * space.f_frsize, foreign)


def _require_fits(demand: Demand, free: int, foreign: list[str]) -> None:
    needed = demand.bytes + _BLOCK * (demand.files + demand.directories)
    if needed > free * _MARGIN:
        raise Refused(f"the run needs about {needed} bytes, and {free} are free in the export")
    if foreign and needed > free * _HALF:
        raise Refused(
            f"the run needs about {needed} bytes, more than half of the {free} that are free, and the export "
            f"has files of others ({foreign[0]!r}): use an export made for testing"
        )

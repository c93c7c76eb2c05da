# SPDX-License-Identifier: MIT
"""How a study of `nfsproof sensitivity` begins and goes on: all its points are of one server, loaded in one way."""

from __future__ import annotations

import hashlib
import typing as t
from collections.abc import Iterator
from pathlib import Path

from nfsproof import __version__, workloading
from nfsproof.study_planning import Wish
from nfsproof.workload_carriers import Workers
from nfstargets import TargetAddress
from workloads import environment
from workloads.sensitivity import study as studies
from workloads.sensitivity.study import Study
from workloads.trouble import Refused

_SAME: t.Final = {
    "target": "target", "version": "--version", "transport": "--proto", "seed": "--seed", "callers": "--callers",
    "workers": "workers", "carrier": "workers", "packet": "--packet", "resend": "--resend", "queue": "--queue",
    "knobs": "--knob", "repeats": "--repeat", "seconds": "--seconds", "shares": "--loads",
}  # fmt: skip
"""What a study that goes on must have in common with the options -> what says it."""
_MARK: t.Final = 4
"""Characters of the mark of an address: enough to tell two servers apart, too few to find the address by trying all."""


def begun(wish: Wish, target: TargetAddress, file: Path | None) -> Study:
    """The study of the file, if it is of the same work; a new one otherwise. Raises `Refused`."""
    fresh = _fresh(wish, target)
    if fresh.resend and fresh.transport != "udp":
        raise Refused("calls are sent again early over UDP alone: --resend needs --proto udp")
    if file is None or not file.exists():
        return fresh
    known = studies.read(file)
    for name, old, new in _compared(known, fresh):
        if old != new:
            raise Refused(
                f"{file} is a study with {name} {old}, not {new}: use another --out, or the same options"
            )
    if wish.bytes and wish.bytes != known.bytes:
        raise Refused(f"{file} is a study with {known.bytes} --bytes, not {wish.bytes}: use another --out")
    if known.where != fresh.where:
        raise Refused(f"{file} is a study of a server at another address: use another --out")
    return known


def _fresh(wish: Wish, target: TargetAddress) -> Study:
    return Study(
        target=wish.label or ("URL" if "://" in wish.target else wish.target),
        where=_mark(wish, target),
        version=wish.version or workloading._usual_version(target),
        transport=wish.transport or target.proto,
        seed=wish.seed,
        callers=wish.callers,
        workers=wish.workers.planned,
        carrier=carrier(wish.workers),
        packet=wish.packet,
        resend=wish.resend,
        queue=wish.queue,
        knobs=wish.knobs,
        repeats=wish.repeats,
        seconds=wish.seconds,
        bytes=0,
        shares=wish.shares,
        environment=environment.here(__version__),
    )


def _compared(known: Study, fresh: Study) -> Iterator[tuple[str, object, object]]:
    """(name, value of the file, value now) of what has to be the same.

    Not the versions of nfsproof, Python and the kernel: a study of days goes on after an upgrade. How a point is
    measured changes with the schema.
    """
    for name, option in _SAME.items():
        yield option, getattr(known, name), getattr(fresh, name)
    yield "processors:", known.environment.processors, fresh.environment.processors


def _mark(wish: Wish, target: TargetAddress) -> str:
    """Of the address of a server that was there before; nfsproof starts the others, at any port.

    MOUNT is at another port after a restart, as rpcbind says.
    """
    words = (
        (target.host, target.nfs_port, f"{target.export}/{target.inside}")
        if "://" in wish.target
        else (wish.target,)
    )
    return hashlib.sha256(repr(words).encode()).hexdigest()[:_MARK]


def carrier(workers: Workers) -> str:
    """Where the workers are."""
    if workers.cluster:
        return "cluster"
    if workers.hosts:
        return "hosts"
    return "processes" if (workers.number or 1) > 1 else "here"

# SPDX-License-Identifier: MIT
"""What a run is to do, as plain data: it goes to workers as it is."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from random import Random

from workloads.calls import Program
from workloads.ledger import Ledger
from workloads.shape import Scalar
from workloads.trouble import Refused

VERSIONS: t.Final = ("2", "3", "4.1", "4.2")
SPRITELY: t.Final = "snfs"
"""Spritely NFS, which some workloads run with, too."""
OF_NFS2: t.Final = frozenset({"2", SPRITELY})
"""Versions with the procedures of NFSv2."""
UDP_VERSIONS: t.Final = ("2", "3")
"""NFSv4.1 needs a transport that keeps order and loses nothing (RFC 5661 section 2.9.1)."""


def title_of(version: str) -> str:
    """As people write it."""
    return "Spritely NFS" if version == SPRITELY else f"NFSv{version}"


MOST_OVER_UDP: t.Final = 32768
"""Bytes of one READ or WRITE over UDP: a datagram has less than 64 KiB, and servers take half of that."""
MOST_READ: t.Final = {"2": 8192, SPRITELY: 8192}
"""Bytes of one READ or WRITE, where the version has a limit (RFC 1094 section 2.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """All that a worker needs to know. Only plain values, so that it can be sent anywhere."""

    workload: str
    parameters: Mapping[str, Scalar]
    address: Mapping[str, t.Any] = field(default_factory=dict)
    """`TargetAddress.to_plain()`; empty with `mount`."""
    mount: str = ""
    """A mounted directory to use instead of the library; empty: none."""
    counts: str = ""
    """With `mount`, HOST:PORT of a server of nfsproof that counts the calls; empty: the system may count them."""
    owns_machine: bool = False
    """With `mount`: whether the machine is there for the run alone, so that all its caches may be dropped."""
    directory: str
    """The name of the directory of the run. Worker 0 makes it; nothing outside of it is touched."""
    version: str = "3"
    transport: str = "tcp"
    """"udp": NFSv2 and NFSv3 only."""
    policy: str = "raw"
    rsize: int = 65536
    wsize: int = 65536
    page: int = 8192
    """Bytes of a page of a directory."""
    stable: str = "unstable"
    plus: bool = True
    """Whether attributes come with listings, where the version can do that."""
    window: int = 1
    """Calls that one caller may have under way."""
    clients: int = 1
    """Of each worker: each with its own connections, caches and session."""
    connections: int = 1
    """Of each client."""
    callers: int = 1
    """Of each client."""
    worker: int = 0
    workers: int = 1
    seed: int = 1
    duration: float = 10.0
    """Seconds of the steady state of a rate."""
    warmup: float = 2.0
    arrivals: float = 0.0
    """Operations per second of an open loop, of all workers; 0: closed loop."""
    lint: int = 1
    """The lint judges every n-th call; 0: none."""
    most_seconds: float = 600.0
    """Of one phase."""
    timeout: float = 10.0
    """Seconds for one call."""
    overhead: float = 0.0
    """Seconds of a client's processor for each message that it sends or receives."""
    packet: int = 0
    """Bytes of a message, of which a call or a reply may be several; 0: it is one."""
    resend: float = 0.0
    """Over UDP, seconds until a call is sent again for the first time, with a window that halves then; 0: as usual."""


@dataclass(frozen=True, slots=True)
class Demand:
    """How much a run makes at most at a time, in all: bytes of data, files, directories."""

    bytes: int
    files: int
    directories: int = 0


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a number may be: a parameter below or above is refused before anything is made."""

    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Least:
    """What a number must be at least, by the others: a parameter, or an option such as `--clients`."""

    name: str
    value: int
    least: int
    why: str


COUNT: t.Final = Bounds(1, 10_000_000)
"""Of files, rounds, and other things that are counted."""
SIZE: t.Final = Bounds(1, 1 << 40)
"""Bytes of a file."""
STEP: t.Final = Bounds(1, 64 << 20)
"""Bytes of one read or write of a program."""


def no_more(_parameters: Mapping[str, Scalar], _clients: int, _callers: int) -> Iterable[Least]:
    """A workload whose numbers do not depend on each other."""
    return ()


@dataclass(slots=True)
class Context:
    """What the programs of one client know."""

    client: int
    """From 0, over all workers."""
    clients: int
    callers: int
    seed: int
    version: str
    """"mount" on a mounted directory."""
    parameters: Mapping[str, Scalar]
    ledger: Ledger
    clock: Callable[[], float]
    random: Random
    """Drawn from by this client only."""
    shared: dict[str, t.Any] = field(default_factory=dict)
    """What phases of the same client hand on, and callers share."""

    def number(self, name: str) -> int:
        """A parameter that is a whole number."""
        return int(self.parameters[name])

    def real(self, name: str) -> float:
        """A parameter that is a number."""
        return float(self.parameters[name])


Programs: t.TypeAlias = Callable[[Context], Iterable[Program[t.Any]]]
"""The programs of one client that run side by side in a phase."""


@dataclass(frozen=True, slots=True)
class PhaseDef:
    """A phase of a script, or a preparation. All programs of all clients end before the next begins."""

    name: str
    programs: Programs
    is_measured: bool = True
    pace: str = ""
    """The parameter that says how many seconds each call takes on the clocks of the clients; empty: the real time.

    Phases after each other with the same parameter have one clock, which begins with the first of them.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A workload: a script has phases; a rate has preparations, and a unit of work that is repeated."""

    name: str
    about: str
    source: str
    """The paper, or how it is defined."""
    defaults: Mapping[str, Scalar]
    """Its parameters."""
    demand: Callable[[Mapping[str, Scalar], int], Demand]
    """By parameters and the number of all clients."""
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    """Of each parameter that is a number."""
    needs_least: Callable[[Mapping[str, Scalar], int, int], Iterable[Least]] = no_more
    """By parameters, the number of all clients, and the callers of each."""
    phases: tuple[PhaseDef, ...] = ()
    unit: Callable[[Context, int], Program[t.Any]] | None = None
    """Of a rate: one operation of a caller, by its number."""
    after: tuple[PhaseDef, ...] = ()
    """Of a rate: phases after the steady state."""
    stable: str = "unstable"
    """How WRITE asks for stable storage, if the user does not say it."""
    versions: tuple[str, ...] = VERSIONS
    works_mounted: bool = True
    why_not_mounted: str = "it needs several clients with delegations, and a mounted directory is one"
    load: str = ""
    """Of a rate whose data grows with its load: the parameter that is that load, in units per second."""
    is_drawn: bool = False
    """Whether what it does depends on the seed."""
    is_spread: bool = False
    """Whether its clients may be in several workers: in no phase does one change what another one uses."""
    clients: int = 1
    """If the user does not say how many."""
    callers: int = 1
    window: int = 1
    size: int = 65536
    """Bytes of one READ and WRITE."""
    policy: str = "raw"
    """ "like": that which is like a kernel, by the version."""
    manifest: Callable[[Mapping[str, Scalar], int], list[str]] | None = None
    """By parameters and seed: what is generated, for people."""
    needs: Mapping[str, str] = field(default_factory=dict)
    """By version: what is missing to run it there."""

    @property
    def kind(self) -> str:
        """ "script" or "rate"."""
        return "script" if self.unit is None else "rate"

    def with_parameters(self, given: Mapping[str, str]) -> dict[str, Scalar]:
        """The parameters, some of them given as text. Raises `Refused` for unknown ones and wrong values."""
        found = dict(self.defaults)
        for name, text in given.items():
            if name not in found:
                known = ", ".join(found) or "none"
                raise Refused(f"{self.name} has no parameter {name!r}; it has {known}")
            found[name] = value = _parsed(self.name, name, text, self.defaults[name])
            bounds = self.bounds.get(name)
            if bounds is not None and not bounds.least <= float(value) <= bounds.most:
                raise Refused(
                    f"{self.name}: expected {bounds.least:.15g} to {bounds.most:.15g} for {name}, got {text}"
                )
        return found

    def require_enough(self, parameters: Mapping[str, Scalar], clients: int, callers: int) -> None:
        """Raise `Refused` where there would be nothing to do for a phase or a caller."""
        for each in self.needs_least(parameters, clients, callers):
            if each.value < each.least:
                raise Refused(
                    f"{self.name}: expected {each.name} of {each.least} at least, got {each.value}: {each.why}"
                )


def size_of(text: str) -> int:
    """Bytes as people write them: 8k, 64K, 1M, 2G (powers of 1024), or a plain number. Raises ValueError."""
    cleaned = text.strip().lower().removesuffix("ib").removesuffix("b")
    factor = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}.get(cleaned[-1:], 1)
    number = cleaned[:-1] if factor > 1 else cleaned
    if not (number.isascii() and number.isdecimal()):
        raise ValueError(f"expected bytes such as 4096, 64k or 1M, got {text!r}")
    return int(number) * factor


def _parsed(workload: str, name: str, text: str, default: Scalar) -> Scalar:
    try:
        if isinstance(default, bool):
            return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[
                text.lower()
            ]
        if isinstance(default, int):
            value: int | float = size_of(text)
        elif isinstance(default, float):
            value = float(text)
        else:
            return text
    except (ValueError, KeyError):
        kind = {bool: "yes or no", int: "a number", float: "a number"}[type(default)]
        raise Refused(f"{workload}: expected {kind} for {name}, got {text!r}") from None
    if not 0 <= value < 1 << 50:  # NaN, too
        raise Refused(f"{workload}: expected a number from 0 on for {name}, got {text!r}")
    return value

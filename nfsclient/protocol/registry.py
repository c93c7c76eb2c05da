# SPDX-License-Identifier: MIT
"""The protocols: what each is called, which modules declare its programs, where the texts stand.

What has a row for each protocol is derived from this table, or registers by the protocol's name (`parts_of`):
services of the embedded server, statistics, transcripts, scripts, captures, views of the lint, faults, scapy layers,
policies, versions in the first lines of a run, ids of checks, new-check and labels in reports. A protocol that is added
is one entry here; its programs are in its modules, and what only some rooms need (handlers, policies, views) is a
module of its name there.

The table names modules and does not import them: nothing imports NFSv4 until a run may meet it.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import typing as t
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType, ModuleType

from nfsclient.rpc.program import TRANSIENT, Procedure, Program

Service: t.TypeAlias = t.Literal["nfs", "mount", "portmap"]
"""What has its own port: NFS, MOUNT, and rpcbind or portmap."""
_HERE: t.Final = __name__.rpartition(".")[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class Protocol:
    """One protocol, in all versions that belong together."""

    name: str
    """As ids and statistics have it: `nfs3`."""
    title: str
    """As people write it: `NFSv3`."""
    rfcs: Mapping[int, str]
    """Minor version -> the RFC that states it. Where there are no minor versions: 0."""
    modules: tuple[str, ...] = ()
    """Those that declare its programs: of this package by their last name, others by their whole name."""
    family: str = ""
    """What plans of faults and Wireshark call its program: `nfs`; empty: as the protocol."""
    service: Service = "nfs"
    """The service whose port it is at."""
    nfs_versions: Mapping[int, int] = field(default_factory=dict)
    """Version of the program -> the version of NFS that it is, or goes with."""
    changes_files: bool = True
    """Whether its calls may change what other calls see of files."""
    sections_have_parts: bool = False
    """Whether parts of a section of an operation (DESCRIPTION, ...) are numbered in its RFC."""

    @property
    def has_minor_versions(self) -> bool:
        """Whether calls say a minor version."""
        return any(self.rfcs)

    @property
    def rfc(self) -> str:
        """The RFC of its first minor version."""
        return self.rfcs[min(self.rfcs)]

    @cached_property
    def loaded(self) -> tuple[ModuleType, ...]:
        """Its modules."""
        return tuple(
            importlib.import_module(name if "." in name else f"{_HERE}.{name}") for name in self.modules
        )

    @cached_property
    def declared(self) -> tuple[Program, ...]:
        """Its programs in all versions, and those of its callbacks."""
        found = {
            id(value): value
            for module in self.loaded
            for value in vars(module).values()
            if isinstance(value, Program)
        }
        return tuple(
            sorted(found.values(), key=lambda service: (service.is_callback, service.number, service.version))
        )

    @property
    def programs(self) -> tuple[Program, ...]:
        """What its servers answer to."""
        return tuple(service for service in self.declared if not service.is_callback)

    @property
    def callbacks(self) -> tuple[Program, ...]:
        """What its clients answer to: under a number that each client chooses (RFC 5531 section 8.3), or the same."""
        return tuple(service for service in self.declared if service.is_callback)


_REGISTERED: t.Final[dict[str, Protocol]] = {}
OTHER_PROGRAMS: t.Final[Mapping[int, str]] = MappingProxyType(
    {100_011: "RQUOTA", 100_021: "NLM", 100_024: "NSM"}
)
"""What servers of NFS have besides, and nothing here speaks. None of it changes files."""


def register(protocol: Protocol) -> Protocol:
    """Add a protocol. Raises ValueError for a name that is taken."""
    if protocol.name in _REGISTERED:
        raise ValueError(f"a protocol is registered twice: {protocol.name}")
    _REGISTERED[protocol.name] = protocol
    return protocol


@contextlib.contextmanager
def registered(protocol: Protocol) -> Iterator[Protocol]:
    """A protocol for a while: for tests."""
    register(protocol)
    try:
        yield protocol
    finally:
        del _REGISTERED[protocol.name]


def protocols() -> tuple[Protocol, ...]:
    """All of them, in the order of reports."""
    return tuple(_REGISTERED.values())


def titles() -> dict[str, str]:
    """Name -> title, for records."""
    return {protocol.name: protocol.title for protocol in protocols()}


def protocol_named(name: str) -> Protocol | None:
    """By the name in ids; None for what is no protocol."""
    return _REGISTERED.get(name)


def protocol_of(number: int) -> Protocol | None:
    """The protocol of a program, by the number of the program alone: the first one that has it."""
    return _protocols_by_number(protocols()).get(number)


def protocol_of_version(number: int, version: int) -> Protocol | None:
    """The protocol of a program in one version."""
    return _protocols_by_version(protocols()).get((number, version))


def programs(of: Iterable[Protocol] | None = None) -> Mapping[tuple[int, int], Program]:
    """Number and version -> program, without callbacks; of all protocols, or of some."""
    return _programs(protocols() if of is None else tuple(of))


def callback_of(version: int, number: int | None = None) -> Program | None:
    """The program of this version that is called at clients, under a number of theirs or its own; None if none is."""
    found = (each for protocol in protocols() for each in protocol.callbacks if each.version == version)
    return next((each for each in found if number is None or _is_called(each, number)), None)


def _is_called(callback: Program, number: int) -> bool:
    """Whether a program of callbacks may be called under a number: its own, or one that a client chooses."""
    return number == callback.number or (number in TRANSIENT and callback.number in TRANSIENT)


def procedure_of(number: int, version: int, procedure: int) -> Procedure[t.Any, t.Any] | None:
    """A procedure by its numbers: of a program, or of one that is called at clients; None for what is not declared."""
    programs_of_it = (programs().get((number, version)), callback_of(version, number))
    found = (each.by_number.get(procedure) for each in programs_of_it if each is not None)
    return next((each for each in found if each is not None), None)


@functools.cache
def _programs(of: tuple[Protocol, ...]) -> Mapping[tuple[int, int], Program]:
    return MappingProxyType(
        {(each.number, each.version): each for protocol in of for each in protocol.programs}
    )


@functools.cache
def _protocols_by_version(of: tuple[Protocol, ...]) -> dict[tuple[int, int], Protocol]:
    return {(each.number, each.version): protocol for protocol in of for each in protocol.programs}


@functools.cache
def _protocols_by_number(of: tuple[Protocol, ...]) -> dict[int, Protocol]:
    return {each.number: protocol for protocol in reversed(of) for each in protocol.programs}


_CALLBACKS: t.Final = "-callback"


def is_of_callbacks(family: str) -> bool:
    """Whether a name of `families` is one of callbacks."""
    return family.endswith(_CALLBACKS)


def families() -> dict[str, tuple[Program, ...]]:
    """What plans and Wireshark call a program -> its versions. Callbacks are the family `nfs-callback`."""
    found: dict[str, tuple[Program, ...]] = {}
    for protocol in protocols():
        if protocol.programs:
            family = protocol.family or protocol.name
            found[family] = (*found.get(family, ()), *protocol.programs)
    for protocol in protocols():
        if protocol.callbacks:
            family = f"{protocol.family or protocol.name}{_CALLBACKS}"
            found[family] = (*found.get(family, ()), *protocol.callbacks)
    return found


def modules() -> dict[str, ModuleType]:
    """The last name of each module that declares programs, as scripts call it -> the module."""
    return {
        module.__name__.rpartition(".")[2]: module for protocol in protocols() for module in protocol.loaded
    }


def parts_of(package: str, form: str = "{}") -> tuple[ModuleType, ...]:
    """The modules of a package that are named after protocols or their modules, imported: what these bring for a job.

    A protocol for which there is no such module has nothing to bring. `form` has the place of the name in the module's.
    """
    of_protocols = [
        name
        for protocol in protocols()
        for name in (protocol.name, *(each.rpartition(".")[2] for each in protocol.modules))
    ]
    names = [f"{package}.{form.format(name)}" for name in dict.fromkeys(of_protocols)]
    return tuple(
        importlib.import_module(name) for name in names if importlib.util.find_spec(name) is not None
    )


register(
    Protocol(
        name="nfs2",
        title="NFSv2",
        rfcs={0: "RFC 1094"},
        modules=("nfs2",),
        family="nfs",
        nfs_versions={2: 2},
    )
)
register(
    Protocol(
        name="nfs3",
        title="NFSv3",
        rfcs={0: "RFC 1813"},
        modules=("nfs3",),
        family="nfs",
        nfs_versions={3: 3},
    )
)
register(
    Protocol(
        name="nfs4",
        title="NFSv4",
        rfcs={1: "RFC 5661", 2: "RFC 7862"},
        modules=("nfs4",),
        family="nfs",
        nfs_versions={4: 4},
        sections_have_parts=True,
    )
)
register(
    Protocol(
        name="snfs",
        title="SNFS",
        rfcs={0: "Spritely NFS"},
        modules=("snfs",),
        nfs_versions={2: 2},
    )
)
register(
    Protocol(
        name="mount",
        title="MOUNT",
        rfcs={0: "RFC 1813"},
        modules=("mount",),
        service="mount",
        nfs_versions={1: 2, 2: 2, 3: 3},
        changes_files=False,
    )
)
register(
    Protocol(
        name="portmap",
        title="rpcbind",
        rfcs={0: "RFC 1833"},
        modules=("portmap", "rpcbind"),
        service="portmap",
        changes_files=False,
    )
)
register(Protocol(name="rpc", title="ONC RPC", rfcs={0: "RFC 1831"}, changes_files=False))

# SPDX-License-Identifier: MIT
"""The reference server: NFSv3, MOUNT, portmap and rpcbind over a file system in memory."""

from __future__ import annotations

from nfsserver import (
    arguments_mutants,
    callit_mutants,
    credentials_mutants,
    datagram_mutants,
    mount_handle_mutants,
    mount_list_mutants,
    mount_mutants,
    mount_path_mutants,
    portmap_mutants,
    rpc_mutants,
    rpcbind_mutants,
    survival_mutants,
    transport_mutants,
)
from nfsserver.fs import Clock, FileSystem, Limits, ManualClock, SystemClock
from nfsserver.knobs import KNOBS, BadKnob, Knob, Knobs, Settings, parse_setting
from nfsserver.mutants import (
    DuplicateMutant,
    Mutant,
    UnknownMutant,
    all_mutants,
    declare_mutant,
    find_mutant,
    mutant,
    transport_mutant,
    wire_mutant,
)
from nfsserver.server import Server

__all__ = [
    "KNOBS",
    "BadKnob",
    "Clock",
    "DuplicateMutant",
    "FileSystem",
    "Knob",
    "Knobs",
    "Limits",
    "ManualClock",
    "Mutant",
    "Server",
    "Settings",
    "SystemClock",
    "UnknownMutant",
    "all_mutants",
    "arguments_mutants",
    "callit_mutants",
    "credentials_mutants",
    "datagram_mutants",
    "declare_mutant",
    "find_mutant",
    "mount_handle_mutants",
    "mount_list_mutants",
    "mount_mutants",
    "mount_path_mutants",
    "mutant",
    "parse_setting",
    "portmap_mutants",
    "rpc_mutants",
    "rpcbind_mutants",
    "survival_mutants",
    "transport_mutant",
    "transport_mutants",
    "wire_mutant",
]

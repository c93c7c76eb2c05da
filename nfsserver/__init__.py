# SPDX-License-Identifier: MIT
"""The reference server: NFSv2, NFSv3, NFSv4.1, NFSv4.2, MOUNT, portmap and rpcbind over file systems in memory."""

from __future__ import annotations

from nfsserver.fs import Clock, FileSystem, Limits, ManualClock, SystemClock
from nfsserver.knobs import KNOBS, BadKnob, Knob, Knobs, parse_setting
from nfsserver.server import Server
from nfsserver.settings import Settings

__all__ = [
    "KNOBS",
    "BadKnob",
    "Clock",
    "FileSystem",
    "Knob",
    "Knobs",
    "Limits",
    "ManualClock",
    "Server",
    "Settings",
    "SystemClock",
    "parse_setting",
]

# SPDX-License-Identifier: MIT
"""Control of a server that somebody else runs: by commands of its owner, or by a person at the terminal."""

from nfstargets.control.actions import (
    ACTIONS,
    NO_CONTROLS,
    BadControl,
    Controls,
    missing_control,
    parse_controls,
)
from nfstargets.control.target import ControlledTarget

__all__ = [
    "ACTIONS",
    "NO_CONTROLS",
    "BadControl",
    "ControlledTarget",
    "Controls",
    "missing_control",
    "parse_controls",
]

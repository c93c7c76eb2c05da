# SPDX-License-Identifier: MIT
"""Functions of the user's in a plan: each gets a scapy packet, and returns a packet, several, or None to drop it.

Only a plan that the user wrote names one: nothing that a server or a capture says is ever looked up here.
"""

from __future__ import annotations

import importlib
import re
import sys
import typing as t
from pathlib import Path

from nfsclient.similar import similar_text
from nfsfaults.names import BadPlan

PacketFunction: t.TypeAlias = t.Callable[[t.Any], t.Any]
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)


class CannotMake(Exception):
    """A packet cannot be made as the plan says: a function raised or returned what is no packet, or a value does not
    fit its field. The text names the function or the field, the packet and what went wrong, in one line."""


def load(name: str, folder: Path) -> PacketFunction:
    """The function ``module:function``; modules in `folder` come first. Raises `BadPlan`."""
    if not _NAME.fullmatch(name):
        raise BadPlan(f"name: expected module:function, seen {name!r}")
    module_name, _, function_name = name.partition(":")
    place = str(folder.resolve())
    sys.path.insert(0, place)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise BadPlan(
            f"name: {name}: {module_name!r} cannot be imported ({type(error).__name__}: {error}); "
            "a module next to the plan, or an installed one, is expected"
        ) from error
    finally:
        if place in sys.path:
            sys.path.remove(place)
    found = getattr(module, function_name, None)
    if not callable(found):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        near = similar_text(function_name, known)
        raise BadPlan(f"name: {name}: {module_name!r} has no function {function_name!r}{near}")
    return t.cast("PacketFunction", found)

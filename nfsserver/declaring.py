# SPDX-License-Identifier: MIT
"""How a knob is declared: the function for the fields of `nfsserver.settings.Settings`."""

from __future__ import annotations

import dataclasses
import typing as t

Value: t.TypeAlias = int | float | bool | str | None
"""A value of a knob. None is the default of some."""


def knob(
    default: Value,
    meaning: str,
    *cites: str,
    draws: tuple[Value, ...],
    rarely: bool = False,
    nonstrict: tuple[str, ...] = (),
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
    limit: str | None = None,
    is_of_rpc: bool = False,
    of_nfs4: bool = False,
    of_snfs: bool = False,
) -> t.Any:
    """One knob; `nfsserver.knobs.Knob` says what the parameters mean."""
    metadata = {name: value for name, value in locals().items() if name != "default"}
    return dataclasses.field(default=default, metadata=metadata)

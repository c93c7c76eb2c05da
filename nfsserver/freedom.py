# SPDX-License-Identifier: MIT
"""How a protocol face obeys a knob: middleware that is there while the knob is turned."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsserver.handlers import AnyProcedure
from nfsserver.knobs import Settings

if t.TYPE_CHECKING:
    from nfsserver.middleware import AnyAroundCall


class Freedom(t.NamedTuple):
    """What is put around `procedures` while `is_used` says so, inside all middleware."""

    procedures: tuple[AnyProcedure, ...]
    is_used: Callable[[Settings], bool]
    middleware: AnyAroundCall

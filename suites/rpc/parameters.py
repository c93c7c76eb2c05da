# SPDX-License-Identifier: MIT
"""Parameters of checks: transports, numbers, and short ids for them."""

from __future__ import annotations

import pytest

POWERS = {2**31 - 1: "2g-1", 2**31: "2g", 2**32 - 1: "4g-1"}


def short(value: object) -> str | None:
    """The id of a number: powers of two as 2g or 4g-1, other numbers in full. None: pytest's own id."""
    if not isinstance(value, int):
        return None
    return POWERS.get(value, str(value))


TRANSPORTS = pytest.mark.parametrize("proto", ["tcp", "udp"])
HIGHEST = 2**32 - 1

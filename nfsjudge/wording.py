# SPDX-License-Identifier: MIT
"""Words that messages and reports share."""

from __future__ import annotations

from collections.abc import Sequence

NEEDS_PACKETS = "the plan needs packets: "
NEEDS_FUNCTION = "the plan has a function that gets packets: "
"""How a reason begins of a check that this machine cannot make, for lack of scapy or of a privilege."""
NEEDS_CLIENT = "the client "
"""How a reason begins of a check that a client cannot make: it has no locks, or does not speak the version."""


def count(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: ``1 check``, ``2 checks``; `plural` if it does not end in s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def as_size(number: int) -> str:
    """Bytes in the unit of the largest power of 1024 that fits, with a fraction where it says more: ``1.5 GiB``."""
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if number >= (1 << shift) - 1:
            return f"{round(number / (1 << shift), 1):g} {unit}"
    return count(number, "byte")


def listing(words: Sequence[str]) -> str:
    """``A``, ``A and B``, ``A, B and C``; empty without words."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))

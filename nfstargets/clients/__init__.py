# SPDX-License-Identifier: MIT
"""Clients under test: how each is started and does work in an export; one is a target of a run (`target`).

This module is small, since every run asks it which kind its target is.
"""

from __future__ import annotations

import typing as t

KIND: t.Final = "client"
"""What the name of such a target begins with: ``client:libnfs``."""


def is_client(target: str) -> bool:
    """Whether the name of a target is that of a client."""
    return target.partition(":")[0] == KIND and "://" not in target

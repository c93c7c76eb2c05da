# SPDX-License-Identifier: MIT
"""Minor versions: a check that holds for several is parametrized with them."""

from __future__ import annotations

import typing as t

import pytest

MINORS: t.Final = pytest.mark.parametrize("minor", [1, 2], ids=["4.1", "4.2"])
"""The check holds for NFSv4.1 and 4.2: its clients and sessions speak one of them. Without it they speak 4.1."""

# SPDX-License-Identifier: MIT
"""How long tests wait for what must happen: only what hangs takes longer, however busy the machine is."""

from __future__ import annotations

import typing as t

AT_MOST: t.Final = 600.0
"""Seconds. Nothing is expected to take this long: no test waits for it to pass."""

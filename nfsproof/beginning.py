# SPDX-License-Identifier: MIT
"""The first plugin of a run: what comes before the imports, in workers of xdist as well, which no starter has begun."""

from __future__ import annotations

from nfsproof.starter import collect_rarely, keep_code


def pytest_addoption() -> None:
    """Called when pytest has read the name of this plugin, before it imports the next one."""
    collect_rarely()
    keep_code()

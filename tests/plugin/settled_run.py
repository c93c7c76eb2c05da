# SPDX-License-Identifier: MIT
"""A plugin for runs whose captures tshark reads: nothing random in them, and fewer checks if so wished.

With ``NFSPROOF_EVERY=6`` every sixth check is run.
"""

from __future__ import annotations

import os
import random
import secrets

import pytest

EVERY = "NFSPROOF_EVERY"


def pytest_configure() -> None:
    """XIDs, names of directories, handles and verifiers: all come from `secrets`."""
    source = random.Random(1813)
    vars(secrets).update(
        randbits=source.getrandbits,
        token_bytes=lambda size=32: source.randbytes(size or 32),
        token_hex=lambda size=32: source.randbytes(size or 32).hex(),
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out all but every so-manieth check."""
    step = int(os.environ.get(EVERY, "1"))
    kept = items[::step]
    config.hook.pytest_deselected(items=[item for number, item in enumerate(items) if number % step])
    items[:] = kept

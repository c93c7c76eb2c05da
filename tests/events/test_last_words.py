# SPDX-License-Identifier: MIT
"""Why a run of an event came to nothing, from what it printed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nfsproof.events.runs import OUTPUT, _last_words


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nfsproof: a/b is now called a/c\nERROR: no answer\n  -> start it\n", "no answer"),
        ("first\nnfsproof: wrong\nlast\n", "wrong"),
        ("first\nlast\n", "last"),
        ("", "exit status 4"),
    ],
)
def test_the_error_is_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / OUTPUT).write_text(text)
    run: Any = SimpleNamespace(folder=tmp_path, status=4)
    assert _last_words(run) == reason

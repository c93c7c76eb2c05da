# SPDX-License-Identifier: MIT
"""One target of a target file, for `nfsproof run FILE.toml` and `nfsproof target check`."""

from __future__ import annotations

from pathlib import Path

import pytest

from nfsproof.events.chosen import load_target, names_checks
from nfsproof.exits import Trouble
from nfsproof.target_trial import try_out

FILE = """
[[target]]
target = "client:nfsclient"
label = "A"

[[target]]
target = "client:program"
label = "B"

[target.program]
read = "no-such-program-anywhere {url}"
"""


@pytest.mark.parametrize(
    "word",
    ["nfs3", "nfs4/OPEN", "clients/lost", "CLIENTS", "recovery/WRITE", "faults", "suites/rpc/test_a.py"],
)
def test_words_that_name_checks(word: str) -> None:
    assert names_checks(["-x", word])


@pytest.mark.parametrize("word", ["-x", "--lint=off", "2", "clientele", "embedded"])
def test_words_that_name_none(word: str) -> None:
    assert not names_checks([word])


def test_a_client_is_tried_out(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    file.write_text(FILE, encoding="utf-8")
    said: list[str] = []
    assert try_out(load_target(f"{file}#A"), said.append)
    assert "nfsclient" in said[0]
    entry = load_target(f"{file}#B")
    said.clear()
    assert not try_out(entry, said.append)
    assert "no-such-program-anywhere" in said[0]
    with pytest.raises(Trouble, match="name one: "):
        load_target(str(file))

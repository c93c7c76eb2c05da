# SPDX-License-Identifier: MIT
"""How Allure's own command line, written in JavaScript, makes a page of results: its configuration, the command.

nfsproof does not start it: npm would fetch a hundred packages, whose authors nobody here knows.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from reports.allure import category_rules

PACKAGE = "allure@3.18.0"
"""Allure 3 needs no Java, and makes a page in one file that works from disk."""
_CONFIG = {
    "name": "nfsproof",
    "plugins": {"awesome": {"options": {"singleFile": True, "groupBy": ["epic", "feature", "story"]}}},
}


def prepare(folder: Path) -> list[str]:
    """Write the configuration next to `results` in a folder; the command that makes ``page/index.html`` there.

    Raises OSError if the folder cannot be written.
    """
    folder = folder.absolute()
    config, rules = folder / "allurerc.json", folder / "results" / "categories.json"
    # Allure 3 does not read the categories of the results.
    categories = json.loads(rules.read_text(encoding="utf-8")) if rules.exists() else category_rules()
    config.write_text(json.dumps(_CONFIG | {"categories": categories}, indent=1) + "\n", encoding="utf-8")
    options = ["--config", str(config), "--output", str(folder / "page"), str(folder / "results")]
    return ["npx", "--yes", PACKAGE, "generate", *options]


def how_to_make_it(command: list[str]) -> str:
    """A line for people."""
    return f"to make a page of them with Node.js 20 or later: {shlex.join(command)}"

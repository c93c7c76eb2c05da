# SPDX-License-Identifier: MIT
"""Has Allure's own command line, which is written in JavaScript, make a page of results."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from reports.allure import category_rules

PACKAGE = "allure@3.18.0"
"""Of the npm registry. Allure 3: it needs no Java, and makes a page in one file that works from disk."""

_SECONDS = 600.0
"""The first time npx fetches some 50 MB."""


_CONFIG = {
    "name": "nfsproof",
    "plugins": {"awesome": {"options": {"singleFile": True, "groupBy": ["epic", "feature", "story"]}}},
}
# The page would tell Google that it was opened; Allure has no switch for it.
_ANALYTICS = re.compile(rb'<script async src="https://www\.googletagmanager\.com/[^"<>]*"></script>')


def render(folder: Path) -> str:
    """Make `page/index.html` of `results` in a folder; a line that says where it is, or how it can be made.

    Raises OSError if the folder cannot be written.
    """
    page, config = folder.absolute() / "page", folder.absolute() / "allurerc.json"
    rules = folder / "results" / "categories.json"
    categories = json.loads(rules.read_text(encoding="utf-8")) if rules.exists() else category_rules()
    # Allure 3 does not read those of the results.
    config.write_text(json.dumps(_CONFIG | {"categories": categories}, indent=1) + "\n", encoding="utf-8")
    options = ["--config", str(config), "--output", str(page), str(folder.absolute() / "results")]
    command = ["npx", "--yes", PACKAGE, "generate", *options]
    by_hand = shlex.join(command)
    npx = shutil.which("npx")
    if npx is None:
        return f"the page was not made: npx is missing. Install Node.js 20 or later, then run: {by_hand}"
    try:
        done = subprocess.run(
            [npx, *command[1:]],
            env=os.environ | {"ALLURE_NO_ANALYTICS": "1", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"the page was not made: Allure took longer than {_SECONDS:.0f} s; to retry: {by_hand}"
    except OSError as error:
        return f"the page was not made: {npx}: {error.strerror}; to retry: {by_hand}"
    made = page / "index.html"
    if done.returncode == 0 and made.is_file():
        made.write_bytes(_ANALYTICS.sub(b"", made.read_bytes(), count=1))
        return f"written: {made}"
    said = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    why = next((line for line in said if "err" in line.lower()), said[-1] if said else "no message")
    return f"the page was not made: {why[:200]!r} (exit status {done.returncode}); to retry: {by_hand}"

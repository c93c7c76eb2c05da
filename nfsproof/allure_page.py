# SPDX-License-Identifier: MIT
"""Has Allure's own command line, which is written in JavaScript, make a page of results."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

PACKAGE = "allure@3.18.0"
"""Of the npm registry. Allure 3: it needs no Java, and makes a page in one file that works from disk."""

_SECONDS = 600.0
"""The first time npx fetches some 50 MB."""


def render(results: Path, page: Path) -> str:
    """Make `page`/index.html; a line that says where it is, or why not and how it can be made."""
    command = ["npx", "--yes", PACKAGE, *_arguments(results, page)]
    by_hand = shlex.join(command)
    npx = shutil.which("npx")
    if npx is None:
        return f"the page was not made: there is no npx (install Node.js 20 or later); then: {by_hand}"
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
        return f"the page was not made: Allure took longer than {_SECONDS:.0f} s; to try again: {by_hand}"
    except OSError as error:
        return f"the page was not made: {npx}: {error.strerror}; to try again: {by_hand}"
    made = page / "index.html"
    if done.returncode == 0 and made.is_file():
        return f"written: {made}"
    said = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    why = next((line for line in said if "err" in line.lower()), said[-1] if said else "it said nothing")
    return f"the page was not made: {why[:200]!r} (exit status {done.returncode}); to try again: {by_hand}"


def _arguments(results: Path, page: Path) -> list[str]:
    name = ["--report-name", "nfsproof", "--group-by", "epic,feature,story"]
    return ["awesome", "--single-file", *name, "--output", str(page.absolute()), str(results.absolute())]

# SPDX-License-Identifier: MIT
"""Has Allure's own command line, which is written in JavaScript, make a page of results.

npm installs it the first time, with the versions and checksums of `allure/package-lock.json`, and runs no script of any
package.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from nfsproof import starter
from reports.allure import category_rules

LOCKED = Path(__file__).parent / "allure"
"""`package.json` and its lock file: Allure 3. It needs no Java, and makes a page in one file that works from disk."""
PACKAGE = "allure@3.18.0"

_SECONDS = 600.0
"""The first time npm fetches some 50 MB."""
_INSTALL = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]


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
    by_hand = shlex.join(["npx", "--yes", PACKAGE, "generate", *options])
    npm = shutil.which("npm")
    if npm is None:
        return f"the page was not made: npm is missing. Install Node.js 20 or later, then run: {by_hand}"
    try:
        program = _installed(npm)
        _run([str(program), "generate", *options])
        made = page / "index.html"
        made.write_bytes(_ANALYTICS.sub(b"", made.read_bytes(), count=1))
    except _Failed as failure:
        return f"the page was not made: {failure}; to retry: {by_hand}"
    except OSError as error:
        return f"the page was not made: {error.filename}: {error.strerror}; to retry: {by_hand}"
    return f"written: {made}"


class _Failed(Exception):
    """A program did not do its work; why, in a line."""


def _installed(npm: str) -> Path:
    """The program of Allure, in the cache; npm installs what is not there, whole or not at all."""
    lock = (LOCKED / "package-lock.json").read_bytes()
    home = starter.cache_folder() / f"allure-{hashlib.sha256(lock).hexdigest()[:12]}"
    program = home / "node_modules" / ".bin" / "allure"
    if program.exists():
        return program
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".allure-", dir=home.parent) as scratch:
        work = Path(scratch) / "work"
        shutil.copytree(LOCKED, work)
        _run([npm, *_INSTALL[1:]], work)
        try:
            work.rename(home)
        except OSError:
            if not program.exists():  # otherwise another process was faster
                raise
    return program


def _run(command: list[str], folder: Path | None = None) -> None:
    name = Path(command[0]).name
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=os.environ | {"ALLURE_NO_ANALYTICS": "1", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _Failed(f"{name} took longer than {_SECONDS:.0f} s") from error
    if done.returncode == 0:
        return
    said = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    why = next((line for line in said if "err" in line.lower()), said[-1] if said else "no message")
    raise _Failed(f"{why[:200]!r} (exit status {done.returncode} of {name})")

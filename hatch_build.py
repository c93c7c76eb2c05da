# SPDX-License-Identifier: MIT
"""What a distribution says about itself: the commit that it was made from, and links that work on a package index.

The commit comes from git. The address of the project comes from NFSPROOF_PROJECT_URL, or else from the remote `origin`
if that is a public one. A source distribution keeps both in `built.json`, so that a wheel made from it says the same.
Without an address, the README of the distribution has no links to files: none is better than a broken one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

FACTS = "built.json"
_HOSTED = re.compile(
    r"(?:https://|git@|ssh://git@)((?:github|gitlab)\.com|codeberg\.org)[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?"
)
_PICTURE = re.compile(r"!\[([^\]]*)\]\((?!https?:)([^)]+)\)\n*")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)")


def facts(root: Path) -> dict[str, str]:
    """`commit` and `url`, each empty if not known."""
    kept = root / FACTS
    if kept.is_file():
        found: dict[str, str] = json.loads(kept.read_text(encoding="utf-8"))
        return found
    is_checkout = (root / ".git").exists()
    describe = ("describe", "--always", "--dirty", "--abbrev=9", "--exclude=*")
    commit = _git(root, *describe) if is_checkout else ""
    remote = _git(root, "remote", "get-url", "origin") if is_checkout else ""
    hosted = _HOSTED.fullmatch(remote)
    url = os.environ.get("NFSPROOF_PROJECT_URL") or (f"https://{hosted[1]}/{hosted[2]}" if hosted else "")
    return {"commit": commit, "url": url.rstrip("/")}


def _git(root: Path, *words: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(root), *words],  # noqa: S607
            env=environment | {"GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def readme(text: str, url: str) -> str:
    """The README with absolute links and pictures; without an address, with the words of the links only."""
    if not url:
        return _LINK.sub(lambda link: link[1], _PICTURE.sub("", text))
    text = _PICTURE.sub(lambda picture: f"![{picture[1]}]({url}/raw/HEAD/{picture[2]})\n\n", text)
    return _LINK.sub(lambda link: f"[{link[1]}]({url}/blob/HEAD/{link[2]}{link[3] or ''})", text)


class CustomMetadataHook(MetadataHookInterface):
    """README and addresses."""

    def update(self, metadata: dict[str, object]) -> None:
        root = Path(self.root)
        url = facts(root)["url"]
        text = readme((root / "README.md").read_text(encoding="utf-8"), url)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        pages = {
            "Documentation": "blob/HEAD/docs/README.md",
            "Changelog": "blob/HEAD/CHANGELOG.md",
            "Issues": "issues",
        }
        metadata["urls"] = (
            {"Source": url} | {name: f"{url}/{page}" for name, page in pages.items()} if url else {}
        )


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """The file of facts, in every distribution but an editable installation, which asks git itself."""

    def initialize(self, version: str, build_data: dict[str, object]) -> None:
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name) / FACTS
        file.write_text(json.dumps(facts(Path(self.root))) + "\n", encoding="utf-8")
        inside = FACTS if self.target_name == "sdist" else f"nfsproof/_home/{FACTS}"
        included = build_data["force_include"]
        assert isinstance(included, dict)
        included[str(file)] = inside

    def finalize(self, version: str, build_data: dict[str, object], artifact_path: str) -> None:  # noqa: ARG002
        if version != "editable":
            self._folder.cleanup()

# SPDX-License-Identifier: MIT
"""What a distribution says about itself (hatch_build.py)."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from tests.needs import need
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[1]
URL = "https://example.org/nfsproof"


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def git(folder: Path, *words: str) -> None:
    need("git")
    who = ["-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True, timeout=AT_MOST)


def test_links_and_pictures_are_absolute(hook: ModuleType) -> None:
    text = "![A](docs/a.png)\n\nSee [this](docs/b.md#part), [that](https://x.org/) and [below](#c)."
    assert hook.readme(text, URL) == (
        f"![A]({URL}/raw/HEAD/docs/a.png)\n\n"
        f"See [this]({URL}/blob/HEAD/docs/b.md#part), [that](https://x.org/) and [below](#c)."
    )


def test_without_an_address_there_are_words_and_no_broken_links(hook: ModuleType) -> None:
    text = hook.readme((ROOT / "README.md").read_text(encoding="utf-8"), "")
    assert "docs/guide.md leads from" in text
    assert re.findall(r"\]\((?!https://)", text) == []
    assert "![" not in text


@pytest.mark.parametrize(
    ("remote", "url"),
    [
        ("https://github.com/who/nfsproof.git", "https://github.com/who/nfsproof"),
        ("git@gitlab.com:who/nfsproof.git", "https://gitlab.com/who/nfsproof"),
        ("https://user:secret@github.com/who/nfsproof", ""),
        ("/home/me/nfsproof", ""),
        ("ssh://internal.example/nfsproof", ""),
    ],
)
def test_the_address_is_that_of_a_public_remote(
    hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remote: str, url: str
) -> None:
    monkeypatch.delenv("NFSPROOF_PROJECT_URL", raising=False)
    git(tmp_path, "init", "-q")
    git(tmp_path, "remote", "add", "origin", remote)
    assert hook.facts(tmp_path)["url"] == url


def test_the_facts_of_a_source_distribution_are_kept(
    hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NFSPROOF_PROJECT_URL", "https://other.example/")
    assert hook.facts(tmp_path) == {"commit": "", "url": "https://other.example"}
    (tmp_path / "built.json").write_text(json.dumps({"commit": "abc", "url": URL}))
    assert hook.facts(tmp_path) == {"commit": "abc", "url": URL}


def test_packages_that_others_import_have_types_and_keywords_name_the_protocols() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    public = set(wheel["only-include"]) - set(wheel["sources"])
    assert public
    assert [name for name in sorted(public) if not (ROOT / name / "py.typed").is_file()] == []
    assert {"nfsv2", "nfsv3", "nfsv4"} <= set(settings["project"]["keywords"])
    assert settings["project"]["entry-points"]["pytest11"] == {"nfsproof": "nfsproof.pytest_plugin"}


def test_the_container_can_write_what_the_readme_mounts() -> None:
    recipe = (ROOT / "Containerfile").read_text(encoding="utf-8")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"podman run [^\n]*", text)
    assert command in recipe
    (place,) = re.findall(r'-v "\$PWD:(/\w+)"', command)
    assert f"WORKDIR {place}\n" in recipe  # where a run makes nfsproof-report
    assert '--user "$(id -u)"' in command  # the folder of the host belongs to whoever runs this

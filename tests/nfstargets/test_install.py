# SPDX-License-Identifier: MIT
"""Servers installed on demand: whole or not at all, in their own cache, with words for what is missing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from nfsproof import cli, installing
from nfstargets import TargetError, make_target
from nfstargets.cache import CommandShop, InstallError, cache_folder, find_installation, home_of, install
from nfstargets.recipes import MAINS, RECIPES, Installable, Recipe, Workshop, WrongDigest
from tests.waiting import AT_MOST

HOME = Path(__file__).parents[2]


def build_program(shop: Workshop, _recipe: Installable) -> None:
    shop.run("writing", sys.executable, "-c", f"open({str(shop.into / 'program')!r}, 'w').write('x')")


def build_half(shop: Workshop, _recipe: Installable) -> None:
    (shop.into / "half").mkdir()
    (shop.into / "half").chmod(0o500)
    shop.run("failing", sys.executable, "-c", "import sys; sys.exit('no such crate')")


def interrupted(_shop: Workshop, _recipe: Installable) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("NFSPROOF_SERVERS", str(folder))
    return folder


@pytest.fixture
def recipe() -> Recipe:
    return replace(RECIPES["fernfs"], build=build_program, tool=sys.executable)


def contents(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NFSPROOF_SERVERS", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("NFSPROOF_SERVERS")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "nfsproof/servers"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == Path.home() / ".cache/nfsproof/servers"


def test_what_was_installed_is_found(cache: Path, recipe: Recipe) -> None:
    said: list[str] = []
    assert find_installation(recipe) is None
    home = install(recipe, said.append)
    assert home == home_of(recipe) == find_installation(recipe)
    assert contents(home) == ["installed.json", "program"]
    assert contents(cache) == [home.name]
    assert said == ["writing"]


def test_another_version_is_not_what_was_installed(cache: Path, recipe: Recipe) -> None:
    install(recipe, lambda _line: None)
    assert find_installation(replace(recipe, version="0.0.1")) is None
    (home_of(recipe) / "installed.json").write_text("{}")
    assert find_installation(recipe) is None
    assert install(recipe, lambda _line: None) == find_installation(recipe)
    assert len(contents(cache)) == 1


def test_a_failure_leaves_nothing_and_tells_the_last_words(cache: Path, recipe: Recipe) -> None:
    with pytest.raises(
        InstallError, match=r"(?s)failing failed.*exit status 1.*network.*cargo.*no such crate"
    ):
        install(replace(recipe, build=build_half), lambda _line: None)
    assert contents(cache) == []


def test_what_a_builder_keeps_is_there_for_the_next_try(cache: Path, recipe: Recipe) -> None:
    found: list[bool] = []

    def build(shop: Workshop, _recipe: Installable) -> None:
        found.append((shop.kept / "download").exists())
        shop.kept.mkdir(exist_ok=True)
        (shop.kept / "download").touch()
        if len(found) == 1:
            raise InstallError("a download broke")

    recipe = replace(recipe, build=build)
    with pytest.raises(InstallError, match="broke"):
        install(recipe, lambda _line: None)
    install(recipe, lambda _line: None)
    assert found == [False, True]
    assert contents(cache) == [home_of(recipe).name]


def test_an_interrupt_leaves_nothing(cache: Path, recipe: Recipe) -> None:
    with pytest.raises(KeyboardInterrupt):
        install(replace(recipe, build=interrupted), lambda _line: None)
    assert contents(cache) == []


def test_what_a_killed_installer_left_is_removed(cache: Path, recipe: Recipe) -> None:
    (cache / ".fernfs-left" / "home").mkdir(parents=True)
    install(recipe, lambda _line: None)
    assert contents(cache) == [home_of(recipe).name]


def test_a_missing_package_manager_is_one_line(cache: Path, recipe: Recipe) -> None:
    with pytest.raises(InstallError) as caught:
        install(replace(recipe, tool="no-such-cargo"), lambda _line: None)
    assert "no-such-cargo, which is not in PATH; get cargo and rustc 1.83" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_cache_that_cannot_be_written_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe: Recipe
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NFSPROOF_SERVERS", str(tmp_path / "file" / "below"))
    with pytest.raises(InstallError, match="NFSPROOF_SERVERS=FOLDER"):
        install(recipe, lambda _line: None)


def test_a_command_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    shop = CommandShop(
        into=tmp_path,
        scratch=tmp_path,
        kept=tmp_path,
        say=lambda _line: None,
        advice="",
        limit=2.0,
    )
    child = "import time, os; print(os.getpid(), flush=True); time.sleep(60)"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with pytest.raises(InstallError, match="took more than 2 s"):
        shop.run("waiting", sys.executable, "-c", program)
    pid = int((tmp_path / "stdout").read_text())
    deadline = time.monotonic() + AT_MOST
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
        assert time.monotonic() < deadline
        os.sched_yield()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_tidies_up_when_it_is_ended(cache: Path, number: signal.Signals) -> None:
    program = f"""
import os, sys
from dataclasses import replace
from nfstargets import recipes
from nfsproof import cli, installing
def build(shop, recipe):
    kill = "import os, time; os.kill({{}}, {int(number)}); time.sleep(60)".format(os.getpid())
    shop.run("killing", sys.executable, "-c", kill)
installing.RECIPES["fernfs"] = replace(recipes.RECIPES["fernfs"], build=build, tool=sys.executable)
sys.exit(cli.run_command_line(["install", "fernfs"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": str(HOME), "NFSPROOF_SERVERS": str(cache)},
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "interrupted" in done.stderr
    assert contents(cache) == []


@pytest.mark.parametrize("name", RECIPES)
def test_a_target_that_is_not_installed_says_how_to_get_it(cache: Path, name: str) -> None:
    with pytest.raises(TargetError) as caught:
        make_target(name).start()
    assert str(caught.value).endswith(f"is not installed; nfsproof install {name}")
    assert not cache.exists()


def test_an_export_that_a_server_lacks_is_reported() -> None:
    with pytest.raises(TargetError, match="expected nfs3-server:folder or nfs3-server:memory"):
        make_target("nfs3-server:disk")


def test_the_list_tells_what_is_there(cache: Path, recipe: Recipe) -> None:
    install(recipe, lambda _line: None)
    said = CliRunner().invoke(cli.commands, ["install", "--list"]).output
    lines = {line.split()[0]: line for line in said.splitlines()}
    assert {*RECIPES, "knfsd", "knfsd:v2", "knfsd:qemu", "kept"} == set(lines)
    assert " installed " in lines["fernfs"]
    assert "not installed" in lines["go-nfs"]
    assert lines["kept"].endswith(str(cache))


def test_what_it_cannot_be_used_without_is_installed_too(
    cache: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = replace(recipe, name="it:part", needs=(recipe,))
    monkeypatch.setattr(
        installing, "installables", lambda: {installable.name: installable for installable in (part, recipe)}
    )
    home = installing.install_by_name("it:part", lambda _line: None)
    # A colon would part words on command lines.
    assert home.name == f"it-part-{recipe.version.removeprefix('v')}"
    assert find_installation(recipe) is not None
    assert len(contents(cache)) == 2


def test_an_unknown_server_is_a_usage_error(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command_line(["install", "nosuch"]) == 4
    assert "servers that can: go-nfs" in capsys.readouterr().err
    assert cli.run_command_line(["install"]) == 4
    assert not cache.exists()


@dataclass
class FakeShop:
    """A workshop in which nothing runs: the registry has `digest`."""

    into: Path
    scratch: Path
    digest: str
    kept: Path = Path("/nowhere")
    limit: float = 60.0
    ran: list[list[str]] = field(default_factory=list)

    def run(self, what: str, *argv: str | Path, **environment: str | Path) -> str:
        self.ran.append([str(word) for word in argv])
        if "generate-lockfile" in argv:
            lock = f'[[package]]\nname = "fernfs"\nversion = "0.1.5"\nchecksum = "{self.digest}"\n'
            (self.scratch / "pins" / "Cargo.lock").write_text(lock)
        return json.dumps({"Dir": str(self.scratch), "Sum": self.digest})


@pytest.mark.parametrize("name", ["go-nfs", "fernfs"])
def test_another_checksum_stops_before_anything_of_the_server_runs(tmp_path: Path, name: str) -> None:
    recipe = RECIPES[name]
    shop = FakeShop(tmp_path / "into", tmp_path, "h1:other")
    with pytest.raises(WrongDigest, match=f"expected the checksum {re.escape(recipe.digest)}.*has h1:other"):
        recipe.build(shop, recipe)
    assert len(shop.ran) == 1  # it asked


def test_the_checksum_of_the_recipe_is_the_one_that_is_compared(tmp_path: Path) -> None:
    recipe = RECIPES["fernfs"]
    shop = FakeShop(tmp_path / "into", tmp_path, recipe.digest)
    recipe.build(shop, recipe)
    assert [words[1] for words in shop.ran] == ["generate-lockfile", "install"]
    assert "--locked" in shop.ran[1]


def test_pip_gets_the_checksums(tmp_path: Path) -> None:
    recipe = RECIPES["shenaniganfs"]
    shop = FakeShop(tmp_path / "into", tmp_path, "")
    recipe.build(shop, recipe)
    assert "--require-hashes" in shop.ran[-1]
    assert f"--hash=sha256:{recipe.digest}" in (tmp_path / "requirements.txt").read_text()


def test_a_wrong_checksum_is_one_line_and_leaves_nothing(cache: Path, recipe: Recipe) -> None:
    def wrong(_shop: Workshop, _recipe: Installable) -> None:
        raise WrongDigest("fernfs@0.1.5", "a", "b")

    with pytest.raises(InstallError) as caught:
        install(replace(recipe, build=wrong), lambda _line: None)
    assert str(caught.value) == (
        "fernfs was not installed. fernfs@0.1.5: expected the checksum a, the registry has b"
    )
    assert contents(cache) == []


def test_the_lock_file_of_our_crate_has_the_checksum_of_the_recipe() -> None:
    recipe = RECIPES["embednfs"]
    lock = tomllib.loads((MAINS / "embednfs/Cargo.lock").read_text())
    found = [package for package in lock["package"] if package["name"] == recipe.title]
    assert [(package["version"], package["checksum"]) for package in found] == [
        (recipe.version, recipe.digest)
    ]

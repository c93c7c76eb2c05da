# SPDX-License-Identifier: MIT
"""`nfsproof install`: progress in words, a moving line on a terminal and plain lines elsewhere."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from nfsclient.similar import similar_text
from nfstargets.cache import InstallError, cache_folder, find_installation, home_of, install
from nfstargets.knfsd.compiled import KNFSD_V2
from nfstargets.knfsd.image import KNFSD
from nfstargets.knfsd.packaged import KNFSD_QEMU
from nfstargets.recipes import RECIPES, Installable

__all__ = ["InstallError", "install_by_name", "listing"]


def installables() -> dict[str, Installable]:
    """What can be installed, by name of target."""
    return {**RECIPES, **{recipe.name: recipe for recipe in (KNFSD, KNFSD_V2, KNFSD_QEMU)}}


def listing() -> list[str]:
    """One line for each server that can be installed, and where they are kept."""
    lines = []
    for recipe in installables().values():
        state = "installed" if find_installation(recipe) is not None else "not installed"
        known_as = f"{recipe.name:13} {recipe.version.removeprefix('v'):8} {state:14}"
        lines.append(f"{known_as} {recipe.title}: {recipe.serves} ({recipe.licence})")
    return [*lines, f"kept in {cache_folder()}"]


def install_by_name(name: str, echo: Callable[[str], None]) -> Path:
    """Installs one server of the table; its folder. Raises InstallError, KeyboardInterrupt after tidying up."""
    known = installables()
    recipe = known.get(name)
    if recipe is None:
        near = similar_text(name, known)
        raise InstallError(f"{name} cannot be installed{near}; servers that can: {', '.join(known)}")
    home = _install_recipe(recipe, echo)
    for needed in recipe.needs:
        if find_installation(needed) is None:
            _install_recipe(needed, echo)
    return home


def _install_recipe(recipe: Installable, echo: Callable[[str], None]) -> Path:
    if (home := find_installation(recipe)) is not None:
        echo(f"{recipe.name} {recipe.version} is installed: {home}")
        return home
    began = time.monotonic()
    echo(f"{recipe.name}: installing {recipe.title} {recipe.version} into {home_of(recipe)}")
    with _ends_like_ctrl_c(), _progress(echo) as say:
        home = install(recipe, say)
    echo(f"{recipe.name}: installed in {time.monotonic() - began:.0f} s; nfsproof run {recipe.name}")
    return home


@contextmanager
def _progress(echo: Callable[[str], None]) -> Iterator[Callable[[str], None]]:
    """Progress of an installation: everything in one changing line, or one line for each step."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda line: None if line.startswith(" ") else echo(f"  {line}")
        return
    step = ""
    with console.status("") as status:

        def say(line: str) -> None:
            nonlocal step
            if not line.startswith(" "):
                step = line
                detail = ""
            else:
                detail = line.strip()
            # Not markup: compilers write brackets.
            text = f"{step} {detail}".strip().replace("[", "\\[")
            status.update(text[: max(20, console.width - 4)])

        yield say


@contextmanager
def _ends_like_ctrl_c() -> Iterator[None]:
    """SIGTERM and SIGHUP tidy up as well."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    numbers = (signal.SIGTERM, signal.SIGHUP)
    old = [signal.signal(number, interrupt) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, old, strict=True):
            signal.signal(number, handler)

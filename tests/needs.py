# SPDX-License-Identifier: MIT
"""Programs, packages and servers that tests use and that a machine may lack.

`bin/nfsproof selftest` must be green with what `bin/nfsproof` installs (the dependencies and the extra `test`). A test
that uses more says so with `needs`; without the tool it is skipped, with the name of the tool and where to get it.
`NFSPROOF_NEEDED` names tools, or extras, that must be there: then their absence is a failure. CI sets it where it has
installed them, so that no test is skipped everywhere.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
import shutil
import sys
import tomllib
import typing as t
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nfstargets.base import TargetError
from nfstargets.cache import find_installation
from nfstargets.knfsd.image import KNFSD
from nfstargets.recipes import RECIPES

REQUIRED = "NFSPROOF_NEEDED"
"""Environment variable: names of tools and extras, with commas between them."""
MARK = "needs"
PYNFS: t.Final = "NFSPROOF_PYNFS"
"""Environment variable: a built checkout of pynfs."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that a machine may lack."""

    name: str
    is_there: t.Callable[[], bool]
    get: str
    """Where it comes from, for the reason of a skipped test."""
    extra: str = ""
    """The extra of pyproject.toml that brings it; empty: it is no Python package."""
    hindrances: tuple[tuple[str, str], ...] = ()
    """What may keep it from starting where it is installed: a part of the error, and what that means."""

    def reason(self) -> str:
        """Why a test is skipped."""
        return f"needs {self.name}, which is not installed here ({self.get})"

    def hindrance(self, error: str) -> str:
        """Why a test is skipped in which it could not be started; empty if that is no fault of the machine."""
        for part, meaning in self.hindrances:
            if part in error:
                return f"needs {self.name}, which cannot be started here: {meaning}"
        return ""


def _package(name: str, extra: str) -> Tool:
    get = f".venv/bin/python -m pip install -e '.[{extra}]'" if extra else "there is none for this machine"
    return Tool(name, lambda: importlib.util.find_spec(name) is not None, get, extra)


def _extra_of_scapy() -> str:
    """`test`, which `bin/nfsproof` installs, if that includes scapy; else the extra that has it."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    return "test" if "nfsproof[packet]" in project["optional-dependencies"]["test"] else "packet"


def _program(name: str, debian: str = "", path: str | None = None) -> Tool:
    return Tool(name, lambda: shutil.which(name, path=path) is not None, f"Debian: {debian or name}")


_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def browser() -> str:
    """The browser that NFSPROOF_CHROMIUM names, or the first of the usual names; empty if there is none."""
    named = os.environ.get("NFSPROOF_CHROMIUM", "")
    return named or next((found for name in _BROWSERS if (found := shutil.which(name))), "")


_OF_A_GUEST: t.Final = (
    ("cannot have a separate network", "no separate network is allowed"),
    # In its panic at boot: the kernel has room for the registers of older processors only (those without AMX).
    ("put_fp_registers", "its kernel (User-Mode Linux) cannot restore all registers of this processor"),
)


TOOLS: t.Final = {
    tool.name: tool
    for tool in (
        _package("ruff", "dev"),
        _package("allure_pytest", "dev"),
        _package("playwright", "dev"),
        _package("jsonschema", "dev"),
        _package("prometheus_client", "dev"),
        _package("distributed", "dev"),
        _package("scipy", "dev"),
        _package("asyncssh", "dev"),
        _package("nfs_rs", "dev" if sys.platform == "linux" and platform.machine() == "x86_64" else ""),
        _package("scapy", _extra_of_scapy()),
        Tool("chromium", lambda: browser() != "", "Debian: chromium"),
        _program("tshark"),
        _program("capinfos", "tshark"),
        _program("git"),
        _program("man", "man-db"),
        _program("openssl"),
        _program("curl"),
        _program("rpcbind"),
        _program("unshare", "util-linux"),
        _program("setpriv", "util-linux"),
        _program("ip", "iproute2"),
        _program("node", "nodejs"),
        _program("nfs-cp", "libnfs-utils"),
        _program("nfs-cat", "libnfs-utils"),
        _program("nfs-ls", "libnfs-utils"),
        _program("ganesha.nfsd", "nfs-ganesha nfs-ganesha-vfs nfs-ganesha-mem", "/usr/bin:/usr/sbin"),
        Tool("pynfs-checkout", lambda: PYNFS in os.environ, f"{PYNFS}=CHECKOUT, see docs/pynfs.md"),
        *(
            Tool(
                recipe.name,
                lambda recipe=recipe: find_installation(recipe) is not None,  # type: ignore[misc]
                f"bin/nfsproof install {recipe.name}",
                hindrances=_OF_A_GUEST if recipe is KNFSD else (),
            )
            for recipe in (KNFSD, *RECIPES.values())
        ),
    )
}


def needs(*names: str) -> pytest.MarkDecorator:
    """Mark a test, or as `pytestmark` a file: it uses these tools. `-m 'needs(extra="dev")'` selects by extra."""
    extras = {TOOLS[name].extra for name in names} - {""}
    return pytest.mark.needs(*names, extra=next(iter(extras), ""))


@contextlib.contextmanager
def starting(name: str) -> Iterator[None]:
    """Inside, a tool that is installed is started: if this machine cannot run it, the test is skipped."""
    try:
        yield
    except TargetError as error:
        leave_out_if_hindered(name, str(error))
        raise


def leave_out_if_hindered(name: str, error: str) -> None:
    """Ends the running test if the table says that the machine is the reason for an error at the start of a tool."""
    tool = TOOLS[name]
    reason = tool.hindrance(error)
    if reason and _is_required(tool):
        pytest.fail(f"{reason}; {REQUIRED} says that it must be there", pytrace=False)
    if reason:
        pytest.skip(reason)


def _is_required(tool: Tool) -> bool:
    required = {word.strip() for word in os.environ.get(REQUIRED, "").split(",")} - {""}
    return bool(required & {tool.name, tool.extra or tool.name})


def need(*names: str) -> None:
    """Ends the running test, or leaves out the file that is being imported, if one of these tools is missing.

    A file that imports a package at its top calls it before that, and is marked with `needs` in addition.
    """
    for tool in map(TOOLS.__getitem__, names):
        if tool.is_there():
            continue
        if _is_required(tool):
            pytest.fail(f"{tool.reason()}; {REQUIRED} says that it must be there", pytrace=False)
        pytest.skip(tool.reason(), allow_module_level=True)

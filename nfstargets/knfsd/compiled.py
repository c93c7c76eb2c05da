# SPDX-License-Identifier: MIT
"""A kernel for the guest that serves NFSv2, too: compiled from Debian's source, since Debian leaves NFSv2 out.

The source and what is compiled of it are kept until the kernel is complete, so that a broken installation goes on.
"""

from __future__ import annotations

import re
import shutil
from hashlib import sha256
from pathlib import Path

from nfstargets.cache import InstallError
from nfstargets.knfsd.image import GUEST, KNFSD
from nfstargets.knfsd.packages import Apt, check_machine, check_room, check_tools, explained
from nfstargets.machine import processors
from nfstargets.recipes import Installable, Workshop

SOURCE = "linux-source-6.1"
CONFIG = GUEST / "kernel.config"
ROOM = 2500
"""MB that it needs while it is compiled; 9 stay."""
TIME = 7200.0
"""Seconds for the compiler; 300 are usual."""
TOOLS = {
    "gcc": "gcc",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "strip": "binutils",
    "xz": "xz-utils",
    "dpkg-deb": "dpkg",
}
"""Programs, and the packages that have them."""
_WANTED = re.compile(r"^CONFIG_\w+=y$", re.MULTILINE)


def build(shop: Workshop, recipe: Installable) -> None:
    """Downloads, configures and compiles. Raises InstallError, in one line where the cause is known."""
    check_machine(recipe.name)
    check_tools(recipe.name, TOOLS)
    check_room(shop, recipe.name, ROOM)
    if (found := re.search(r"[\s:]", str(shop.kept))) is not None:
        raise InstallError(
            f"{recipe.name}: no kernel can be compiled in {shop.kept.parent}, which has {found.group()!r} in its name; "
            "another place: NFSPROOF_SERVERS=FOLDER"
        )
    try:
        _compile(shop, _source(shop))
    except InstallError as error:
        raise InstallError(explained(str(error), shop.kept, ROOM)) from error


def _source(shop: Workshop) -> Path:
    """The folder of the source, configured."""
    tree = shop.kept / f"tree-{sha256(CONFIG.read_bytes()).hexdigest()[:12]}"
    if tree.exists():
        return tree
    apt = Apt(shop)
    apt.read_lists()
    apt.unpack("downloading the source of Linux (140 MB)", SOURCE, shop.scratch)
    archive = shop.scratch / f"usr/src/{SOURCE}.tar.xz"
    shop.run("unpacking the source", "tar", "-x", "-J", "-C", shop.scratch, "-f", archive)
    source = shop.scratch / SOURCE
    _make(shop, "configuring", source, "defconfig")
    merge = 'cd "$1" && ARCH=um scripts/kconfig/merge_config.sh -m .config "$2"'
    shop.run("configuring", "sh", "-c", merge, "merge", source, CONFIG)
    _make(shop, "configuring", source, "olddefconfig")
    if missing := not_taken(CONFIG.read_text(), (source / ".config").read_text()):
        raise InstallError(f"{SOURCE} cannot be configured: {missing[0]} has no effect")
    return source.rename(tree)


def not_taken(wanted: str, configuration: str) -> list[str]:
    """What was to be switched on and is not."""
    lines = set(configuration.splitlines())
    return [line for line in _WANTED.findall(wanted) if line not in lines]


def _compile(shop: Workshop, tree: Path) -> None:
    usual, shop.limit = shop.limit, TIME
    try:
        _make(shop, "compiling", tree, f"-j{processors()}", "linux")
    finally:
        shop.limit = usual
    shop.run("stripping", "strip", "-o", shop.into / "linux", tree / "linux")
    shutil.copyfile(tree / "include/config/kernel.release", shop.into / "version")


def _make(shop: Workshop, what: str, tree: Path, *words: str) -> None:
    # What it does at the moment, which it prints on standard output, is for the user.
    script = 'exec make "$@" >&2'
    shop.run(what, "sh", "-c", script, "make", "-C", tree, "ARCH=um", *words)


KNFSD_V2 = Installable(
    name="knfsd:v2",
    title="kernel with NFSv2 for knfsd (compiled)",
    version="6.1",
    licence="GPL-2.0",
    tool="apt-get",
    tool_from="apt",
    build=build,
    serves="NFS 2, 3, 4 and MOUNT 1, 2, 3 over TCP and UDP",
    marks=(CONFIG,),
    needs=(KNFSD,),
)

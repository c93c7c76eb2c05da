# SPDX-License-Identifier: MIT
"""Servers of the table `recipes` as targets: started from their installation, on one free port of loopback."""

from __future__ import annotations

from pathlib import Path

from nfstargets.base import TargetAddress, TargetError
from nfstargets.cache import find_installation
from nfstargets.process import KeptServer
from nfstargets.program import HOST, ProgramTarget
from nfstargets.recipes import RECIPES, Place, Recipe


class InstalledTarget(ProgramTarget):
    """Each process has a separate server, with an empty export at its start."""

    def __init__(self, name: str, kind: str = "") -> None:
        recipe = RECIPES[name]
        if kind and kind not in recipe.kinds:
            raise TargetError(
                f"unknown export {kind!r}: expected "
                + " or ".join(f"{name}:{known}" for known in recipe.kinds)
            )
        self.recipe: Recipe = recipe
        self.kind = kind or recipe.kinds[0]
        super().__init__(f"{name}:{kind}" if kind else name, name)
        self._home: Path | None = None

    def prepare(self) -> None:
        """Looks into the cache. Raises TargetError with the command that installs it."""
        self._home = find_installation(self.recipe)
        if self._home is None:
            raise TargetError(
                f"{self.recipe.title} {self.recipe.version} is not installed; nfsproof install {self.recipe.name}"
            )

    def make_server(self, scratch: Path) -> KeptServer:
        """With an empty folder, whether it is exported or not."""
        folder = scratch / "export"
        folder.mkdir()
        folder.chmod(0o777)
        return KeptServer(scratch)

    def command(self, server: KeptServer, ports: tuple[int, ...]) -> list[str]:
        assert self._home is not None
        folder = server.scratch / "export"
        return self.recipe.command(Place(self._home, HOST, ports[0], self.kind, folder))

    def output(self, server: KeptServer) -> Path:  # noqa: ARG002
        """What it prints is its log."""
        assert self.log_path is not None
        return self.log_path

    def title(self) -> str:
        return f"{self.recipe.title} {self.recipe.version}"

    def address_of(self, ports: tuple[int, ...]) -> TargetAddress:
        """One port for NFS and MOUNT; none of these servers answers as portmapper."""
        if self.recipe.nfs == 4:
            return TargetAddress(
                host=HOST, nfs_port=ports[0], mount_port=0, version=4, minor=1, export=self.recipe.export
            )
        return TargetAddress(host=HOST, nfs_port=ports[0], mount_port=ports[0], export=self.recipe.export)

    def describe(self) -> str:
        """For the header of a run."""
        place = "in memory" if self.kind == "memory" else "in a scratch folder"
        return f"{self.name} ({self.title()}, {place})"

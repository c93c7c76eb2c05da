# SPDX-License-Identifier: MIT
"""Python peers from PyPI, in a virtual environment outside the tree."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.native import Unavailable, cache_folder

DISTRIBUTIONS = {
    "peer_xdrlib3": "xdrlib3",
    "peer_anfs": "anfs",
    "peer_pynfsclient": "pyNfsClient",
    "peer_nfs_rs": "nfs-rs",
    "peer_nfs4fs": "nfs4fs",
    "peer_libnfs": "libnfs",
}
"""Worker to distribution."""


class Peers:
    """The peers that are there, with their versions; `failed` says why one is not."""

    def __init__(self) -> None:
        self._folder = cache_folder() / f"peers-{sys.version_info.major}.{sys.version_info.minor}"
        self.failed: dict[str, str] = {}
        self.versions = self._installed()

    @property
    def python(self) -> Path:
        """The interpreter that has the peers."""
        return self._folder / "bin" / "python"

    def _installed(self) -> dict[str, str]:
        if not self.python.exists():
            return {}
        command = [str(self.python), "-m", "pip", "list", "--format=json", "--disable-pip-version-check"]
        listed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        return {entry["name"].lower(): entry["version"] for entry in listed}

    def install(self) -> None:
        """Install what is missing, one by one, so that one that does not build keeps no other away."""
        if not self.python.exists():
            venv.create(self._folder, with_pip=True)
        for distribution in DISTRIBUTIONS.values():
            if distribution.lower() in self.versions:
                continue
            print(f"installing {distribution} into {self._folder}", file=sys.stderr)
            command = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            done = subprocess.run([*command, distribution], capture_output=True, text=True, check=False)
            if done.returncode:
                complaint = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
                self.failed[distribution] = complaint
        self.versions = self._installed()

    def interpreter(self, worker: str) -> str:
        """The Python that runs the worker of a peer. Raises `Unavailable`."""
        distribution = DISTRIBUTIONS[worker]
        if distribution.lower() in self.versions:
            return str(self.python)
        if distribution == "xdrlib3" and importlib.util.find_spec("xdrlib3"):
            return sys.executable
        why = self.failed.get(distribution)
        raise Unavailable(
            f"{distribution}: {why}" if why else f"{distribution} is not installed; run with --peers"
        )

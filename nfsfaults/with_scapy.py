# SPDX-License-Identifier: MIT
"""The only way to the part of nfsproof that uses scapy: it is imported when a plan, or a command, first needs it.

scapy is GPL-2.0-only, and nfsproof has the MIT licence. So scapy is an extra, only `nfsfaults.packet` imports it, and
nothing but this module imports that. Without scapy everything else works.
"""

from __future__ import annotations

import importlib
import typing as t
import warnings

if t.TYPE_CHECKING:
    from types import ModuleType

INSTALL: t.Final = "python -m pip install 'scapy>=2.6'"
"""scapy alone is enough: the layers are a part of nfsproof."""


class NoScapy(Exception):
    """scapy cannot be imported. The text says how to get it, in one line."""


def making() -> ModuleType:
    """`nfsfaults.packet.making`: packets as bytes go in, packets as bytes come out. Raises `NoScapy`."""
    with _importing():
        return importlib.import_module("nfsfaults.packet.making")


def replaying() -> ModuleType:
    """`nfsfaults.packet.replaying`: requests of a capture, sent again. Raises `NoScapy`."""
    with _importing():
        return importlib.import_module("nfsfaults.packet.replaying")


class _importing:  # noqa: N801  (a context)
    """What a part of scapy that does not fit this Python, or warns, says becomes one line."""

    def __enter__(self) -> None:
        self._warnings = warnings.catch_warnings()
        self._warnings.__enter__()
        warnings.simplefilter("ignore")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        self._warnings.__exit__(None, None, None)
        if isinstance(error, ImportError):
            what = "scapy" if (error.name or "").split(".")[0] == "scapy" else f"a part of scapy ({error})"
            raise NoScapy(f"needs {what}: {INSTALL}") from error

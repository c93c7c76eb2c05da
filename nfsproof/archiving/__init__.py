# SPDX-License-Identifier: MIT
"""Archives: what a run has left, in one file to hand over, without the names of hosts unless they are asked for."""

from __future__ import annotations

from nfsproof.archiving.packing import ArchiveError, Packed, Wishes, default_name, pack

__all__ = ["ArchiveError", "Packed", "Wishes", "default_name", "pack"]

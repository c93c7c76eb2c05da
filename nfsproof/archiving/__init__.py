# SPDX-License-Identifier: MIT
"""Archives: a run in one file, without host names unless they are requested."""

from __future__ import annotations

from nfsproof.archiving.packing import ArchiveError, Packed, Wishes, default_name, pack

__all__ = ["ArchiveError", "Packed", "Wishes", "default_name", "pack"]

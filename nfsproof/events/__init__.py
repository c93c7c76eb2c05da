# SPDX-License-Identifier: MIT
"""`nfsproof event`: several targets from one file, each in its own process, an archive of each, one board."""

from __future__ import annotations

from nfsproof.events.file import BadEvent, Event, load_event
from nfsproof.events.holding import hold

__all__ = ["BadEvent", "Event", "hold", "load_event"]

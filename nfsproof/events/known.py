# SPDX-License-Identifier: MIT
"""What the words in the file of an event may be: asked of those who know."""

from __future__ import annotations

from fixtures.checks.capabilities import KNOWN
from nfsproof import starter
from nfsproof.events.file import Known
from nfsproof.selector import Selector
from nfstargets import TARGETS
from nfstargets.clients.drivers import CLIENTS
from nfstargets.clients.target import OF_COMMANDS
from reports.baseline import find_baseline, load_baseline


def what_is_known() -> Known:
    """Servers, clients, capabilities, checks and baselines of this nfsproof."""
    selector = Selector(starter.home() / "suites")
    return Known(
        tuple(TARGETS),
        (*CLIENTS, *OF_COMMANDS),
        tuple(KNOWN),
        selector.translate,
        lambda word: load_baseline(find_baseline(word)),
    )

# SPDX-License-Identifier: MIT
"""What `nfsproof clients --list` prints."""

from __future__ import annotations

from collections.abc import Iterator

from nfstargets.clients.drivers import CLIENTS
from suites.clients.plans import PLANS
from suites.clients.works import all_works


def lines() -> Iterator[str]:
    """Clients, plans with their clauses, works."""
    yield f"clients: {', '.join(CLIENTS)}, command (--mount), program (--program)"
    yield "plans:"
    for plan in PLANS.values():
        cited = " or ".join(f"{rfc} section {section}" for rfc, section in plan.clause.citations)
        yield f"  {plan.name:<18} {plan.gist} ({cited})"
    yield "works:"
    for work in all_works().values():
        yield f"  {work.name:<18} {work.gist}"

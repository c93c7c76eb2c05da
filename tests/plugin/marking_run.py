# SPDX-License-Identifier: MIT
"""A plugin for runs that writes down which field each claim of a check would mark, whether it holds or not."""

from __future__ import annotations

import json
import os
import typing as t
from collections.abc import Sequence
from pathlib import Path

import pytest

from fixtures.plugin.keys import STAGE
from nfsclient.rpc.exchange import Exchange
from nfsjudge.expect import ValueExpectation
from nfsjudge.pointing import find, locate

MARKED = "NFSPROOF_MARKED"
"""The environment variable with the file to write: a line of JSON per claim. Workers add their names to that of it."""

_CLAIMS: t.Final = (
    *("equals", "differs_from", "one_of", "at_most", "at_least", "between", "is_true", "is_false"),
    *("contains", "lacks", "satisfies"),
)
"""`is_present` is left out: it fails where there is nothing to mark."""


class Marked(t.TypedDict):
    """What a claim says of where its value came from, and what is found of it."""

    check: str
    """The node id."""
    what: str
    says: str
    """The field that the check names; empty if it names only a part."""
    operation: str
    """What the marked exchange is; empty if nothing was found."""
    field: str


def _marked(claim: ValueExpectation[t.Any], exchanges: Sequence[Exchange]) -> Marked | None:
    """None for a claim that names nothing."""
    says, found = claim._field or "", None
    if claim._subject is not None:
        found = locate(exchanges, claim._subject, claim._field)
    elif claim._claim is not None:
        says, found = claim._claim.field, find(exchanges, claim._claim)
    else:
        return None
    about = next(
        (exchange for exchange in reversed(exchanges) if found and exchange.is_about(found[0])), None
    )
    name, field = "", ""
    if about is not None and found is not None:
        name = about.procedure.name if about.procedure is not None else "raw"
        field = about.path_of(*found) or ""
    check = os.environ["PYTEST_CURRENT_TEST"].rpartition(" (")[0]
    return Marked(check=check, what=claim.what, says=says, operation=name, field=field)


def _write(found: Marked) -> None:
    with Path(os.environ[MARKED] + os.environ.get("PYTEST_XDIST_WORKER", "")).open("a") as file:
        file.write(json.dumps(found) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    """Look before each claim of a check is judged."""

    def surround(name: str) -> None:
        judge = getattr(ValueExpectation, name)

        def look(self: ValueExpectation[t.Any], *args: t.Any) -> t.Any:
            __tracebackhide__ = True
            stage = config.stash.get(STAGE, None)
            found = _marked(self, stage.traffic.exchanges) if stage is not None else None
            if found is not None:
                _write(found)
            return judge(self, *args)

        setattr(ValueExpectation, name, look)

    for name in _CLAIMS:
        surround(name)

# SPDX-License-Identifier: MIT
"""Harm: what a breach of a clause does to the users of a server, and which breach does it.

One rule for verdicts (`fixtures.plugin.classify`), the lint and the order of causes (`reports.causes.severity`).
"""

from __future__ import annotations

import enum
import typing as t

from nfsjudge.deviation import OutcomeRecord


class Harm(enum.StrEnum):
    """What a breach of a clause does to the users of a server: a breach that does it is FAIL, whatever the level."""

    CRASH = "crash"
    """The server ends, or takes the memory of its machine: nobody is served."""
    DATA = "data"
    """Data that the server has acknowledged is lost or wrong, or is that of another file."""
    SECRET = "secret"  # noqa: S105 - no password
    """The reply has bytes that are not the caller's."""
    OBJECT = "object"
    """An object is changed, replaced or destroyed that the call did not name, or had to keep."""
    SUCCESS = "success"
    """Success for what did not happen, or an error for what did."""


HARMS: t.Final = {
    Harm.CRASH: "the server ends or takes the memory of its machine",
    Harm.DATA: "acknowledged data is lost or wrong",
    Harm.SECRET: "bytes that are not the caller's",
    Harm.OBJECT: "an object is destroyed or replaced that the call had to keep",
    Harm.SUCCESS: "success for what did not happen",
}
"""Each in words, as failure texts have it."""


def harm_done(declared: str | None, outcome: OutcomeRecord | None) -> Harm | None:
    """The harm that a breach has done, if its clause has `declared` one by its name; None for a refusal.

    Records may come from strangers, so an unknown name is no harm; those of old versions have no outcome, so nobody
    knows whether they are of a refusal.
    """
    if not declared or outcome is None or outcome.is_refusal:
        return None
    return next((harm for harm in Harm if harm == declared), None)


def harm_text(declared: str | None, outcome: OutcomeRecord | None) -> str:
    """The same for failure texts: ``harm data: acknowledged data is lost or wrong``; empty if none is done."""
    done = harm_done(declared, outcome)
    return "" if done is None else f"harm {done}: {HARMS[done]}"

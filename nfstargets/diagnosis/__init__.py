# SPDX-License-Identifier: MIT
"""Why does my server not answer? What stands between a URL and a file on it, step by step, and what to do.

The command `nfsproof doctor` and a run whose target does not answer give the same text.
"""

from __future__ import annotations

from contextlib import closing

from nfsclient.discovery4 import require_nfs4
from nfsclient.errors import UrlError
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl
from nfstargets.diagnosis.examination import Examination
from nfstargets.diagnosis.examination4 import Examination4
from nfstargets.diagnosis.report import Diagnosis, Outcome, Step

__all__ = ["Diagnosis", "Outcome", "Step", "diagnose"]

PATIENCE = 10.0
"""Seconds that a diagnosis takes at most, or hardly more."""


def diagnose(url: str, *, patience: float = PATIENCE, loop: Loop | None = None) -> Diagnosis:
    """Looks at what a URL names. Never raises: what goes wrong is a step of the diagnosis.

    It writes to the server: a directory with one or two files, which it removes again. `loop` is for a server
    in this process; `patience` is in seconds.
    """
    if loop is None:
        with closing(Loop()) as own:
            return diagnose(url, patience=patience, loop=own)
    try:
        parsed = NfsUrl.parse(url)
    except UrlError as error:
        seen, _, advice = str(error).rpartition("; ")
        step = Step(
            "URL", Outcome.FAILED, seen or advice, advice if seen else "write it as nfs://HOST/EXPORT"
        )
        return Diagnosis(url, (step,))
    if parsed.version != 4:
        return Diagnosis(url, tuple(Examination(parsed, loop, patience).steps()))
    try:
        require_nfs4(parsed)
    except UrlError as error:
        advice = "write version=4.1 or 4.2, without proto=udp"
        return Diagnosis(url, (Step("URL", Outcome.FAILED, str(error), advice),))
    return Diagnosis(url, tuple(Examination4(parsed, loop, patience).steps()))

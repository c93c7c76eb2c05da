# SPDX-License-Identifier: MIT
"""Why does my server not answer? What stands between a URL and a file on it, step by step, and what to do.

The command `nfsproof doctor` and a run whose target does not answer give the same text.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from nfsclient.discovery4 import require_nfs4
from nfsclient.errors import UrlError
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl
from nfstargets.diagnosis.examination import Examination
from nfstargets.diagnosis.examination4 import Examination4
from nfstargets.diagnosis.report import Diagnosis, Outcome, Step
from nfstargets.finding import no_nfs3, says_version

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
        return _diagnose3(url, parsed, loop, patience)
    try:
        require_nfs4(parsed)
    except UrlError as error:
        advice = "write version=4.1 or 4.2, without proto=udp"
        return Diagnosis(url, (Step("URL", Outcome.FAILED, str(error), advice),))
    return Diagnosis(url, tuple(Examination4(parsed, loop, patience).steps()))


def _diagnose3(text: str, url: NfsUrl, loop: Loop, patience: float) -> Diagnosis:
    """By NFSv3 or 2. Where the server has no NFSv3 and the URL names no version, by NFSv4, as a run goes on."""
    old = Examination(url, loop, patience)
    steps = tuple(old.steps())
    if not old.minors or says_version(text):
        return Diagnosis(text, steps)
    newer = replace(url, version=4, port=None, nfsport=old.nfs_port)
    first = Step("version", Outcome.OK, no_nfs3(old.minors))
    return Diagnosis(text, (first, *Examination4(newer, loop, patience).steps()))

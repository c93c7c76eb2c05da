# SPDX-License-Identifier: MIT
"""Why does my server not answer? What stands between a URL and a file on it, step by step, and what to do.

The command `nfsproof doctor` and a run whose target does not answer give the same text.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace

from nfsclient.errors import UrlError
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl
from nfstargets.diagnosis.examination import Examination
from nfstargets.diagnosis.report import Diagnosis, Outcome, Step, Telling
from nfstargets.finding import no_nfs3, says_version

__all__ = ["Diagnosis", "Outcome", "Step", "Telling", "diagnose"]

PATIENCE = 10.0
"""Seconds that a diagnosis takes at most, or hardly more."""
_NFS4: t.Final = 4


def diagnose(
    url: str, *, patience: float = PATIENCE, loop: Loop | None = None, tell: Callable[[Step], object] = id
) -> Diagnosis:
    """Looks at what a URL names. Never raises: what goes wrong is a step of the diagnosis.

    It writes to the server: a directory with one or two files, which it removes again. `loop` is for a server
    in this process; `patience` is in seconds; `tell` hears each step as it ends.
    """
    if loop is None:
        with closing(Loop()) as own:
            return diagnose(url, patience=patience, loop=own, tell=tell)
    steps: list[Step] = []
    for step in _steps(url, loop, patience):
        tell(step)
        steps.append(step)
    return Diagnosis(url, tuple(steps))


def _steps(text: str, loop: Loop, patience: float) -> Iterator[Step]:
    try:
        url = NfsUrl.parse(text)
    except UrlError as error:
        seen, _, advice = str(error).rpartition("; ")
        yield Step("URL", Outcome.FAILED, seen or advice, advice if seen else "write it as nfs://HOST/EXPORT")
        return
    if url.version != _NFS4:
        yield from _steps3(text, url, loop, patience)
        return
    from nfsclient.discovery.nfs4 import require_sessions  # long to import
    from nfstargets.diagnosis.nfs4 import Examination4

    try:
        require_sessions(url)
    except UrlError as error:
        yield Step("URL", Outcome.FAILED, str(error), "write version=4.1 or 4.2, without proto=udp")
        return
    yield from Examination4(url, loop, patience).steps()


def _steps3(text: str, url: NfsUrl, loop: Loop, patience: float) -> Iterator[Step]:
    """By NFSv3 or 2. Where the server has no NFSv3 and the URL names no version, by NFSv4, as a run goes on.

    Until that is known, failed steps are not reported: NFSv4 may not need them.
    """
    old = Examination(url, loop, patience)
    may_be_newer = not says_version(text)
    pending: list[Step] = []
    reported: set[str] = set()
    for step in old.steps():
        if old.minors and may_be_newer:
            break
        if step.name == "NFS":
            may_be_newer = False
            yield from pending
            pending.clear()
        if may_be_newer and (pending or step.outcome is Outcome.FAILED):
            pending.append(step)
            continue
        reported.add(step.name)
        yield step
    else:
        return
    yield Step("version", Outcome.OK, no_nfs3(old.minors))
    from nfstargets.diagnosis.nfs4 import Examination4

    newer = replace(url, version=4, port=None, nfsport=old.nfs_port)
    for step in Examination4(newer, loop, patience).steps():
        if step.outcome is not Outcome.OK or step.name not in reported:
            yield step

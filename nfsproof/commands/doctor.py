# SPDX-License-Identifier: MIT
"""`nfsproof doctor`: why a server does not answer."""

from __future__ import annotations

import click

from nfsproof import starter
from nfsproof.exits import Exit, Trouble


@click.command(epilog="Exit status: 0 the server can be tested; 4 it cannot.")
@click.argument("url", metavar="URL")
def doctor(url: str) -> int:
    """Find out why a server does not answer.

    Tests each step, from the name of the host to root squash, and prints what to do. For the write test it creates a
    small directory below the export and removes it again.
    """
    starter.put_home_first()
    starter.keep_code("doctor")
    from nfsclient import compiled
    from nfsproof import doctor as clinic
    from nfstargets.spelling import as_url

    url = as_url(url)
    if "://" not in url:
        _require_no_target(url)
    telling = clinic.Telling(url, click.echo)
    diagnosis = clinic.diagnose(url, tell=telling)
    telling.end()
    compiled.save()
    return int(Exit.OK if diagnosis.healthy else Exit.USAGE)


def _require_no_target(word: str) -> None:
    """Raise `Trouble` for the name of a server that nfsproof starts, or one like it."""
    from nfsclient.similar import similar
    from nfstargets import TARGETS

    name = word.partition(":")[0]
    if name in TARGETS:
        raise Trouble(f"expected a URL; {word} is a server that nfsproof starts: try nfsproof run {word}")
    if near := similar(name, TARGETS, cutoff=0.75):
        raise Trouble(f"expected a URL, got {word}; similar: {near[0]}, which nfsproof run {near[0]} starts")

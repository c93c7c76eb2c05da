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
    from nfsclient.similar import similar
    from nfsproof import doctor as clinic
    from nfstargets import TARGETS
    from nfstargets.spelling import as_url

    url = as_url(url)
    if url.partition(":")[0] in TARGETS:
        raise Trouble(f"expected a URL; {url} is a server that nfsproof starts: try nfsproof run {url}")
    near = [] if "://" in url else similar(url.partition(":")[0], TARGETS, cutoff=0.75)
    if near:
        raise Trouble(f"expected a URL, got {url}; similar: {near[0]}, which nfsproof run {near[0]} starts")
    telling = clinic.Telling(url, click.echo)
    diagnosis = clinic.diagnose(url, tell=telling)
    telling.end()
    return int(Exit.OK if diagnosis.healthy else Exit.USAGE)

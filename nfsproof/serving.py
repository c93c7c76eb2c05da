# SPDX-License-Identifier: MIT
"""`nfsproof serve`: the embedded server for others, and the list of its mutants."""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from fixtures.plugin.evidence import rerun_command
from nfsclient.protocol import snfs
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.sockets import format_address
from nfsclient.url import NfsUrl
from nfsmutants import Mutants, UnknownMutant, all_mutants
from nfsserver import KNOBS, BadKnob, Server, parse_setting
from nfsserver.counting import CountsPort, count
from nfsserver.queueing import BadTimes, Times, queue
from nfsserver.serve import serve


class CannotServe(Exception):
    """The server could not be set up as asked; the text says what stands in the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What is served and where."""

    host: str
    port: int
    exports: tuple[str, ...]
    mutants: tuple[str, ...] = ()
    knobs: tuple[str, ...] = ()
    """As NAME=VALUE."""
    root_squash: bool = False
    udp: bool = True
    snfs: bool = True
    """Whether Spritely NFS is among the programs."""
    counts_port: int | None = None
    """Where to tell how many calls came; None: they are not counted."""
    queue: str = ""
    """The times of a queueing server (`nfsserver.queueing.Times.of_text`); empty: answers come at once."""


def describe_mutants() -> Iterator[str]:
    """One paragraph per mutant: its name, what it does wrong, and the clause that forbids it."""
    from nfsproof.proofs import broken_clauses  # imports the suites, which a server does not need

    clauses = broken_clauses()
    for mutant in all_mutants():
        yield f"{mutant.name}\n    {mutant.gist} ({' and '.join(clauses[mutant.name])})"


def describe_knobs() -> Iterator[str]:
    """One paragraph per knob: its name and default, what it takes and does, and the clauses that leave it free."""
    for knob in KNOBS.values():
        yield f"{knob.name}={knob.usual}\n    {knob.meaning} ({'; '.join(knob.cites)})\n    takes {knob.takes}"


def serve_until_stopped(offer: Offer, say: Callable[[str], None]) -> None:
    """Serves until SIGINT or SIGTERM. `say` gets lines for the user. Raises CannotServe."""
    wrong = [export for export in offer.exports if not export.startswith("/")]
    if wrong:
        raise CannotServe(f"expected an absolute path such as /export as export, got {wrong[0]}")
    try:
        server = Server(
            exports=offer.exports,
            root_squash=offer.root_squash,
            knobs=dict(parse_setting(text) for text in offer.knobs),
            without=() if offer.snfs else (snfs.PROGRAM,),
        )
        Mutants(server, offer.mutants)
        times = Times.of_text(offer.queue) if offer.queue else None
        with closing(Loop()) as loop, _counted(server, loop, offer, say):
            if times is not None:
                queue(server, loop, times)
            serve(
                server,
                loop,
                host=offer.host,
                port=offer.port,
                udp=offer.udp,
                announce=_announcer(offer, say),
                precisely=times is not None,
            )
    except (BadKnob, BadTimes, UnknownMutant) as error:
        raise CannotServe(str(error)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        advice = (
            "; is it an address of this machine?" if isinstance(error, socket.gaierror) else "; try --port 0"
        )
        raise CannotServe(f"cannot listen on {offer.host} port {offer.port}: {reason}{advice}") from error


@contextlib.contextmanager
def _counted(server: Server, loop: Loop, offer: Offer, say: Callable[[str], None]) -> Iterator[None]:
    """Count the calls, tell them while it lasts, and print them at the end."""
    if offer.counts_port is None:
        yield
        return
    counts, _ = count(server)
    port = CountsPort(counts, loop, offer.host, offer.counts_port)
    say(f"counts: {format_address(*port.address)}")
    try:
        yield
    finally:
        port.close()
        for name, number in sorted(counts.calls.items()):
            say(f"{number:>9}  {name}")
        say(
            f"{counts.calls.total():>9}  calls in all, {counts.call_bytes} bytes; replies {counts.reply_bytes} bytes"
        )


def _mounting(url: NfsUrl) -> Iterator[str]:
    """The commands with which a Linux machine mounts what is served."""
    host = f"[{url.host}]" if ":" in url.host else url.host
    where = shlex.quote(f"{host}:{os.fsdecode(url.path)}")
    port = url.rpcbindport
    for options in (
        f"vers=4.2,port={port}",
        f"vers=3,proto=tcp,nolock,port={port},mountport={port},mountproto=tcp",
    ):
        yield f"mount it: mount -t nfs -o {options} {where} /mnt"


def _announcer(offer: Offer, say: Callable[[str], None]) -> Callable[[Server], None]:
    def announce(server: Server) -> None:
        say(f"serving {server.url}")
        for name in offer.mutants:
            say(f"mutants: {name}")
        for setting in offer.knobs:
            say(f"knobs: {setting}")
        ask = replace(NfsUrl.parse(server.url), rpcbindport=server.port)
        say(f"portmap and rpcbind: port {server.port} of the same address")
        for line in _mounting(ask):
            say(line)
        say(f"run the checks on it: {rerun_command(str(ask))}")
        say("press Ctrl-C to stop")

    return announce

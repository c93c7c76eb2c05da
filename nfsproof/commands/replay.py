# SPDX-License-Identifier: MIT
"""`nfsproof replay`: requests of a capture, sent again."""

from __future__ import annotations

from pathlib import Path

import click

from nfsproof import starter
from nfsproof.exits import Exit, Trouble

MOST_SECONDS = 600.0


def _port(_context: click.Context, _option: click.Parameter, text: str) -> str | int:
    if text in {"any", "same"}:
        return text
    if text.isascii() and text.isdecimal() and 0 < int(text) < 1 << 16:
        return int(text)
    raise click.BadParameter(f"expected any, same or a port, seen {text!r}")


@click.command(
    epilog="Exit status: 0 all requests were sent, whatever the server answered; 4 wrong usage, the capture cannot be "
    "read, the server was not reached or ended the connection, or scapy is not installed."
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--to", metavar="HOST:PORT|URL", help="The server.")
@click.option("--list", "shows_list", is_flag=True, help="Print the requests in the capture, send nothing.")
@click.option(
    "--frame",
    "frames",
    metavar="N",
    type=click.IntRange(1),
    multiple=True,
    help="Send the request that ends in this frame. May be repeated.",
)
@click.option("--all", "everything", is_flag=True, help="Send all requests, in their order.")
@click.option(
    "--xid", type=click.Choice(["same", "new"]), default="same", show_default=True, help="Send with this XID."
)
@click.option(
    "--port",
    metavar="PORT",
    default="any",
    callback=_port,
    help="Send from: any port, the same port as in the capture, or a number. [any]",
)
@click.option(
    "--times", metavar="N", type=click.IntRange(1, 10_000), default=1, help="Send each request N times. [1]"
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(0.01, MOST_SECONDS),
    default=5.0,
    help="Wait this long for a reply. [5]",
)
def replay(
    file: Path,
    to: str | None,
    shows_list: bool,
    frames: tuple[int, ...],
    everything: bool,
    xid: str,
    port: str | int,
    times: int,
    timeout: float,
) -> int:
    """Send requests of a capture again.

    FILE is a pcap or pcapng file. The bytes are the same as in the capture, with its handles, verifiers, stateids and
    times, except for the XID with --xid new. Over TCP a request goes on a new connection, as one record. Each reply is
    printed, with what differs from the reply in the capture. It needs scapy.
    """
    starter.put_home_first()
    from nfsjudge.captured import BadCapture
    from nfsproof.proxying.running import CannotProxy, upstream_of
    from nfsproof.replaying import captured, sending

    requests, broken = captured.Requests(), ""
    try:
        with file.open("rb") as stream:
            requests.read(stream)
    except OSError as error:
        raise Trouble(f"cannot read {file}: {error.strerror}") from error
    except BadCapture as error:
        broken = str(error)
    if broken and not requests.found:
        raise Trouble(f"{file}: {broken}")
    if broken or requests.is_cut:
        why = broken or f"only its first {len(requests.found)} requests are read"
        click.echo(f"{file}: {why}", err=True)
    if shows_list:
        for request in requests.found:
            click.echo(request.line)
        return int(Exit.OK)
    if to is None:
        raise click.UsageError("Missing option '--to', or --list.")
    try:
        picked = sending.chosen(requests.found, frames, everything=everything)
        wish = sending.Wish(upstream_of(to), xid == "new", port, times, timeout)  # type: ignore[arg-type]
        for line in sending.replay(picked, wish):
            click.echo(line)
    except (sending.CannotReplay, CannotProxy) as error:
        raise Trouble(str(error)) from error
    return int(Exit.OK)

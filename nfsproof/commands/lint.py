# SPDX-License-Identifier: MIT
"""`nfsproof lint`: the traffic in a capture."""

from __future__ import annotations

from pathlib import Path

import click

from nfsproof import starter
from nfsproof.exits import Exit, Trouble


@click.command(
    epilog="Exit status: 0 no rule is broken; 1 a rule is broken; 4 wrong usage, or the capture is damaged; "
    "10 the capture has no call that can be judged, or hides some."
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path), required=False)
@click.option("--alone", is_flag=True, help="No other client used the server, and nobody restarted it.")
@click.option("--strict", is_flag=True, help="A broken SHOULD is red.")
@click.option("--list-rules", is_flag=True, help="Print the rules with their clauses.")
def lint(file: Path | None, alone: bool, strict: bool, list_rules: bool) -> int:
    """Judge the traffic in a capture.

    FILE is a pcap or pcapng file of tcpdump, Wireshark or nfsproof, which may be packed (.gz). The rules of
    docs/lint.md are applied to every reply of NFSv2, NFSv3, NFSv4.1, NFSv4.2, MOUNT and RPC over TCP and UDP. With
    --alone, replies are also compared with earlier ones. The output names the packet in which a call ends.
    """
    starter.put_home_first()
    from nfsproof import linting

    if list_rules:
        click.echo("\n".join(linting.rules_table()))
        return int(Exit.OK)
    if file is None:
        raise click.UsageError("Missing argument 'FILE'.")
    try:
        result = linting.lint_file(file, alone=alone)
    except OSError as error:
        raise Trouble(f"cannot read {file}: {error.strerror}") from error
    click.echo(result.text, nl=False)
    if result.broken:
        raise Trouble(f"{file}: {result.broken}")
    if result.is_red(strict=strict):
        return int(Exit.FAIL)
    return int(Exit.OK if result.is_judged else Exit.VOID)

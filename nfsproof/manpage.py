# SPDX-License-Identifier: MIT
"""The man page, made from the help of the commands."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from nfsproof.exits import EXIT_CODES

_SEE = (
    ("PATH-OF-CHECKOUT/docs/README.md", "all pages of the documentation"),
    ("https://www.rfc-editor.org", "the RFCs that the checks cite"),
)


def man_page(commands: click.Group) -> str:
    """`nfsproof.1` in the language of man pages; the same for each version of click and of Python."""
    context = click.Context(commands, info_name="nfsproof")
    lines = [
        '.\\" SPDX-License-Identifier: MIT',
        '.\\" Made by nfsproof regenerate from the help of the commands.',
        '.TH NFSPROOF 1 "" nfsproof "User commands"',
        ".nh",
        ".SH NAME",
        "nfsproof \\- test NFS servers: compare every reply with the RFCs",
        ".SH SYNOPSIS",
        ".B nfsproof",
        "\\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]",
        ".SH DESCRIPTION",
        *_prose(commands.help or ""),
        ".SH COMMANDS",
    ]
    for name in commands.list_commands(context):
        command = commands.get_command(context, name)
        if command is not None and not command.hidden:
            lines += _command(command, click.Context(command, parent=context, info_name=name))
    lines += [
        ".SH EXIT STATUS",
        *(line for code, text in EXIT_CODES.items() for line in _item(str(code.value), text)),
    ]
    lines += [".SH SEE ALSO", *(line for place, what in _SEE for line in _item(place, what))]
    return "\n".join(lines) + "\n"


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    """One command, and the commands below it."""
    words = [context.command_path, *command.collect_usage_pieces(context)]
    yield f'.SS "{_plain(" ".join(words))}"'
    yield from _prose(command.help or "")
    for option in command.get_params(context):
        if isinstance(option, click.Option) and not option.hidden and "--help" not in option.opts:
            yield from _item(_usage(option), option.help or "")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from _command(below, click.Context(below, parent=context, info_name=name))


def _usage(option: click.Option) -> str:
    names = ", ".join(sorted([*option.opts, *option.secondary_opts], key=len))
    return names if option.is_flag or option.count else f"{names} {option.metavar or 'VALUE'}"


def _item(head: str, text: str) -> list[str]:
    return [".TP", f"\\fB{_plain(head)}\\fR", *_prose(text)]


def _prose(text: str) -> Iterator[str]:
    """Paragraphs; one that begins with a backspace is shown as it stands, as click does."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip("\n"))):
        lines = [line.strip() if "\b" not in paragraph else line.rstrip() for line in paragraph.splitlines()]
        if number:
            yield ".PP"
        if lines and lines[0].strip() == "\b":
            yield from (".nf", *(_line(line) for line in lines[1:]), ".fi")
        else:
            yield from (_line(line) for line in lines if line)


def _line(text: str) -> str:
    """A line of text that is no request."""
    plain = _plain(text)
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def _plain(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")

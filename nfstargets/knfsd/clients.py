# SPDX-License-Identifier: MIT
"""What the kernel says of its NFSv4 clients below /proc/fs/nfsd/clients, as values."""

from __future__ import annotations

import re

from nfstargets.states import HeldState, NfsClientState

_PAIR = re.compile(r'(\w+): ("(?:[^"\\]|\\.)*"|[^,}]*)')
_STATE = re.compile(r"^- (?P<stateid>0x[0-9a-f]+): \{(?P<rest>.*)\}$", re.MULTILINE)
_ESCAPED = re.compile(r"\\([0-7]{3}|.)")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r"}


def client_of(info: str, states: str) -> NfsClientState:
    """One client, from the text of its files `info` and `states`. What it does not say is empty."""
    known = dict(line.split(": ", 1) for line in info.splitlines() if ": " in line)
    renewed = known.get("seconds from last renew", "")
    minor = known.get("minor version", "")
    return NfsClientState(
        id=known.get("clientid", "").removeprefix("0x"),
        name=_plain(known.get("name", "")),
        address=_plain(known.get("address", "")),
        status=known.get("status", ""),
        minor_version=int(minor) if minor.isdecimal() else 0,
        seconds_since_renewal=int(renewed) if renewed.lstrip("-").isdecimal() else None,
        callback_state=known.get("callback state", ""),
        held=tuple(_state(found["stateid"], found["rest"]) for found in _STATE.finditer(states)),
    )


def _state(stateid: str, text: str) -> HeldState:
    known = {name: _plain(value.strip()) for name, value in _PAIR.findall(text)}
    return HeldState(
        kind=known.get("type", ""),
        stateid=stateid.removeprefix("0x"),
        access=known.get("access", "").replace("-", ""),
        deny=known.get("deny", "").replace("-", ""),
        file=known.get("filename", ""),
        owner=known.get("owner", ""),
    )


def _plain(text: str) -> str:
    """Without the quotes of the kernel, and what it has escaped."""
    if not (text.startswith('"') and text.endswith('"')):
        return text
    return _ESCAPED.sub(_character, text[1:-1])


def _character(found: re.Match[str]) -> str:
    word = found[1]
    return chr(int(word, 8)) if len(word) == 3 else _LETTERS.get(word, word)

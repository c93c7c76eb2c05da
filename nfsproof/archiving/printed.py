# SPDX-License-Identifier: MIT
"""Fields of wire types that name somebody, as transcripts and messages print them: where no capture was kept."""

from __future__ import annotations

import ast
import functools
import re
import typing as t
from collections.abc import Iterator

from nfsclient.protocol.registry import protocols
from nfsclient.rpc.auth import AuthSysParms
from nfsclient.xdr import XdrType
from nfsclient.xdr.identity import IdentityKind, octets_in

_LEAST: t.Final = 3


@functools.cache
def _kinds() -> dict[str, IdentityKind]:
    """The names of fields that name somebody in all types that have such a field."""
    declared = [program for protocol in protocols() for program in protocol.declared]
    roots: list[type[XdrType]] = [AuthSysParms]
    roots += [
        cls
        for program in declared
        for procedure in program.procedures
        for cls in (procedure.args, procedure.res)
    ]
    found: dict[str, IdentityKind | None] = {}
    for field in octets_in(roots):
        kind = field.node.identity
        found[field.name] = kind if found.get(field.name, kind) and kind != "body" else None
    return {name: kind for name, kind in found.items() if kind is not None}


@functools.cache
def _pattern() -> re.Pattern[str]:
    names = "|".join(sorted(_kinds(), key=len, reverse=True))
    quoted = r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
    return re.compile(
        rf"(?<![A-Za-z0-9_])(?P<name>{names})(?:\[\d+\])?(?:: |=)"
        rf"(?:(?P<text>{quoted})|(?P<begin>'[^'\n]{{{_LEAST},}}?)(?=\.\.\.)|(?P<hex>(?:[0-9a-f]{{2}})+)(?![0-9a-z]))"
    )


def names_in(text: str) -> Iterator[tuple[IdentityKind, bytes]]:
    """What the fields in a text name."""
    for match in _pattern().finditer(text):
        value = _value(match)
        if len(value) >= _LEAST:
            yield _kinds()[match["name"]], value


def _value(match: re.Match[str]) -> bytes:
    if match["hex"]:
        return bytes.fromhex(match["hex"])
    literal = match["text"] or f"{match['begin']}'"
    try:
        value = ast.literal_eval(f"b{literal}")
    except (SyntaxError, ValueError):
        return b""
    return value if isinstance(value, bytes) else b""

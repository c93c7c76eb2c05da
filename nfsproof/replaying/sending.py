# SPDX-License-Identifier: MIT
"""Requests of a capture sent to a server, and what it answers, compared with the capture."""

from __future__ import annotations

import itertools
import secrets
import typing as t
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nfsclient.protocol import mount, portmap
from nfsclient.xdr import XdrType
from nfsfaults import with_scapy
from nfsfaults.with_scapy import NoScapy
from nfsjudge.showing import flat
from nfsjudge.transcript import full_lines, status_of
from nfsproof.proxying.running import Upstream
from nfsproof.replaying.captured import Request

MOST_TIMES: t.Final = 10_000
_MOST_LINES: t.Final = 100
_MOST_DIFFERENCES: t.Final = 20


class CannotReplay(Exception):
    """The text says what was expected, seen and to do."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How requests are sent."""

    to: Upstream
    new_xid: bool = False
    source_port: int | t.Literal["any", "same"] = "any"
    times: int = 1
    timeout: float = 5.0


def chosen(requests: list[Request], frames: Iterable[int], *, everything: bool) -> list[Request]:
    """The requests that end in these frames; without them, the only one. Raises `CannotReplay`."""
    if not requests:
        raise CannotReplay("the capture has no call of RPC")
    wanted = list(frames)
    missing = [number for number in wanted if all(request.frame != number for request in requests)]
    if missing:
        near = sorted({request.frame for request in requests}, key=lambda frame: abs(frame - missing[0]))[:3]
        raise CannotReplay(
            f"no request ends in frame {missing[0]}; the nearest do in {', '.join(map(str, sorted(near)))} (see --list)"
        )
    if wanted:
        return [request for number in wanted for request in requests if request.frame == number]
    if len(requests) > 1 and not everything:
        raise CannotReplay(
            f"the capture has {len(requests)} requests: choose by --frame (--list shows them), or send --all"
        )
    return requests


def replay(requests: Iterable[Request], wish: Wish) -> Iterator[str]:
    """Send requests; gives lines for the user. Raises `CannotReplay`."""
    try:
        part = with_scapy.replaying()
    except NoScapy as error:
        raise CannotReplay(f"replay {error}") from error
    lines: dict[tuple[t.Any, ...], t.Any] = {}
    numbers = itertools.count(1)
    try:
        for request in requests:
            conversation = (request.transport, request.source, request.destination)
            if conversation not in lines:
                lines[conversation] = _dialled(part, request, wish)
            for _ in range(wish.times):
                yield from _once(part, lines[conversation], request, wish, next(numbers))
    except part.CannotSend as error:
        raise CannotReplay(str(error)) from error
    finally:
        for line in lines.values():
            line.close()


def _dialled(part: t.Any, request: Request, wish: Wish) -> t.Any:
    port = {mount.PROGRAM: wish.to.mount_port, portmap.PROGRAM: wish.to.rpcbind_port}.get(
        request.program, wish.to.nfs_port
    )
    source = {"any": 0, "same": request.source[1]}.get(str(wish.source_port), wish.source_port)
    return part.dial(request.transport, wish.to.host, port or wish.to.nfs_port, source, wish.timeout)


def _once(part: t.Any, line: t.Any, request: Request, wish: Wish, number: int) -> Iterator[str]:
    message = request.message
    if wish.new_xid:
        message = part.with_xid(message, secrets.randbits(32))
    xid = int.from_bytes(message[:4], "big")
    line.send(message)
    reply = line.receive(xid, wish.timeout)
    yield f"frame {request.frame}, sent from port {line.source_port}:"
    if reply is None:
        yield from (
            f"  {line}" for line in full_lines(request.exchange(None, message), number, most=_MOST_LINES)
        )
        yield f"  no reply within {wish.timeout:g} s"
        return
    answered = request.exchange(reply, message)
    yield from (f"  {line}" for line in full_lines(answered, number, most=_MOST_LINES))
    yield from (f"  {difference}" for difference in differences(request, reply))


def differences(request: Request, reply: bytes) -> list[str]:
    """What of a reply differs from that in the capture, its XID aside."""
    before = request.reply
    if before is None:
        return ["the capture has no reply to compare with"]
    if before[4:] == reply[4:]:
        return ["the same reply as in the capture"]
    old, new = request.exchange(before), request.exchange(reply)
    if not (isinstance(old.result, XdrType) and isinstance(new.result, XdrType)):
        return [f"differs from the capture: {_outcome(old)} there, {_outcome(new)} now"]
    fields = [dict(_pairs(exchange.result)) for exchange in (old, new)]
    names = [
        name for name in dict.fromkeys([*fields[0], *fields[1]]) if fields[0].get(name) != fields[1].get(name)
    ]
    lines = [
        f"  {name}: {fields[0].get(name, 'absent')} there, {fields[1].get(name, 'absent')} now"
        for name in names
    ]
    if len(lines) > _MOST_DIFFERENCES:
        lines[_MOST_DIFFERENCES:] = [f"  ... and {len(lines) - _MOST_DIFFERENCES} more"]
    return ["differs from the capture:", *(lines or ["  in bytes that mean the same"])]


def _outcome(exchange: t.Any) -> str:
    return str(exchange.error) if exchange.error is not None else status_of(exchange) or "answered"


def _pairs(value: XdrType) -> Iterator[tuple[str, str]]:
    """Path and text of each field; the elements of a list have a path in common, so they are counted."""
    seen: dict[str, int] = {}
    for line in flat(value):
        path, _, text = line.partition("=")
        seen[path] = seen.get(path, 0) + 1
        yield (path if seen[path] == 1 else f"{path} ({seen[path]})"), text

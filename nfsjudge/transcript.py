# SPDX-License-Identifier: MIT
"""Transcripts: exchanges as text, for people.

A transcript has at most about `MOST_LINES` lines, whatever a check did: the exchange that the verdict is about and the
last one in full, the few before it with their arguments, and one line for each of the first, of the nearest, and of
those without a reply. Another line says how many were left out; they are all in the capture.
"""

from __future__ import annotations

import dataclasses
import itertools
import struct
import typing as t
from collections import Counter, deque
from collections.abc import Iterator, Sequence

from nfsclient.errors import XdrError
from nfsclient.rpc.auth import AuthNone, AuthSys, Credential, RawCredential
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.messages import AuthFlavor
from nfsclient.rpc.program import Step
from nfsclient.xdr import XdrType, format_value
from nfsjudge.answers import describe_error
from nfsjudge.showing import flat

MOST_LINES = 108
_MOST_BESIDES = 16
"""Lines of what is in no exchange, and stands between them."""
_MOST_OF_BESIDES = 5
"""Lines of one such thing."""
_MOST_OF_MARKED, _MOST_OF_LAST = 40, 24
"""Lines of the exchange that the verdict is about, and of the last one besides."""
_WITH_ARGUMENTS = 8
"""Exchanges before the last one that are shown with their arguments, on two lines."""
_FIRST, _NEAREST, _BROKEN = 3, 6, 3
"""Exchanges with one line: the first, those next to the ones above, those without a reply."""
_MOST_BYTES = 256
_LONGEST_CALL = 240
_LONGEST_COMPOUND = 300
_SHORTEST_STEP = 24
"""Characters that each operation of a compound has at least."""
_MOST_STEPS = 16
"""Operations of a compound in one line."""
_MOST_NAMES = 12
"""Operations of a compound that its line names."""
_ARROW = "    <-- "


@dataclasses.dataclass(frozen=True, slots=True)
class Besides:
    """Something that passed, or was seen, besides the exchanges."""

    at: float
    lines: Sequence[str]
    """The first says what; bytes may follow."""


def as_whom(credential: Credential | None) -> str:
    """As whom a call was made: flavor and ids. Empty where that is not known."""
    match credential:
        case AuthSys():
            groups = f", gids {' '.join(map(str, credential.gids))}" if credential.gids else ""
            return f"AUTH_SYS uid {credential.uid}, gid {credential.gid}{groups}"
        case AuthNone():
            return "AUTH_NONE"
        case RawCredential():
            known = credential.flavor in set(AuthFlavor)
            name = AuthFlavor(credential.flavor).name if known else f"flavor {credential.flavor}"
            return f"{name}, {len(credential.body)} bytes"
    return "" if credential is None else type(credential).__name__


def name_of(exchange: Exchange) -> str:
    """What was called, with the operations of a compound: ``COMPOUND (PUTFH, GETATTR)``."""
    if exchange.procedure is None:
        return "raw bytes"
    name = f"{'callback ' if exchange.is_callback else ''}{exchange.procedure.name}"
    if not exchange.is_compound:
        return name
    return f"{name} ({_names(exchange.steps)})"


def _names(steps: Sequence[Step]) -> str:
    names = [step.operation.name for step in steps]
    more = f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"


def status_of(exchange: Exchange) -> str:
    """The status of the reply; of a compound that stopped, also where. Empty without a status."""
    status = getattr(exchange.result, "status", None)
    if status is None or not exchange.is_compound or not status:
        return "" if status is None else str(status)
    last = next((step for step in reversed(exchange.steps) if step.result is not None), None)
    return str(status) if last is None else f"{last.operation.name} {status}"


def summary_line(exchange: Exchange, number: int, *, usual: Credential | None = None) -> str:
    """One exchange in one line; says as whom it was made where that is not the `usual` credential."""
    name = name_of(exchange)
    if exchange.error is not None:
        outcome = describe_error(exchange.error)
    elif exchange.reply is None:
        outcome = "no reply"
    else:
        outcome = status_of(exchange) or "answered"
    took = ""
    if exchange.received_at is not None:
        took = f" ({(exchange.received_at - exchange.sent_at) * 1000:.1f} ms)"
    whom = as_whom(exchange.credential) if usual is not None and exchange.credential != usual else ""
    return f"#{number} {name}{f' as {whom}' if whom else ''} xid 0x{exchange.xid:08x} -> {outcome}{took}"


def call_line(exchange: Exchange, subject: object = None, field: str | None = None) -> str:
    """The call in one line, with its arguments: ``LOOKUP what.dir=0102..., what.name='f'``.

    Of a compound the operation that `subject` or `field` is about, and its place:
    ``LOOKUP (operation 3 of SEQUENCE, PUTFH, LOOKUP) objname='f'``; all operations if that is none of them.
    """
    if exchange.procedure is None:
        return f"a message of {len(exchange.call)} bytes that the check wrote byte by byte"
    if exchange.is_compound:
        place = place_of(exchange, subject, field)
        if place is not None:
            steps = exchange.steps
            of = f" (operation {place + 1} of {_names(steps)})" if len(steps) > 1 else ""
            return _short(_step_line(steps[place], of))
        return f"{exchange.procedure.name} {_steps_line(exchange.steps)}".rstrip()
    return f"{exchange.procedure.name} {_given(exchange)}".rstrip()


def place_of(exchange: Exchange, subject: object, field: str | None) -> int | None:
    """The index of the operation of a compound that a field of `subject` is about; None if it is none of them."""
    if subject is None:
        return None
    step = exchange.step_of(subject)
    for index, operation in enumerate(exchange.steps):
        path = exchange.path_to(index)
        is_within = step is None and field and (field == path or field.startswith((f"{path}.", f"{path}[")))
        if is_within or (step is not None and exchange.part_of_server(operation) is subject):
            return index
    return None


def _step_line(step: Step, place: str = "") -> str:
    return f"{step.operation.name}{place} {', '.join(_arguments(step.args))}".rstrip()


def _given(exchange: Exchange) -> str:
    """The arguments in one line."""
    args = exchange.args
    if exchange.is_compound:
        return _steps_line(exchange.steps)
    return _short(", ".join(_arguments(args)))


def _steps_line(steps: Sequence[Step]) -> str:
    """The operations of a compound in one line. Long ones share the room that short ones leave."""
    lines = [_step_line(step) for step in steps[:_MOST_STEPS]]
    room, share = _LONGEST_COMPOUND, 0
    for left, size in zip(range(len(lines), 0, -1), sorted(map(len, lines)), strict=True):
        share = max(_SHORTEST_STEP, room // left)
        room -= min(size, share)
    more = f"; and {len(steps) - _MOST_STEPS} more" if len(steps) > _MOST_STEPS else ""
    return "; ".join(_short(line, share) for line in lines) + more


def _short(text: str, longest: int = 0) -> str:
    longest = longest or _LONGEST_CALL
    return text if len(text) <= longest else f"{text[:longest]}..."


def _arguments(value: object) -> Iterator[str]:
    """``path=value`` of each field."""
    return flat(value) if isinstance(value, XdrType) else iter(())


def _indent(lines: Sequence[str], by: str) -> list[str]:
    return [by + line for line in lines]


def hexdump(data: bytes) -> list[str]:
    """Offsets and bytes, 16 a line; long data is cut, with its length."""
    shown = data[:_MOST_BYTES]
    lines = []
    for at in range(0, len(shown), 16):
        words = " ".join(shown[at : at + 16][i : i + 4].hex() for i in range(0, len(shown[at : at + 16]), 4))
        lines.append(f"{at:06x}  {words}")
    if len(data) > _MOST_BYTES:
        lines.append(f"... {len(data)} bytes")
    return lines


_REPLY_HEAD = struct.Struct(">6I")
"""Of an accepted reply: XID, REPLY, MSG_ACCEPTED, flavor and length of the verifier; then its body and the status."""


def _where_results_begin(reply: bytes) -> str:
    """Errors count bytes from the results, a dump from the message: where the one begins in the other."""
    if len(reply) < _REPLY_HEAD.size:
        return ""
    _, kind, denied, _, verifier, _ = _REPLY_HEAD.unpack_from(reply)
    begin = _REPLY_HEAD.size + (verifier + 3) // 4 * 4
    if (kind, denied) != (1, 0) or begin > len(reply):
        return ""
    return f"; the results begin at 0x{begin:06x} ({begin})"


def cut(lines: Sequence[str], signed: Sequence[int], most: int) -> tuple[list[str], list[int]]:
    """About `most` lines: the first ones, and those around the lines `signed`; their new places as well."""
    if len(lines) <= most:
        return [*lines], [*signed]
    around = max(most // 8, 2)
    near = {at for mark in signed[:4] for at in range(mark - around, mark + around)} & {*range(len(lines))}
    kept = {at for at in range(len(lines)) if at < most - len(near) or at in near}
    found: list[str] = []
    places: list[int] = []
    for is_kept, group in itertools.groupby(range(len(lines)), lambda at: at in kept):
        block = [*group]
        if is_kept:
            places += [len(found) + at - block[0] for at in block if at in signed]
            found += [lines[at] for at in block]
        else:
            found.append(f"... {len(block)} lines are left out")
    return found, places


def full_lines(
    exchange: Exchange,
    number: int,
    *,
    mark: str | None = None,
    note: str = "here",
    most: int | None = None,
) -> list[str]:
    """One exchange with its decoded call and reply; `mark` is the field of the reply to point at."""
    lines = [summary_line(exchange, number)]
    whom = as_whom(exchange.credential)
    lines += [f"  as: {whom}"] if whom else []
    is_stepped = _shows_steps(exchange, mark)
    if isinstance(exchange.args, XdrType):
        of_call = mark if exchange.is_callback else None
        shown = (
            _without_lists(exchange.args)
            if is_stepped
            else format_value(exchange.args, mark=of_call, note=note)
        )
        whose = " of the server" if exchange.is_callback else ""
        lines += [f"  call{whose}:", *_indent(shown, "    ")]
    if is_stepped:
        lines += _step_lines(exchange, mark, note)
    elif isinstance(exchange.result, XdrType):
        of_reply = None if exchange.is_callback else mark
        lines += ["  reply:", *_indent(format_value(exchange.result, mark=of_reply, note=note), "    ")]
    elif exchange.reply is not None:
        if isinstance(exchange.error, XdrError):
            lines.append(f"  reply does not decode: {exchange.error.path}{_ARROW}{exchange.error.detail}")
        lines += [
            f"  reply bytes{_where_results_begin(exchange.reply)}:",
            *_indent(hexdump(exchange.reply), "    "),
        ]
    if most is None:
        return lines
    return cut(lines, [at for at, line in enumerate(lines) if _ARROW in line], most)[0]


def _shows_steps(exchange: Exchange, mark: str | None) -> bool:
    """Whether the reply is shown operation by operation: so is a compound, unless what is marked is outside of them."""
    if not exchange.is_compound or not isinstance(exchange.result, XdrType) or not exchange.steps:
        return False
    return mark is None or any(
        _inside(exchange, at, step, mark) is not None for at, step in enumerate(exchange.steps)
    )


def _inside(exchange: Exchange, at: int, step: Step, mark: str | None) -> str | None:
    """The path in what the server said of a step of what is marked in all of it; empty for that itself."""
    path = exchange.path_to(at)
    if mark is None or exchange.part_of_server(step) is None or not f"{mark}.".startswith(f"{path}."):
        return None
    return mark[len(path) + 1 :]


def _without_lists(value: XdrType) -> list[str]:
    """The fields of a compound besides its operations."""
    lists = {name for name in value.__xdr_fields__ if isinstance(getattr(value, name), list)}
    shown, is_left_out = [], False
    for line in format_value(value):
        if not line.startswith(" "):
            is_left_out = line.partition(":")[0] in lists
        if not is_left_out:
            shown.append(line)
    return shown


def _step_lines(exchange: Exchange, mark: str | None, note: str) -> list[str]:
    """The operations of a compound with their results."""
    lines: list[str] = []
    for at, step in enumerate(exchange.steps):
        inside = _inside(exchange, at, step, mark)
        arrow = f"{_ARROW}{note}" if inside == "" else ""
        ending = "" if step.result is not None else ": no result"
        lines.append(f"  [{at}] {step.operation.name}{ending}{arrow}")
        of_call, of_reply = (inside, None) if exchange.is_callback else (None, inside)
        if isinstance(step.args, XdrType):
            lines += _indent(format_value(step.args, mark=of_call, note=note), "    ")
        if isinstance(step.result, XdrType):
            lines += ["    reply:", *_indent(format_value(step.result, mark=of_reply, note=note), "      ")]
    return lines


def transcript(
    exchanges: Sequence[Exchange],
    besides: Sequence[Besides] = (),
    *,
    subject: object = None,
    field: str | None = None,
    note: str = "here",
) -> list[str]:
    """The exchanges of a check, and what happened besides, within `MOST_LINES`.

    `subject` is a decoded reply, the result of one operation, or an exchange. `field` is the dotted path of the
    deviating field in `subject`, and `note` what stands at the arrow to it.
    """
    full = _in_full(exchanges, subject, field, note)
    brief = _in_brief(exchanges, full.keys())
    usual = _usual(exchanges)
    parts: list[tuple[float, list[str]]] = []
    for is_shown, group in itertools.groupby(range(len(exchanges)), lambda at: at in full or at in brief):
        places = [*group]
        if not is_shown and len(places) > 1:
            parts.append((exchanges[places[0]].sent_at, [_left_out([exchanges[at] for at in places])]))
            continue
        for at in places:
            shown = full.get(at) or [summary_line(exchanges[at], at + 1, usual=usual)]
            parts.append((exchanges[at].sent_at, shown))
    return _merged(parts, _few(besides, _MOST_BESIDES))


def _few(besides: Sequence[Besides], most: int) -> list[Besides]:
    """The first and the last of many, shortened until they have about `most` lines."""
    if len(besides) > most:
        half = most // 2
        between = besides[half : len(besides) - half]
        omitted = Besides(between[0].at, [f"... {len(between)} more of the same kinds"])
        besides = [*besides[:half], omitted, *besides[len(besides) - half :]]
    room = max(1, min(_MOST_OF_BESIDES, most // max(len(besides), 1)))
    return [Besides(part.at, part.lines[:room]) for part in besides]


def _merged(parts: Sequence[tuple[float, Sequence[str]]], besides: Sequence[Besides]) -> list[str]:
    """The parts, in their order, with what happened before each of them, and after the last one."""
    lines: list[str] = []
    rest = deque(sorted(besides, key=lambda part: part.at))
    for at, shown in [*parts, (float("inf"), ())]:
        while rest and rest[0].at <= at:
            first, *more = rest.popleft().lines
            lines += [f"- {first}", *_indent(more, "    ")]
        lines += shown
    return lines


def _usual(exchanges: Sequence[Exchange]) -> Credential | None:
    """As whom most calls were made."""
    known = Counter(exchange.credential for exchange in exchanges if exchange.credential is not None)
    return known.most_common(1)[0][0] if known else None


def _in_full(
    exchanges: Sequence[Exchange], subject: object, field: str | None, note: str
) -> dict[int, list[str]]:
    """The exchange that is `subject` and the last one in full, and those before it with their arguments."""
    marked = next((at for at, exchange in enumerate(exchanges) if exchange.is_about(subject)), None)
    last = len(exchanges) - 1
    found: dict[int, list[str]] = {}
    if marked is not None:
        path = exchanges[marked].path_of(subject, field)
        found[marked] = full_lines(exchanges[marked], marked + 1, mark=path, note=note, most=_MOST_OF_MARKED)
    if last >= 0 and last != marked:
        most = _MOST_OF_MARKED if marked is None else _MOST_OF_LAST
        found[last] = full_lines(exchanges[last], last + 1, most=most)
    usual = _usual(exchanges)
    for at in range(max(0, last - _WITH_ARGUMENTS), last):
        if at not in found:
            lines = [summary_line(exchanges[at], at + 1, usual=usual)]
            found[at] = lines + [f"  call: {text}" for text in [_given(exchanges[at])] if text]
    return found


def _in_brief(exchanges: Sequence[Exchange], full: t.Collection[int]) -> set[int]:
    """Exchanges to show with one line."""
    others = [at for at in range(len(exchanges)) if at not in full]
    nearest = sorted(others, key=lambda at: min((abs(at - place) for place in full), default=0))[:_NEAREST]
    broken = [at for at in others if exchanges[at].error is not None or exchanges[at].reply is None]
    return {*others[:_FIRST], *nearest, *broken[:_BROKEN]}


def _left_out(exchanges: Sequence[Exchange]) -> str:
    """How many of which procedures and outcomes."""
    kinds = Counter(_kind(exchange) for exchange in exchanges)
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(4))
    more = f", {len(kinds) - 4} other kinds" if len(kinds) > 4 else ""
    return f"... {len(exchanges)} exchanges left out: {counted}{more}"


def _kind(exchange: Exchange) -> str:
    return f"{name_of(exchange)} {status_of(exchange)}".rstrip()


def short_transcript(
    exchanges: Sequence[Exchange], besides: Sequence[Besides] = (), most: int = 50
) -> list[str]:
    """A line each, the first `most` of them."""
    usual = _usual(exchanges[:most])
    parts = [
        (exchange.sent_at, [summary_line(exchange, number, usual=usual)])
        for number, exchange in enumerate(itertools.islice(exchanges, most), 1)
    ]
    few = [Besides(part.at, part.lines[:1]) for part in _few(besides, _MOST_BESIDES)]
    lines = _merged(parts, few)
    if len(exchanges) > most:
        lines.append(f"... {len(exchanges) - most} more")
    return lines

# SPDX-License-Identifier: MIT
"""A fault plan in a TOML file (docs/faults.md). Every mistake in it is reported with its line and its field."""

from __future__ import annotations

import contextlib
import dataclasses
import random
import typing as t
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from nfsclient.similar import similar_text
from nfsfaults import functions, with_scapy
from nfsfaults.actions import ACTIONS, Action, CallFunction, ChangePacket, SetBytes, SetField
from nfsfaults.fields import check_path, tokens_of, value_at
from nfsfaults.messages import Message
from nfsfaults.names import BadPlan
from nfsfaults.plan import Link, Plan, Predicate, Rule, Selector
from nfsfaults.with_scapy import NoScapy
from reports.places import Places

_FILE_FIELDS: t.Final = ("seed", "rule", "link")
_PLAIN: t.Final = ("on", "program", "version", "nth", "every", "probability", "count")
"""Fields of a rule that a `Selector` has under the same name."""
_RULE_FIELDS: t.Final = ("name", *_PLAIN, "procedure", "where", "do", "must_fire")
_LINK_FIELDS: t.Final = tuple(field.name for field in dataclasses.fields(Link))
_HEX: t.Final = ("data", "flip")
MOST_BYTES: t.Final = 1 << 20
"""Bytes of a file of a plan."""
_SEEDS: t.Final = 1 << 32


class BadPlanFile(ValueError):
    """A file that describes no plan; the text names line and field."""


def load_plan(path: Path, seed: int | None = None) -> Plan:
    """Read a file; `seed` replaces the one in it. Raises OSError and `BadPlanFile`."""
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise BadPlanFile(f"{path}: expected {MOST_BYTES} bytes at most")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadPlanFile(f"{path}: expected text in UTF-8: {error}") from error
    return parse_plan(text, str(path), seed, path.parent)


def parse_plan(text: str, name: str, seed: int | None = None, folder: Path | None = None) -> Plan:
    """A plan of the text of a file. Without a seed, one is drawn. Raises `BadPlanFile`.

    `folder` is where modules of functions are looked for first; without it a plan may name none.
    """
    plan = _Reader(text, name, folder).plan()
    if seed is None:
        seed = plan.seed or random.randrange(1, _SEEDS)
    return dataclasses.replace(plan, seed=seed)


class _Reader(Places):
    def __init__(self, text: str, name: str, folder: Path | None) -> None:
        super().__init__(text, name, BadPlanFile)
        self._folder = folder

    def plan(self) -> Plan:
        plain = self.parse()
        self._known(plain, _FILE_FIELDS, 0, "a plan")
        seed = self.number(plain, "seed", 0, 0, "a number")
        rules = [self._rule(table, line) for table, line in self._tables(plain, "rule")]
        links = [self._link(table, line) for table, line in self._tables(plain, "link")]
        if not (rules or links):
            raise self.bad(0, "rule", "expected tables [[rule]] or [[link]], at least one")
        made: Plan = self._made(0, lambda: Plan(tuple(rules), tuple(links), seed))
        return made

    def _tables(self, plain: dict[str, t.Any], key: str) -> Iterable[tuple[dict[str, t.Any], int]]:
        tables = plain.get(key, [])
        if not (isinstance(tables, list) and all(isinstance(table, dict) for table in tables)):
            raise self.bad(0, key, f"expected tables [[{key}]]")
        return zip(tables, [*self.tables(key), *([0] * len(tables))], strict=False)

    def _known(self, table: dict[str, t.Any], known: tuple[str, ...], start: int, what: str) -> None:
        """No other fields; the error has near matches."""
        for key in table:
            if key not in known:
                near = similar_text(key, known, f"there are {', '.join(known)}")
                raise self.bad(start, key, f"unknown field of {what}{near}")

    def _made(self, start: int, make: Callable[[], t.Any], at: str = "") -> t.Any:
        """What a constructor gives; its mistake is said with the line of the field that it names."""
        try:
            return make()
        except BadPlan as error:
            key, _, what = str(error).partition(": ")
            raise self.bad(start, at or key, f"{key}: {what}" if at else what) from error
        except TypeError as error:
            raise self.bad(start, at or "do", f"expected other values: {error}") from error

    # Rules

    def _rule(self, table: dict[str, t.Any], start: int) -> Rule:
        self._known(table, _RULE_FIELDS, start, "[[rule]]")
        selector = self._selector(table, start)
        where = table.get("where")
        if where is not None:
            predicate = self._predicate(where, selector, start)
            reads_packets = any(path.startswith("packet.") for path, _ in _flat(where))
            selector = dataclasses.replace(selector, where=predicate, reads_packets=reads_packets)
        actions = self._actions(table, selector, start)
        name = self.text(table, "name", start)
        must_fire = self.flag(table, "must_fire", True, start)
        made: Rule = self._made(start, lambda: Rule(selector, actions, name, must_fire))
        return made

    def _selector(self, table: dict[str, t.Any], start: int) -> Selector:
        values = {key: table[key] for key in _PLAIN if key in table}
        self.one_of(table, "on", ("call", "reply"), "call", start)
        for key in ("version", "nth", "every", "count"):
            self.number(table, key, 1, start, "a number")
        if not isinstance(values.get("program", ""), str | int) or isinstance(values.get("program"), bool):
            raise self.bad(start, "program", f"expected a name or a number, seen {values['program']!r}")
        if not isinstance(values.get("probability", 1.0), int | float):
            raise self.bad(start, "probability", f"expected a number, seen {values['probability']!r}")
        names = table.get("procedure", ())
        names = (names,) if isinstance(names, str) else self.texts(table, "procedure", start)
        made: Selector = self._made(start, lambda: Selector(**values, operations=tuple(names)))
        return made

    def _predicate(self, where: t.Any, selector: Selector, start: int) -> Predicate:
        if not (isinstance(where, dict) and where):
            raise self.bad(start, "where", "expected fields with their values")
        wanted: list[tuple[list[str | int], t.Any]] = []
        for path, value in _flat(where):
            if path.startswith("packet."):
                self._check_packet_field(path.removeprefix("packet."), start, "where")
            else:
                self._check_path(path, selector, start, "where")
            wanted.append((tokens_of(path), self._value(value, start, "where")))

        def predicate(message: Message) -> bool:
            return all(_is(value_at(message, parts), value) for parts, value in wanted)

        return predicate

    def _check_packet_field(self, path: str, start: int, key: str) -> None:
        """As far as scapy, which knows the layers, is there; without it the plan cannot be carried out."""
        with contextlib.suppress(NoScapy):
            self._made(start, lambda: with_scapy.making().check_field(path), key)

    def _check_path(self, path: str, selector: Selector, start: int, key: str) -> None:
        self._made(start, lambda: check_path(path, selector.on, selector.names), key)

    def _value(self, value: t.Any, start: int, key: str) -> t.Any:
        """A value of a field: text is its bytes in UTF-8, ``{ hex = "00ff" }`` is any bytes."""
        if isinstance(value, str):
            return value.encode()
        if isinstance(value, dict) and set(value) == {"hex"}:
            return self._hex(value["hex"], start, key)
        if isinstance(value, int):
            return value
        raise self.bad(start, key, f'expected a number, a text or {{ hex = "00ff" }}, seen {value!r}')

    def _hex(self, value: t.Any, start: int, key: str) -> bytes:
        try:
            return bytes.fromhex(value)
        except (ValueError, TypeError) as error:
            raise self.bad(start, key, f"expected bytes as hexadecimal digits, seen {value!r}") from error

    # Actions

    def _actions(self, table: dict[str, t.Any], selector: Selector, start: int) -> tuple[Action, ...]:
        plain = table.get("do")
        if isinstance(plain, str | dict):
            plain = [plain]
        if not (isinstance(plain, list) and plain and all(isinstance(item, str | dict) for item in plain)):
            raise self.bad(
                start, "do", 'expected an action such as "drop" or { action = "delay", seconds = 1 }'
            )
        return tuple(
            self._action({"action": item} if isinstance(item, str) else item, selector, start)
            for item in plain
        )

    def _action(self, table: dict[str, t.Any], selector: Selector, start: int) -> Action:
        name = table.get("action")
        cls = ACTIONS.get(name) if isinstance(name, str) else None
        if cls is None:
            near = similar_text(str(name), ACTIONS, f"there are {', '.join(ACTIONS)}")
            raise self.bad(start, "do", f"unknown action {name!r}{near}")
        known = tuple(field.name for field in dataclasses.fields(cls) if field.repr)
        values = {key: value for key, value in table.items() if key != "action"}
        for key, value in values.items():
            if key not in known:
                near = similar_text(key, known, f"it has {', '.join(known) or 'none'}")
                raise self.bad(start, "do", f"unknown field {key!r} of {name}{near}")
            values[key] = self._action_value(cls, key, value, start)
        if cls is CallFunction:
            values["function"] = self._function(values.get("name"), start)
        action: Action = self._made(start, lambda: cls(**values), "do")
        if isinstance(action, SetField):
            self._check_path(action.field, selector, start, "do")
        if isinstance(action, ChangePacket):
            self._check_packet_field(action.field, start, "do")
        return action

    def _function(self, name: t.Any, start: int) -> t.Any:
        if not isinstance(name, str):
            raise self.bad(start, "do", 'function: expected name = "module:function"')
        folder = self._folder
        if folder is None:
            raise self.bad(start, "do", "function: only a plan in a file may name a function")
        return self._made(start, lambda: functions.load(name, folder), "do")

    def _action_value(self, cls: type[Action], key: str, value: t.Any, start: int) -> t.Any:
        if cls in {SetField, ChangePacket} and key == "value":
            return self._value(value, start, "do")
        if cls is SetBytes and key in _HEX:
            return self._hex(value, start, "do")
        if key == "sizes":
            if not (isinstance(value, list) and all(_is_whole(item) for item in value)):
                raise self.bad(start, "do", f"sizes: expected a list of numbers, seen {value!r}")
            return tuple(value)
        kind = t.get_type_hints(cls)[key]
        if kind is float:
            is_right = isinstance(value, int | float) and not isinstance(value, bool)
        elif kind is bool:
            is_right = isinstance(value, bool)
        elif kind in {int, int | None}:
            is_right = _is_whole(value)
        else:
            is_right = isinstance(value, str)
        if not is_right:
            raise self.bad(start, "do", f"{key}: expected another kind of value, seen {value!r}")
        return value

    # Links

    def _link(self, table: dict[str, t.Any], start: int) -> Link:
        self._known(table, _LINK_FIELDS, start, "[[link]]")
        self.one_of(table, "toward", ("server", "client"), "", start)
        for key, value in table.items():
            if key not in {"toward", "shared"} and (
                not isinstance(value, int | float) or isinstance(value, bool)
            ):
                raise self.bad(start, key, f"expected a number, seen {value!r}")
        made: Link = self._made(start, lambda: Link(**table))
        return made


def _is_whole(value: t.Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _flat(table: dict[str, t.Any], before: str = "") -> Iterator[tuple[str, t.Any]]:
    """Paths and values: TOML makes tables of ``args.count = 1``, and none of ``"args.count" = 1``."""
    for key, value in table.items():
        if isinstance(value, dict) and set(value) != {"hex"}:
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, value


def _is(seen: t.Any, wanted: t.Any) -> bool:
    if isinstance(wanted, bytes) and not isinstance(seen, bytes | memoryview | bytearray):
        return str(seen).encode() == wanted  # of scapy: an address, or flags
    if isinstance(seen, memoryview | bytearray):
        seen = bytes(seen)
    return bool(seen == wanted)

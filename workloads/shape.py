# SPDX-License-Identifier: MIT
"""JSON by the annotations of dataclasses: strict reading, writing, and the JSON schema of the same.

A file may come from a stranger. So its size is limited before it is parsed, every list, map and text has a limit, all
fields must be there, no other may be, and types are not converted. The annotations that are understood:

| annotation | JSON |
| --- | --- |
| ``bool``, ``int``, ``float``, ``str`` | the same; whole numbers from 0 to 2^63 - 1, others finite, not below 0 |
| ``Scalar`` | one of these four, numbers of any sign |
| a ``StrEnum`` | one of its values |
| ``X | None`` | X or null |
| ``tuple[X, ...]``, ``dict[str, X]`` | an array, an object |
| a dataclass | an object with its fields |
| a class with `from_plain`, `to_plain` and `json_schema` | what these say |
| ``Annotated[..., Most(n)]`` | the same with at most n characters, elements or keys |
"""

from __future__ import annotations

import enum
import functools
import json
import math
import types
import typing as t
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path

Scalar = str | int | float | bool
_LARGEST = (1 << 63) - 1
_T = t.TypeVar("_T")
Plain = t.Any
"""What `json` reads and writes."""


@dataclass(frozen=True)
class Most:
    """At most this many characters, elements or keys."""

    number: int


_DEFAULT = {str: Most(1000), tuple: Most(1000), dict: Most(1000)}
_LONGEST_KEY = 100
_SHOWN = 60


class Misshaped(ValueError):
    """A value is not as its class says. The text names the field, what was expected, and what is there."""


@functools.cache
def hints_of(cls: type) -> dict[str, t.Any]:
    """The annotations of the fields of a dataclass, with what `Annotated` adds."""
    hints = t.get_type_hints(cls, include_extras=True)
    return {each.name: hints[each.name] for each in fields(cls)}


def to_plain(value: object) -> Plain:
    """What `json` can write, of a value of such a class."""
    if hasattr(value, "to_plain"):
        return value.to_plain()
    if is_dataclass(value):
        return {each.name: to_plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {str(key): to_plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(each) for each in value]
    return str(value) if isinstance(value, enum.Enum) else value


def from_plain(cls: type[_T], plain: Plain, *, name: str) -> _T:
    """The value of a class that `plain` is the JSON of; `name` is what messages call it. Raises Misshaped."""
    return t.cast("_T", _read(cls, plain, name, None))


def read_json(path: Path, *, most: int) -> Plain:
    """The JSON of a file of at most `most` bytes. Raises OSError and Misshaped."""
    with path.open("rb") as file:
        octets = file.read(most + 1)
    if len(octets) > most:
        raise Misshaped(f"{path}: expected at most {most} bytes, got more")
    try:
        return json.loads(octets.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Misshaped(f"{path}: expected JSON, got: {str(error)[:200]}") from None


def _unique(pairs: list[tuple[str, Plain]]) -> dict[str, Plain]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is there twice")
    return made


def _no_constant(text: str) -> Plain:
    raise ValueError(f"{text} is no number of JSON")


def _shown(plain: Plain) -> str:
    text = repr(plain)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _wrong(name: str, expected: str, plain: Plain) -> Misshaped:
    return Misshaped(f"{name}: expected {expected}, got {_shown(plain)}")


def _read(hint: t.Any, plain: Plain, name: str, most: Most | None) -> object:
    origin, args = t.get_origin(hint), t.get_args(hint)
    if origin is t.Annotated:
        return _read(args[0], plain, name, next(each for each in args[1:] if isinstance(each, Most)))
    if hint == Scalar:
        return _scalar(plain, name)
    if origin in {types.UnionType, t.Union}:
        return None if plain is None else _read(_without_none(args), plain, name, most)
    if origin in {tuple, dict}:
        return _collection(origin, args, plain, name, most or _DEFAULT[origin])
    if hasattr(hint, "from_plain"):
        try:
            return hint.from_plain(plain)
        except ValueError as error:
            raise Misshaped(f"{name}: {error}") from None
    if is_dataclass(hint):
        return _object(t.cast("type", hint), plain, name)
    return _single(hint, plain, name, most)


def _without_none(args: tuple[t.Any, ...]) -> t.Any:
    (hint,) = (each for each in args if each is not types.NoneType)
    return hint


def _scalar(plain: Plain, name: str) -> Scalar:
    match plain:
        case bool():
            return plain
        case str() if len(plain) <= _DEFAULT[str].number:
            return plain
        case int() if abs(plain) <= _LARGEST:
            return plain
        case float() if math.isfinite(plain):
            return plain
    raise _wrong(name, "a text, a number, true or false", plain)


def _single(hint: t.Any, plain: Plain, name: str, most: Most | None) -> object:
    if isinstance(hint, type) and issubclass(hint, enum.StrEnum):
        if plain in list(hint):
            return hint(plain)
        raise _wrong(name, "one of " + ", ".join(hint), plain)
    if hint is bool:
        if isinstance(plain, bool):
            return plain
        raise _wrong(name, "true or false", plain)
    if hint is str:
        limit = (most or _DEFAULT[str]).number
        if isinstance(plain, str) and len(plain) <= limit:
            return plain
        raise _wrong(name, f"a text of at most {limit} characters", plain)
    if hint is int:
        if isinstance(plain, int) and not isinstance(plain, bool) and 0 <= plain <= _LARGEST:
            return plain
        raise _wrong(name, "a whole number from 0 to 2^63 - 1", plain)
    assert hint is float, f"no JSON for {hint}"
    if isinstance(plain, int | float) and not isinstance(plain, bool) and 0 <= plain <= 1e300:
        return float(plain)
    raise _wrong(name, "a number that is not negative", plain)


def _collection(origin: type, args: tuple[t.Any, ...], plain: Plain, name: str, most: Most) -> object:
    wanted = list if origin is tuple else dict
    what = "an array" if origin is tuple else "an object"
    if not isinstance(plain, wanted) or len(plain) > most.number:
        raise _wrong(name, f"{what} of at most {most.number}", plain)
    if isinstance(plain, list):
        return tuple(_read(args[0], each, f"{name}[{index}]", None) for index, each in enumerate(plain))
    assert isinstance(plain, dict)
    if any(len(key) > _LONGEST_KEY for key in plain):
        raise _wrong(name, f"keys of at most {_LONGEST_KEY} characters", max(plain, key=len))
    return {key: _read(args[1], each, f"{name}.{key}", None) for key, each in plain.items()}


def _object(cls: type, plain: Plain, name: str) -> object:
    if not isinstance(plain, dict):
        raise _wrong(name, "an object", plain)
    hints = hints_of(cls)
    if missing := [each for each in hints if each not in plain]:
        raise Misshaped(f"{name}: expected the fields {', '.join(hints)}, got none named {missing[0]}")
    if unknown := [each for each in plain if each not in hints]:
        raise Misshaped(f"{name}: expected no field named {_shown(unknown[0])}")
    read = {each: _read(hint, plain[each], f"{name}.{each}", None) for each, hint in hints.items()}
    try:
        return cls(**read)
    except ValueError as error:  # what the class itself checks
        raise error if isinstance(error, Misshaped) else Misshaped(f"{name}: {error}") from None


def schema_of(cls: type, *, title: str) -> dict[str, Plain]:
    """The JSON schema (draft 2020-12) of a dataclass, with the same limits as `from_plain`."""
    found: dict[str, Plain] = {}
    top = _object_schema(cls, found)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **top, "$defs": found}


def _schema(hint: t.Any, most: Most | None, found: dict[str, Plain]) -> Plain:
    origin, args = t.get_origin(hint), t.get_args(hint)
    if origin is t.Annotated:
        return _schema(args[0], next(each for each in args[1:] if isinstance(each, Most)), found)
    if hint == Scalar:
        return {"type": ["string", "number", "boolean"], "maxLength": _DEFAULT[str].number}
    if origin in {types.UnionType, t.Union}:
        return {"anyOf": [_schema(_without_none(args), most, found), {"type": "null"}]}
    if origin is tuple:
        return {
            "type": "array",
            "maxItems": (most or _DEFAULT[tuple]).number,
            "items": _schema(args[0], None, found),
        }
    if origin is dict:
        return {
            "type": "object",
            "maxProperties": (most or _DEFAULT[dict]).number,
            "propertyNames": {"maxLength": _LONGEST_KEY},
            "additionalProperties": _schema(args[1], None, found),
        }
    if hasattr(hint, "json_schema") or is_dataclass(hint):
        return _named(hint, found)
    if issubclass(hint, enum.StrEnum):
        return {"enum": [str(each) for each in hint]}
    return {
        str: {"type": "string", "maxLength": (most or _DEFAULT[str]).number},
        bool: {"type": "boolean"},
        int: {"type": "integer", "minimum": 0, "maximum": _LARGEST},
        float: {"type": "number", "minimum": 0},
    }[hint]


def _named(cls: t.Any, found: dict[str, Plain]) -> Plain:
    if cls.__name__ not in found:
        found[cls.__name__] = {}
        found[cls.__name__] = cls.json_schema() if hasattr(cls, "json_schema") else _object_schema(cls, found)
    return {"$ref": f"#/$defs/{cls.__name__}"}


def _object_schema(cls: type, found: dict[str, Plain]) -> Plain:
    hints = hints_of(cls)
    return {
        "type": "object",
        "description": (cls.__doc__ or "").partition("\n")[0],
        "additionalProperties": False,
        "required": list(hints),
        "properties": {name: _schema(hint, None, found) for name, hint in hints.items()},
    }

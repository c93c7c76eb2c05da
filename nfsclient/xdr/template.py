# SPDX-License-Identifier: MIT
"""Templates: an encoding that is made once, with the fields that differ from message to message left open.

    template = Template(tokens(value), {"Args.array": "count", "Args.array[0].number": "number"})
    buffers = template.fill(3, 7)

The open fields are named by their paths in the tokens of the reflective codec: a number, a flag, bytes of fixed length,
the count of an array, or bytes of any length with their length and padding. All between them is constant, so that a run
of constants and numbers is one `struct`. What is filled in is not checked: it comes from values that were.
"""

from __future__ import annotations

import struct
import typing as t
from collections.abc import Iterable, Mapping, Sequence

from nfsclient.xdr.kinds import BoolNode, Buffer, FixedOpaqueNode, IntNode, Opaque
from nfsclient.xdr.reflect import Token
from nfsclient.xdr.types import Struct
from nfsclient.xdr.writer import PADDING

_length = struct.Struct(">I").pack
_SHORT: t.Final = 256
_LENGTHS: t.Final = tuple(_length(size) for size in range(_SHORT))


def opaque(data: bytes) -> bytes:
    """Bytes with their length and padding."""
    size = len(data)
    return _length(size) + data + PADDING[size & 3] if size & 3 else _length(size) + data


class Template:
    """One encoding with open fields. `fill` takes these by position, in the order of the encoding."""

    def __init__(self, pieces: Iterable[Token], holes: Mapping[str, str]) -> None:
        """`holes`: path of an open field -> its name."""
        self.names: list[str] = []
        """Of the open fields, in the order of the encoding."""
        self._parts: list[str] = []
        self._codes = ">"
        self._values: list[str] = []
        self._namespace: dict[str, t.Any] = {"opaque": opaque}
        for piece in pieces:
            self._add(piece, holes)
        self._end_run()
        if missing := set(holes.values()) - set(self.names):
            raise KeyError(f"no field of the value is {', '.join(sorted(missing))}")
        self.source = f"def fill({', '.join(self.names)}):\n    return [{', '.join(self._parts)}]\n"
        # The text was made here, of the names that the caller gives.
        exec(compile(self.source, "<xdr template>", "exec"), self._namespace)  # noqa: S102
        self.fill: t.Callable[..., list[bytes]] = self._namespace["fill"]

    def _add(self, piece: Token, holes: Mapping[str, str]) -> None:
        name = holes.get(piece.path)
        if name is None:
            self._constant(piece.data)
        elif isinstance(piece.node, IntNode):
            self._open(piece.node.code, name)
        elif isinstance(piece.node, BoolNode):
            self._open("I", name)
        elif isinstance(piece.node, FixedOpaqueNode):
            self._open(f"{piece.node.length}s", name)
        elif piece.role == "length" and not _is_opaque(piece):
            self._open("I", name)
        elif piece.role == "length":
            self._end_run()
            self.names.append(name)
            self._parts.append(f"opaque({name})")

    def _open(self, code: str, name: str) -> None:
        self._codes += code
        self._values.append(name)
        self.names.append(name)

    def _constant(self, data: bytes) -> None:
        if not data:
            return
        name = f"C{len(self._namespace)}"
        if self._values and self._values[-1] in self._namespace:
            last = self._values[-1]
            before = self._namespace[last]
            self._codes = self._codes.removesuffix(f"{len(before)}s")
            self._namespace[last] = data = before + data
        else:
            self._namespace[name] = data
            self._values.append(name)
        self._codes += f"{len(data)}s"

    def _end_run(self) -> None:
        if len(self._values) == 1 and self._values[0] in self._namespace:
            self._parts.append(self._values[0])
        elif self._values:
            name = f"pack{len(self._namespace)}"
            self._namespace[name] = struct.Struct(self._codes).pack
            self._parts.append(f"{name}({', '.join(self._values)})")
        self._codes, self._values = ">", []


def _is_opaque(piece: Token) -> bool:
    return hasattr(piece.node, "style")


class RepeatedTemplate:
    """An encoding with one open field of bytes, repeated for many of these."""

    def __init__(self, pieces: Sequence[Token], hole: str) -> None:
        at = [index for index, piece in enumerate(pieces) if piece.path == hole]
        self._before = b"".join(piece.data for piece in pieces[: at[0]])
        self._after = b"".join(piece.data for piece in pieces[at[-1] + 1 :])
        self._between = self._after + self._before

    def fill(self, values: Iterable[bytes]) -> bytes:
        """The encodings of all values, one after another; there must be one at least."""
        lengths, padding = _LENGTHS, PADDING
        encoded = [
            lengths[size] + value + padding[size & 3] if (size := len(value)) < _SHORT else opaque(value)
            for value in values
        ]
        return self._before + self._between.join(encoded) + self._after


class Encoded(Struct):
    """Arguments that are encoded already."""

    data: t.Annotated[bytes, Opaque()]

    def pack(self, out: list[Buffer]) -> None:
        """Append them as they are."""
        out.append(self.data)

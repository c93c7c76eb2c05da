# SPDX-License-Identifier: MIT
"""Outlines: what a wire value must have where, so that a message of a known form is checked at once and decoded late.

Of an encoding, some pieces say where the others stand: lengths, counts, flags, discriminants, bitmaps, padding. They
are its *outline*. All else (numbers, enums, the bytes of strings) may have any bits. So an encoding with the same
pieces of the first kind at the same places is as legal as the one that the outline was made of, and its fields are at
the same offsets. That is one `struct` and one comparison, however many fields there are.

    ordinary decoder -> value -> tokens of the reflective codec -> outline

Nothing here is written for a type: an outline is made of a value that the ordinary decoder has accepted. What fits no
known outline goes to that decoder again, which accepts it (and a further outline is made of it) or raises its error.

What must stay true:

- A piece is free only if every value of it is legal, and changes nothing about what follows.
- Nothing is accepted that the ordinary decoder refuses, and what is read later is what it would have read.
- The number of outlines that are kept is bounded, because a peer chooses the forms that it sends.
"""

from __future__ import annotations

import functools
import struct
import typing as t
from collections.abc import Callable, Iterable, Iterator, Sequence

from nfsclient.errors import XdrError
from nfsclient.xdr.kinds import ChoiceNode, LinkedListNode, OpaqueNode
from nfsclient.xdr.reflect import Token, tokens, tokens_of
from nfsclient.xdr.types import XdrType, fields_of

_FREE: t.Final = frozenset({"int", "enum", "bytes"})
_MOST_KEPT: t.Final = 8
"""Outlines of one kind: a directory has files of a few owners."""
_MOST_LEARNED: t.Final = 8
"""Outlines that one message may bring: with more of them it is decoded in the ordinary way."""
_MOST_STARTS: t.Final = 4
BEYOND: t.Final = 4096
"""Bytes after a list that are looked at, at most, and so more than an element has after its name."""
_LONGEST_NAME: t.Final = 256
_PADDING: t.Final = (b"", bytes(3), bytes(2), bytes(1))
"""By the length modulo 4."""

_word = struct.Struct(">I").unpack_from

Unpack: t.TypeAlias = Callable[[bytes, int], tuple[t.Any, ...]]
R = t.TypeVar("R", bound=XdrType)
E = t.TypeVar("E", bound=XdrType)


def is_free(token: Token) -> bool:
    """Whether a piece may have any bits, without a consequence for the rest."""
    return token.role in _FREE and ".attrmask[" not in token.path


def layout_of(pieces: Iterable[Token]) -> tuple[str, list[bytes]]:
    """The `struct` codes of pieces that give those which are not free, and what these are."""
    codes: list[str] = []
    fixed: list[bytes] = []
    for piece in pieces:
        size = len(piece.data)
        if is_free(piece):
            codes.append(f"{size}x")
        elif codes and codes[-1].endswith("s"):
            fixed[-1] += piece.data
            codes[-1] = f"{len(fixed[-1])}s"
        elif size:
            fixed.append(piece.data)
            codes.append(f"{size}s")
    return "".join(code for code in codes if code != "0x"), fixed


def with_statuses(pieces: Iterable[Token]) -> Iterator[Token]:
    """The pieces with what stands at the beginning, and first in each alternative of a choice, not free: statuses."""
    is_status = True
    for piece in pieces:
        yield piece._replace(role="discriminant") if is_status else piece
        is_status = isinstance(piece.node, ChoiceNode)


class Outline:
    """One form of a whole message: ``unpack(buf, 0) == fixed`` says whether one of `size` bytes has it."""

    __slots__ = ("fixed", "size", "unpack")

    def __init__(self, pieces: Iterable[Token]) -> None:
        codes, fixed = layout_of(pieces)
        made = struct.Struct(">" + codes)
        self.unpack: Unpack = made.unpack_from
        self.fixed = tuple(fixed)
        self.size = made.size


class Group(t.NamedTuple):
    """Results that follow each other, of one form: `unpack` gives what must be `fixed`; all have `size` bytes."""

    unpack: Unpack
    fixed: tuple[bytes, ...]
    size: int
    begin: int
    """Where the field that is wanted begins, from the beginning of the group."""
    end: int


_NO_GROUP: t.Final = Group(lambda _buf, _pos: (), (b"",), 0, 0, 0)


class GroupReader:
    """Finds one field in each of many groups of alternatives, one group after another (results of a compound).

    `classes` are those of a group, `wanted` is the path of the field from the group: ``[1].resok4.obj_attributes``.
    Each alternative begins with its status, which is a piece of the outline. `accept` says whether decoded values are
    of the usual form; only of such outlines are made.
    """

    def __init__(
        self,
        node: ChoiceNode,
        classes: Sequence[type[XdrType]],
        wanted: str,
        accept: Callable[[Sequence[XdrType]], bool],
    ) -> None:
        self._node = node
        self._classes = classes
        self._wanted = wanted
        self._accept = accept
        self._known: list[Group] = []

    def read(self, buf: bytes, pos: int, count: int) -> tuple[list[bytes], int] | None:
        """The bytes of the field in each of `count` groups from `pos` on, and where these end.

        None if a group is not of the usual form, or not legal.
        """
        found: list[bytes] = []
        learned, last = 0, len(buf)
        # A form that fits nothing stands for none, so that the loop has one test.
        unpack, fixed, size, begin, end = self._known[0] if self._known else _NO_GROUP
        try:
            for _ in range(count):
                if pos + size > last or unpack(buf, pos) != fixed:
                    group = self._known_at(buf, pos)
                    if group is None:
                        learned += 1
                        group = self._learn(buf, pos) if learned <= _MOST_LEARNED else None
                    if group is None:
                        return None
                    unpack, fixed, size, begin, end = group
                found.append(buf[pos + begin : pos + end])
                pos += size
        except (struct.error, XdrError):
            return None
        return found, pos

    def _known_at(self, buf: bytes, pos: int) -> Group | None:
        for group in self._known:
            if pos + group.size <= len(buf) and group.unpack(buf, pos) == group.fixed:
                return group
        return None

    def _learn(self, buf: bytes, pos: int) -> Group | None:
        pieces: list[Token] = []
        values: list[XdrType] = []
        at = pos
        for index, expected in enumerate(self._classes):
            (number,) = _word(buf, at)
            cls = self._node.table.classes.get(number)
            if cls is not expected:
                return None
            value, at = cls.unpack_from(buf, at + 4)
            values.append(value)
            first, status, *others = tokens_of(self._node, value, f"[{index}]")
            pieces += [first, status._replace(role="discriminant"), *others]
        if not self._accept(values) or b"".join(piece.data for piece in pieces) != buf[pos:at]:
            return None
        inside = [index for index, piece in enumerate(pieces) if piece.path.startswith(self._wanted)]
        sizes = [len(piece.data) for piece in pieces]
        begin, end = sum(sizes[: inside[0]]), sum(sizes[: inside[-1] + 1])
        codes, fixed = layout_of(pieces)
        made = struct.Struct(">" + codes)
        group = Group(made.unpack_from, tuple(fixed), made.size, begin, end)
        self._known.insert(0, group)
        del self._known[_MOST_KEPT:]
        return group


class Rows(t.NamedTuple, t.Generic[E]):
    """The elements of a list that was passed over."""

    names: list[bytes]
    starts: list[int]
    """Where each element begins."""
    end: int
    """Where the word is that says that no further element follows."""


Run: t.TypeAlias = Callable[..., tuple[int, int, int | None]]


class _Form(t.NamedTuple):
    """One form of an element."""

    run: Run
    variants: tuple[tuple[Unpack, tuple[bytes, ...], int], ...]
    """For each length of a name modulo 4: what gives the pieces after the name, with the flag of the next element and
    the length of its name; what they must be; their size up to that flag."""


_LOOP = """
def run(buf, pos, length, variants, offset, names, starts):
    add_name, add_start = names.append, starts.append
    while True:
        begin = pos + offset
        stop = begin + length
        unpack, fixed, size = variants[length & 3]
        {pieces}, follows, following = unpack(buf, stop)
        if ({pieces},) != fixed:
            return pos, length, None
        add_name(buf[begin:stop])
        add_start(pos + 4)
        pos, length = stop + size, following
        if follows != 1:
            return pos, length, follows
"""


@functools.cache
def _loop(pieces: int) -> Run:
    """Passes over elements with this number of pieces after the name, to the end or to one of another form.

    Returns the place of the next flag, the length of the next name, and that flag: None for an element of another form.
    """
    names = ", ".join(f"piece{index}" for index in range(pieces))
    namespace: dict[str, t.Any] = {}
    exec(compile(_LOOP.format(pieces=names), "<xdr rows>", "exec"), namespace)  # noqa: S102  (of a number)
    return t.cast("Run", namespace["run"])


class RowReader(t.Generic[E]):
    """Passes over a linked list of elements that have one name each, after numbers only (entries of a directory).

    One `unpack` for each element: from the padding of its name to the length of the next one.
    """

    def __init__(self, element: type[E]) -> None:
        self.element = element
        before = 0
        for field in fields_of(element):
            if isinstance(field.node, OpaqueNode):
                self._name, self._longest = f"{element.__name__}.{field.name}", field.node.maximum
                break
            before += field.node.size  # type: ignore[union-attr]  # a number: an entry has a fileid or a cookie there
        self._next = f"I{before}xI"
        """The flag of an element, and the length of its name."""
        self._head = struct.Struct(">" + self._next)
        self._known: list[_Form] = []

    def read(self, buf: bytes, pos: int) -> Rows[E] | None:
        """The elements of a list whose first flag is at `pos`; None if it is not legal, or too varied.

        There must be `BEYOND` bytes in `buf` after the message. Whether the list ends within the message is for the
        caller to find out, from `end`.
        """
        names: list[bytes] = []
        starts: list[int] = []
        try:
            follows, length = self._head.unpack_from(buf, pos)
            if follows != 1:
                return None if follows else Rows(names, starts, pos)
            form = self._known[0] if self._known else self._learn(buf, pos)
            learned, offset = 0, self._head.size
            while True:
                pos, length, follows = form.run(buf, pos, length, form.variants, offset, names, starts)
                if follows is not None:
                    break
                known = self._known_at(buf, pos + offset + length, length)
                if known is None:
                    learned += 1
                    if learned > _MOST_LEARNED:
                        return None
                    known = self._learn(buf, pos)
                form = known
        except (struct.error, XdrError):
            return None
        if follows or (names and max(map(len, names)) > self._longest):
            return None
        return Rows(names, starts, pos)

    def last(self, buf: bytes, end: int) -> E | None:
        """The element that seems to be the last one of a list whose last flag is at `end`, found from there backwards.

        A guess: it may be wrong, and it may be missed.
        """
        offset = self._head.size
        try:
            for form in self._known:
                stop = end - form.variants[0][2]
                for padded in range(0, min(_LONGEST_NAME, stop - offset) + 1, 4):
                    at = stop - padded - offset
                    follows, length = self._head.unpack_from(buf, at)
                    if follows != 1 or (length + 3 & ~3) != padded:
                        continue
                    unpack, fixed, _ = form.variants[length & 3]
                    if unpack(buf, at + offset + length)[:-2] == fixed:
                        return self.element.unpack_from(buf, at + 4)[0]
        except (struct.error, XdrError):
            pass
        return None

    def _known_at(self, buf: bytes, stop: int, length: int) -> _Form | None:
        for form in self._known:
            unpack, fixed, size = form.variants[length & 3]
            if stop + size + self._head.size <= len(buf) and unpack(buf, stop)[:-2] == fixed:
                return form
        return None

    def _learn(self, buf: bytes, pos: int) -> _Form:
        """A form of the element after the flag at `pos`. Raises `XdrError`."""
        value, _ = self.element.unpack_from(buf, pos + 4)
        pieces = tokens(value)
        at = next(at for at, each in enumerate(pieces) if each.path == self._name and each.role == "bytes")
        rest = [each for each in pieces[at + 1 :] if each.path != self._name]
        codes, fixed = layout_of(rest)
        variants = []
        for padding in _PADDING:
            made = struct.Struct(f">{len(padding)}s{codes}{self._next}")
            variants.append((made.unpack_from, (padding, *fixed), made.size - self._head.size))
        if variants[0][2] >= BEYOND // 2:
            raise XdrError(self._name, "is followed by more than outlines are made for", pos)
        form = _Form(_loop(1 + len(fixed)), tuple(variants))
        self._known.insert(0, form)
        del self._known[_MOST_KEPT:]
        return form


class SkimmedPage(t.Generic[R, E]):
    """A message with a long list, of which everything else is decoded: `value` has an empty list."""

    __slots__ = ("_buf", "_end", "_reader", "_start", "value")

    def __init__(self, value: R, buf: bytes, start: int, end: int, reader: RowReader[E]) -> None:
        self.value = value
        self._buf = buf
        self._start = start
        self._end = end
        self._reader = reader

    def last(self) -> E | None:
        """The last element, if it is easily found: a guess."""
        return self._reader.last(self._buf, self._end)

    def rows(self) -> Rows[E] | None:
        """The elements; None if the list is not legal: then decoding the whole message raises the error."""
        rows = self._reader.read(self._buf, self._start)
        return None if rows is None or rows.end != self._end else rows

    def element(self, start: int) -> E:
        """The element that begins at `start`, decoded."""
        return self._reader.element.unpack_from(self._buf, start)[0]


class PageReader(t.Generic[R, E]):
    """Takes messages of class `cls` apart, most of which is one linked list of `element`s.

    `elements_of` gives the list of a decoded message, None where it has none.
    """

    def __init__(self, cls: type[R], element: type[E], elements_of: Callable[[R], list[E] | None]) -> None:
        self._cls = cls
        self._elements_of = elements_of
        self._rows: RowReader[E] = RowReader(element)
        self._places: list[tuple[int, int]] = []
        """Where the list began in messages so far, and how many bytes stood from its end on."""

    def skim(self, buf: bytes) -> SkimmedPage[R, E] | None:
        """The message taken apart; None for one without such a list, an unusual one, and one that is not legal."""
        for start, rest in self._places:
            end = len(buf) - rest
            if end < start or any(buf[end : end + 4]):
                continue
            try:
                value = self._cls.from_xdr(buf[:start] + buf[end:])
            except XdrError:
                continue
            # A wrong place would have the prefix eat what follows the list, or leave elements in it.
            if self._elements_of(value) == []:
                padded = buf + bytes(BEYOND)
                return SkimmedPage(value, padded, start, end, self._rows)
        return None

    def learn(self, value: R) -> None:
        """Note where the list stands in a message that was decoded in the ordinary way."""
        elements = self._elements_of(value)
        if elements is None:
            return
        kept = list(elements)
        elements.clear()
        try:
            pieces = tokens(value)
        finally:
            elements.extend(kept)
        lists = [index for index, piece in enumerate(pieces) if isinstance(piece.node, LinkedListNode)]
        start = sum(len(piece.data) for piece in pieces[: lists[0]])
        rest = sum(len(piece.data) for piece in pieces[lists[0] :])
        if (start, rest) not in self._places:
            self._places.insert(0, (start, rest))
            del self._places[_MOST_STARTS:]

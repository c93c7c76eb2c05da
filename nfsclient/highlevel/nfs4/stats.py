# SPDX-License-Identifier: MIT
"""The attributes of many names of a directory, many names in one compound, and two compounds under way."""

from __future__ import annotations

import typing as t
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nfsclient.clients.nfs4 import CompoundReply, NoFreeSlot, Request, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import RpcError
from nfsclient.files import Attributes, FileType
from nfsclient.files.late import LateAttributes
from nfsclient.files.operations import Stat
from nfsclient.files.v4 import STAT, attributes_of
from nfsclient.highlevel.nfs4.live import LiveClient
from nfsclient.highlevel.resolve import Node
from nfsclient.paths import shown
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.raw import RawReply, raw
from nfsclient.sessions.recovery import REMEDIES, Remedy
from nfsclient.sessions.repeated import RepeatedCompound, Usual
from nfsclient.xdr import XdrType
from nfsclient.xdr.template import Encoded

_MOST_NAMES: t.Final = 32
"""Names of one compound: more make it no cheaper."""
_OUTSTANDING: t.Final = 2
"""While the reply of one compound is read, the server works on the other."""
_KINDS: t.Final = {kind.to_bytes(4, "big"): kind for kind in FileType}
_COMPOUND: t.Final = raw(p.COMPOUND, Encoded)
"""COMPOUND with its arguments encoded, and its results left alone."""


def _has_size_and_type(values: Sequence[XdrType]) -> bool:
    """Whether the attributes of a group have what is REQUIRED, and begin with the type."""
    result = t.cast("p.Getattr4Res", values[1]).resok4
    if result is None:
        return False
    given = result.obj_attributes
    return given.size is not None and given.type is not None and given.attrmask[0] & 3 == 1 << 1


_STATS: t.Final = RepeatedCompound(
    lambda handle: [op.putfh(handle), op.savefh()],
    lambda name: [
        op.lookup(name),
        op.getattr(*STAT),
        op.restorefh(),
    ],  # RESTOREFH costs servers less than PUTFH
    handle="[0].object",
    name="[0].objname",
    wanted="[1].resok4.obj_attributes",
    accept=_has_size_and_type,
)


def _decoded(raw: bytes) -> Attributes:
    return attributes_of(p.Fattr4.from_xdr(raw))


def _late(fields: list[bytes]) -> Sequence[Stat | None]:
    """Attributes of which nothing but the type is decoded; None for an unknown type."""
    # The type stands after the words of the bitmap, which are counted by the fourth byte, and a length.
    kinds = [_KINDS.get(field[8 + 4 * field[3] : 12 + 4 * field[3]]) for field in fields]
    if None not in kinds:
        return LateAttributes.of_all(t.cast("list[FileType]", kinds), fields, _decoded)
    found = zip(kinds, fields, strict=True)
    return [None if kind is None else LateAttributes(kind, raw, _decoded) for kind, raw in found]


@dataclass(slots=True, eq=False)
class _UnderWay:
    first: int
    """Which of the names the compound begins with."""
    names: Sequence[bytes]
    request: Request
    session: Session
    sent_at: float


class StatsOfNames:
    """LOOKUP and GETATTR of many names of one directory. What is unusual is left to the ordinary way, as None."""

    def __init__(self, live: LiveClient, directory: Node, names: Sequence[bytes]) -> None:
        self._live = live
        self._directory = directory
        self._names = names
        self._found: list[Stat | None] = [None] * len(names)
        self._todo: deque[tuple[int, int]] = deque()
        self._under_way: dict[int, _UnderWay] = {}
        self._is_put_off = False
        """Whether the server asked to wait in this round."""

    def run(self) -> list[Stat | None]:
        """The attributes of each, not followed. Raises `XdrError`, `ServerViolation`."""
        rpc, todo = self._live.rpc, self._todo
        if rpc.on_exchange is not None:
            return self._found  # a recorder is to see calls and replies that it knows
        count = len(self._names)
        compounds = -(-count // _STATS.most(self._live.session.state, _MOST_NAMES))
        size = -(-count // max(1, compounds))
        todo.extend((first, min(first + size, count)) for first in range(0, count, size))
        pauses: Iterator[float] | None = None
        try:
            while todo and rpc.is_open:
                compounds, left, self._is_put_off = len(todo), self._left(), False
                self._request_all()
                if self._is_put_off:
                    if pauses is None or self._left() < left:  # a shorter wait again where it goes on
                        pauses = self._live.patience.pauses()
                    if next(pauses, None) is None:
                        break
                elif len(todo) >= compounds:
                    break
        except RpcError:
            pass  # slots stay in use; the ordinary way asks again, which harms nobody
        return self._found

    def _left(self) -> int:
        """How many names are to be requested."""
        return sum(end - first for first, end in self._todo)

    def _request_all(self) -> None:
        rpc = self._live.rpc
        if len(self._todo) == 1:
            for args in self._arguments():
                self._take(args, rpc.call(_COMPOUND, args))
            return
        # New calls are made before the replies that make room for them are read: each needs a second slot.
        most = max(1, min(_OUTSTANDING, self._live.session.state.slots.allowed // 2))
        for args, reply in rpc.pipeline(_COMPOUND, self._arguments(), outstanding=most):
            self._take(args, reply)

    def _arguments(self) -> Iterator[Encoded]:
        """Compounds of what is to be done; what an error leaves is added meanwhile, for another round."""
        session, handle = self._live.session, self._directory.handle
        for _ in range(len(self._todo)):
            first, end = self._todo[0]
            names = self._names[first:end]
            try:
                request, encoded = _STATS.begin(session.state, handle, names)
            except NoFreeSlot:
                return
            self._todo.popleft()
            args = Encoded(encoded)
            sent_at = self._live.rpc.loop.clock()
            self._under_way[id(args)] = _UnderWay(first, names, request, session, sent_at)
            yield args

    def _take(self, args: Encoded, raw: RawReply) -> None:
        call = self._under_way.pop(id(args))
        reply = _STATS.finish(
            call.session.state, call.request, self._directory.handle, call.names, raw.results
        )
        if isinstance(reply, Usual):
            self._live.lease.renewed(call.sent_at)
            self._found[call.first : call.first + len(call.names)] = _late(reply.fields)
            return
        if reply.renews_lease:
            self._live.lease.renewed(call.sent_at)
        self._take_unusual(call, reply)

    def _take_unusual(self, call: _UnderWay, reply: CompoundReply) -> None:
        """Keep what came before an error, and request the rest again: a name may not exist."""
        reply.require_sound()
        results = reply.results
        attributes = [each for each in results if isinstance(each, p.Getattr4Res) and each.resok4 is not None]
        for place, each in enumerate(attributes, call.first):
            assert each.resok4 is not None
            given = each.resok4.obj_attributes
            if given.type is not None and given.size is not None:
                self._found[place] = attributes_of(given)
        failed, end = call.first + len(attributes), call.first + len(call.names)
        if REMEDIES.get(reply.status) is Remedy.WAIT:
            self._is_put_off = True
            self._todo.append((failed, end))
            return
        if not reply.status or not results or not isinstance(results[-1], p.Lookup4Res):
            return
        if reply.status not in REMEDIES:
            path = self._directory.below(self._names[failed])
            self._found[failed] = reply.error(shown(path))
        if failed + 1 < end:
            self._todo.append((failed + 1, end))

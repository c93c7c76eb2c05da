# SPDX-License-Identifier: MIT
"""Compounds that do the same for many names, packed by template and read by outline; without I/O.

    SEQUENCE | PUTFH SAVEFH | LOOKUP GETATTR RESTOREFH | LOOKUP GETATTR RESTOREFH | ...
    numbers  | a filehandle | a name                   | the next name

Everything of such a compound but the marked fields is the same each time, so it is encoded once. The usual reply (all
operations succeeded) is compared with what it must be, up to the numbers of SEQUENCE, and the groups with their
outlines: the attributes stay bytes. Any other reply is decoded in the ordinary way.
"""

from __future__ import annotations

import functools
import struct
import typing as t
from collections.abc import Callable, Sequence

from nfsclient.protocol.nfs4.compound import CALL_NODE, RESULT_NODE, Compound4Args, Compound4Res
from nfsclient.protocol.nfs4.operations import BY_CLASS, status_of
from nfsclient.protocol.nfs4.sessions import Sequence4Args, Sequence4Res, Sequence4ResOk
from nfsclient.protocol.nfs4.types import Nfsstat4
from nfsclient.sessions.reply import CompoundReply
from nfsclient.sessions.session import Request, SessionState
from nfsclient.xdr import XdrType
from nfsclient.xdr.outline import GroupReader
from nfsclient.xdr.reflect import tokens, tokens_of
from nfsclient.xdr.template import RepeatedTemplate, Template

OK: t.Final = Nfsstat4.NFS4_OK
_COUNT_AT: t.Final = 8
"""Where the number of results is, in a reply with an empty tag."""
_ARRAY: t.Final = "Compound4Args.argarray"


def _succeeded(result: type[t.Any]) -> XdrType:
    """The result of an operation that gives nothing but its status."""
    return t.cast("XdrType", result(OK))


class Usual(t.NamedTuple):
    """The usual reply: the wanted field of each group, as its encoding."""

    fields: list[bytes]


class RepeatedCompound:
    """One form of such compounds. Threads and sessions may share it; what it knows of replies is bounded.

    `head` and `each` make the operations before and of a group, for any filehandle and name: `opened` are the fields
    that these stand in (``.object``, ``.objname``), by their paths from the operation. `wanted` is the field of a
    group's results that is read; `accept` may refuse decoded results of a group as not usual.
    """

    def __init__(
        self,
        head: Callable[[bytes], Sequence[XdrType]],
        each: Callable[[bytes], Sequence[XdrType]],
        *,
        handle: str,
        name: str,
        wanted: str,
        accept: Callable[[Sequence[XdrType]], bool],
    ) -> None:
        """`handle` is like ``[0].object``: the index in the head, and the field; `name` the same in a group."""
        self._head = head
        self._each = each
        self._head_size = len(head(b""))
        self.group_size = len(each(b""))
        """Operations of a group."""
        self._handle = handle
        group = each(b"")
        pieces = [
            piece
            for index, operation in enumerate(group)
            for piece in tokens_of(CALL_NODE, operation, f"[{index}]")
        ]
        self._groups = RepeatedTemplate(pieces, name)
        results = [BY_CLASS[type(operation)].res for operation in group]

        def is_usual(values: Sequence[XdrType]) -> bool:
            return not any(map(status_of, values)) and accept(values)

        self._reader = GroupReader(RESULT_NODE, results, wanted, is_usual)
        self._read_head()

    def _read_head(self) -> None:
        """How the usual reply begins, up to the first group: of a value, as all else."""
        done = Sequence4ResOk(bytes(16), 0, 0, 0, 0, 0)
        results = [BY_CLASS[type(operation)].res for operation in self._head(b"")]
        reply = Compound4Res(OK, b"", [Sequence4Res(OK, done), *(_succeeded(each) for each in results)])
        pieces = tokens(reply)
        first = next(at for at, piece in enumerate(pieces) if piece.path.endswith(".sr_sessionid"))
        last = next(at for at, piece in enumerate(pieces) if piece.path.endswith(".sr_status_flags"))
        begin = b"".join(piece.data for piece in pieces[:first])
        self._end = b"".join(piece.data for piece in pieces[last + 1 :])
        numbers = "".join(
            f"{len(piece.data)}s" if piece.role == "bytes" else "I" for piece in pieces[first : last + 1]
        )
        self._begin = struct.Struct(f">{len(begin)}s{numbers}{len(self._end)}s")
        self._before, self._after = begin[:_COUNT_AT], begin[_COUNT_AT + 4 :]

    @functools.lru_cache(maxsize=8)  # noqa: B019  (forms are constants of their modules)
    def _template(self, minor: int) -> Template:
        sequence = Sequence4Args(bytes(16), 0, 0, 0, False)
        index, _, field = self._handle.partition("]")
        at = int(index[1:]) + 1
        return Template(
            tokens(Compound4Args(b"", minor, [sequence, *self._head(b"")])),
            {
                _ARRAY: "count",
                f"{_ARRAY}[0].sa_sessionid": "sessionid",
                f"{_ARRAY}[0].sa_sequenceid": "sequenceid",
                f"{_ARRAY}[0].sa_slotid": "slotid",
                f"{_ARRAY}[0].sa_highest_slotid": "highest",
                f"{_ARRAY}[{at}]{field}": "handle",
            },
        )

    def most(self, state: SessionState, most: int) -> int:
        """How many names a compound may have, at most `most`: by the operations and bytes that the session allows."""
        fore = state.fore
        by_operations = (fore.ca_maxoperations - 1 - self._head_size) // self.group_size
        by_bytes = min(fore.ca_maxrequestsize, fore.ca_maxresponsesize) // 1024 - 1
        return max(1, min(most, by_operations, by_bytes))

    def begin(self, state: SessionState, handle: bytes, names: Sequence[bytes]) -> tuple[Request, bytes]:
        """A request in the lowest free slot, and its encoding. Raises `NoFreeSlot`."""
        slot = state.slots.acquire()
        number, highest = slot.sequence_id, state.slots.highest_in_use
        first = Sequence4Args(state.id, number, slot.id, highest, False)
        # The operations are made only if somebody wants to see them (`whole`).
        request = Request(Compound4Args(b"", state.minor, [first]), slot, number)
        state.outstanding.add((slot.id, number))
        count = 1 + self._head_size + len(names) * self.group_size
        pieces = self._template(state.minor).fill(count, state.id, number, slot.id, highest, handle)
        return request, b"".join(pieces) + self._groups.fill(names)

    def finish(
        self, state: SessionState, request: Request, handle: bytes, names: Sequence[bytes], results: bytes
    ) -> Usual | CompoundReply:
        """Take the results of a reply. Raises `XdrError`, and as `SessionState.finish`."""
        fields = self._usual(state, request, names, results)
        if fields is not None:
            return Usual(fields)
        operations = [*self._head(handle), *(operation for name in names for operation in self._each(name))]
        request.args.argarray += operations
        return state.finish(request, Compound4Res.from_xdr(results))

    def _usual(
        self, state: SessionState, request: Request, names: Sequence[bytes], results: bytes
    ) -> list[bytes] | None:
        """The fields, if all operations succeeded and SEQUENCE says what it must; else nothing has happened."""
        count = len(names)
        total = 1 + self._head_size + count * self.group_size
        try:
            begin, sessionid, sequenceid, slotid, highest, target, flags, end = self._begin.unpack_from(
                results
            )
        except struct.error:
            return None
        if (
            begin != self._before + total.to_bytes(4, "big") + self._after
            or (sequenceid, slotid, sessionid) != (request.sequence_id, request.slot.id, state.id)
            or end != self._end
        ):
            return None
        found = self._reader.read(results, self._begin.size, count)
        if found is None or found[1] != len(results):
            return None
        state.finish_usual(request, highest, target, flags)
        return found[0]

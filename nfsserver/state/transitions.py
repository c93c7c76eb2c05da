# SPDX-License-Identifier: MIT
"""Table 1 of the paper on Spritely NFS (section 4.3.4), row by row: what an open or a close does to a file.

The states (the same section):

    CLOSED         no client has the file open
    CLOSED_DIRTY   no client has it open; the last writer may still have dirty blocks
    ONE_READER     one client has it open for reading only
    ONE_RDRDIRTY   the same; this client may have dirty blocks from before
    MULT_READERS   two clients or more have it open for reading only
    ONE_WRITER     one client has it open for writing (and perhaps for reading, too)
    WRITE_SHARED   two clients or more have it open, at least one of them for writing. It ends with the final close only

What has no row changes no state: an open for reading by a client that reads already, any open by a client that writes
already, any open of what is WRITE_SHARED, and a close that leaves the client something open. Who opens learns whether
it may cache from the state after the open: not if that is WRITE_SHARED.

The table is data. `nfsserver.state.spritely` looks rows up; mutants replace them.
"""

from __future__ import annotations

import enum
import typing as t


class State(enum.Enum):
    """What the server knows of one file."""

    CLOSED = enum.auto()
    CLOSED_DIRTY = enum.auto()
    ONE_READER = enum.auto()
    ONE_RDRDIRTY = enum.auto()
    MULT_READERS = enum.auto()
    ONE_WRITER = enum.auto()
    WRITE_SHARED = enum.auto()


class When(enum.Enum):
    """What happens to a file."""

    OPEN_FOR_READ = enum.auto()
    OPEN_FOR_WRITE = enum.auto()
    CLOSE_BEFORE_LAST = enum.auto()
    """After it, one client is left that reads."""
    FINAL_CLOSE = enum.auto()
    """After it, no client has the file open."""
    FINAL_CLOSE_FOR_WRITE = enum.auto()
    """After it, the client still reads."""


class Who(enum.Enum):
    """Which client does it, where that matters."""

    ANY = enum.auto()
    SAME = enum.auto()
    """The only client that has the file open, or the last writer of a file that is closed."""
    OTHER = enum.auto()


class Callback(enum.Flag):
    """What the other clients are called for before an open succeeds."""

    NONE = 0
    WRITE_BACK = 1
    INVALIDATE = 2
    BOTH = 3


class Row(t.NamedTuple):
    """One line of the table."""

    before: State
    when: When
    who: Who
    after: State
    callback: Callback = Callback.NONE
    is_last_writer: bool = False
    """Whether the client is recorded as the last writer, which may have dirty blocks."""


_S, _W, _C = State, When, Callback
_READ, _WRITE = When.OPEN_FOR_READ, When.OPEN_FOR_WRITE
_ANY, _SAME, _OTHER = Who.ANY, Who.SAME, Who.OTHER

TABLE: t.Final = (
    Row(_S.CLOSED, _READ, _ANY, _S.ONE_READER),
    Row(_S.CLOSED, _WRITE, _ANY, _S.ONE_WRITER),
    Row(_S.CLOSED_DIRTY, _READ, _SAME, _S.ONE_RDRDIRTY),
    Row(_S.CLOSED_DIRTY, _READ, _OTHER, _S.ONE_READER, _C.WRITE_BACK),
    Row(_S.CLOSED_DIRTY, _WRITE, _SAME, _S.ONE_WRITER),
    Row(_S.CLOSED_DIRTY, _WRITE, _OTHER, _S.ONE_WRITER, _C.BOTH),
    Row(_S.ONE_READER, _READ, _OTHER, _S.MULT_READERS),
    Row(_S.ONE_RDRDIRTY, _READ, _OTHER, _S.MULT_READERS, _C.WRITE_BACK),
    Row(_S.ONE_READER, _WRITE, _SAME, _S.ONE_WRITER),
    Row(_S.ONE_RDRDIRTY, _WRITE, _SAME, _S.ONE_WRITER),
    Row(_S.ONE_READER, _WRITE, _OTHER, _S.WRITE_SHARED, _C.INVALIDATE),
    Row(_S.MULT_READERS, _WRITE, _ANY, _S.WRITE_SHARED, _C.INVALIDATE),
    Row(_S.ONE_RDRDIRTY, _WRITE, _OTHER, _S.WRITE_SHARED, _C.BOTH),
    Row(_S.MULT_READERS, _READ, _ANY, _S.MULT_READERS),
    Row(_S.ONE_WRITER, _READ, _OTHER, _S.WRITE_SHARED, _C.BOTH),
    Row(_S.ONE_WRITER, _WRITE, _OTHER, _S.WRITE_SHARED, _C.BOTH),
    Row(_S.MULT_READERS, _W.CLOSE_BEFORE_LAST, _ANY, _S.ONE_READER),
    Row(_S.ONE_READER, _W.FINAL_CLOSE, _ANY, _S.CLOSED),
    Row(_S.WRITE_SHARED, _W.FINAL_CLOSE, _ANY, _S.CLOSED),
    Row(_S.ONE_RDRDIRTY, _W.FINAL_CLOSE, _ANY, _S.CLOSED_DIRTY),
    Row(_S.ONE_WRITER, _W.FINAL_CLOSE, _ANY, _S.CLOSED_DIRTY, is_last_writer=True),
    Row(_S.ONE_WRITER, _W.FINAL_CLOSE_FOR_WRITE, _ANY, _S.ONE_RDRDIRTY, is_last_writer=True),
)
"""The rows in their order; a row of the paper that names two states is two rows here."""


def find(table: t.Iterable[Row], state: State, when: When, who: Who) -> Row | None:
    """The row for what happens in a state; None: no transition."""
    for row in table:
        if row.before is state and row.when is when and row.who in (who, Who.ANY):
            return row
    return None


def may_cache(state: State) -> bool:
    """Whether clients may cache a file in this state (section 2.2)."""
    return state is not State.WRITE_SHARED

# SPDX-License-Identifier: MIT
"""Replies to compounds that are checked by outline at once, and decoded when somebody looks at a result.

Most compounds of a program have few forms, and their replies too: all operations succeed, and filehandles, owners and
the like have the lengths that they had before. Such a reply is compared with outlines of earlier ones
(`nfsclient.xdr.outline`), which were made of replies that the ordinary decoder and `require_sound` had accepted. What
SEQUENCE says is compared with the request. Then the reply is known to be a success, and most callers want to know one
attribute of it, or nothing.
"""

from __future__ import annotations

import functools
import struct
import typing as t
from collections.abc import Callable, Sequence

from nfsclient.errors import ServerViolation
from nfsclient.protocol.nfs4.compound import Compound4Args, Compound4Res
from nfsclient.protocol.nfs4.files import Read4Args
from nfsclient.protocol.nfs4.operations import ARGOPS
from nfsclient.protocol.nfs4.sessions import Sequence4Args
from nfsclient.protocol.nfs4.types import Nfsstat4
from nfsclient.sessions.owners import HAVE_OWNERS
from nfsclient.sessions.reply import CompoundReply
from nfsclient.sessions.session import HARMLESS, Request, SessionState
from nfsclient.xdr import Buffer, XdrType
from nfsclient.xdr.compiler import encoder_of
from nfsclient.xdr.outline import Outline, with_statuses
from nfsclient.xdr.reflect import tokens

OK: t.Final = Nfsstat4.NFS4_OK
SEQUENCE = struct.Struct(">16sIIIII")
"""What SEQUENCE says: session id, sequence id, slot, highest slot, target, flags."""
_MOST_FORMS: t.Final = 256
_MOST_OUTLINES: t.Final = 4
_WORTH_IT: t.Final = 3
"""Replies of a form before the first outline is made; making one takes as long as decoding fifty replies."""
_LARGEST: t.Final = 4096
"""Bytes of a reply that are worth an outline: large ones have data or entries, which differ in length."""


Parts: t.TypeAlias = tuple[int, tuple[bytes, int, int, int, bool], Sequence[XdrType]]
"""Of what the arguments of a compound are made: minor version, fields of SEQUENCE, operations."""


class LateReply(CompoundReply):
    """The reply to a compound of which all operations succeeded."""

    __slots__ = ("_args", "_decoded", "_results")

    def __init__(self, args: Compound4Args | Parts, results: bytes) -> None:
        self._skipped = 1
        self._args = args
        self._results = results
        self._decoded: Compound4Res | None = None

    @property
    def args(self) -> Compound4Args:  # type: ignore[override]
        """As they were on the wire."""
        args = self._args
        if not isinstance(args, Compound4Args):
            minor, sequence, operations = args
            args = self._args = Compound4Args(b"", minor, [Sequence4Args(*sequence), *operations])
        return args

    @property
    def res(self) -> Compound4Res:  # type: ignore[override]
        """As it was on the wire."""
        decoded = self._decoded
        if decoded is None:
            decoded = self._decoded = Compound4Res.from_xdr(self._results)
        return decoded

    @property
    def status(self) -> Nfsstat4:
        """Of the whole compound."""
        return OK

    @property
    def renews_lease(self) -> bool:
        """Always: SEQUENCE succeeded, too."""
        return True

    def ok(self, path: str | None = None) -> t.Self:  # noqa: ARG002
        """This reply."""
        return self

    def require_sound(self) -> None:
        """Results fit the operations: so did those that the outline was made of."""


Pack: t.TypeAlias = Callable[[Sequence[XdrType]], list[Buffer]]


class Form:
    """Compounds of the same operations: how these are encoded, and the outlines of their replies."""

    def __init__(self, classes: Sequence[type[t.Any]]) -> None:
        """`classes` are those of the operations, with SEQUENCE."""
        self.classes = classes
        self.outlines: list[Outline] = []
        self.misses = 0
        self.next = _WORTH_IT
        """The number of misses at which an outline is made; then twice as many, so that this costs little for ever."""

    @functools.cached_property
    def pack(self) -> Pack | None:
        """One function that encodes the caller's operations; None where they are not to be encoded so.

        They end with READ, whose data are received in place; or have owners, into which the session puts its client id.
        """
        own = self.classes[1:]
        if not own or own[-1] is Read4Args or not ARGOPS.numbers.keys() >= set(own) or HAVE_OWNERS & set(own):
            return None
        return encoder_of(ARGOPS, own)

    @functools.cached_property
    def is_cached(self) -> bool:
        """Whether the server is to keep the reply, because the operations change something."""
        return not HARMLESS.issuperset(self.classes)


class LateReplies:
    """The outlines of replies, by the operations of their compounds. What is known is bounded."""

    def __init__(self) -> None:
        self._forms: dict[tuple[type[t.Any], ...], Form] = {}

    def form(self, *classes: type[t.Any]) -> Form:
        """That of compounds of these operations."""
        form = self._forms.get(classes)
        if form is None:
            if len(self._forms) >= _MOST_FORMS:
                self._forms.clear()
            form = self._forms[classes] = Form(classes)
        return form

    def take(self, state: SessionState, request: Request, results: bytes) -> CompoundReply:
        """Take the results of a reply to a request. Raises `XdrError`, and as `SessionState.finish`."""
        form = self.form(*map(type, request.args.argarray))
        size = len(results)
        for outline in form.outlines:
            if outline.size == size and outline.unpack(results, 0) == outline.fixed:
                reply = self._taken(state, request, results)
                if reply is not None:
                    return reply
                break
        reply = state.finish(request, Compound4Res.from_xdr(results))
        form.misses += 1
        if form.misses >= form.next and size <= _LARGEST:
            form.next *= 2
            _learn(form, reply)
        return reply

    def _taken(self, state: SessionState, request: Request, results: bytes) -> CompoundReply | None:
        first = t.cast("Sequence4Args", request.args.argarray[0])
        sessionid, sequenceid, slotid, highest, target, flags = SEQUENCE.unpack_from(results, SEQUENCE_AT)
        if sequenceid != first.sa_sequenceid or slotid != first.sa_slotid or sessionid != first.sa_sessionid:
            return None
        state.finish_usual(request, highest, target, flags)
        return LateReply(request.args, results)


SEQUENCE_AT: t.Final = 4 + 4 + 4 + 4 + 4
"""Where SEQUENCE's numbers are: after the status, an empty tag, the count, and SEQUENCE's own number and status."""


def _learn(form: Form, reply: CompoundReply) -> None:
    """Make an outline, if the reply is the usual one: a session's, without a tag, sound and a success."""
    args = reply.args.argarray
    if reply.status or reply.res.tag or not args or not isinstance(args[0], Sequence4Args):
        return
    try:
        reply.require_sound()
    except ServerViolation:
        return
    form.outlines.insert(0, Outline(with_statuses(tokens(reply.res))))
    del form.outlines[_MOST_OUTLINES:]

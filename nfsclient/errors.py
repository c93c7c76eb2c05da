# SPDX-License-Identifier: MIT
"""The exceptions of the library. Each message says what was expected, what was seen, and what to do."""

from __future__ import annotations

import typing as t


class FailedCall(t.Protocol):
    """The call that an error arose from: an `Exchange` of `nfsclient.rpc.exchange`, which stands on this module."""

    @property
    def xid(self) -> int: ...
    @property
    def procedure(self) -> t.Any: ...
    @property
    def args(self) -> t.Any: ...
    @property
    def call(self) -> bytes: ...
    @property
    def reply(self) -> bytes | None: ...
    @property
    def transport(self) -> str: ...
    @property
    def peer(self) -> str: ...
    @property
    def local(self) -> str: ...
    @property
    def sent_at(self) -> float: ...


class NfsClientError(Exception):
    """Base of every error that this library raises on purpose.

    `exchange` is the call that it arose from, where there is one and exchanges are recorded. `advice` is the end of the
    message that says what a user of the library can do.
    """

    exchange: FailedCall | None = None
    advice: str = ""

    @property
    def seen(self) -> str:
        """The message without the advice: what was expected and what was seen."""
        return str(self).removesuffix(f"; {self.advice}") if self.advice else str(self)


class XdrError(NfsClientError):
    """A value that XDR or its declaration does not allow (RFC 4506).

    `path` names the field at fault from its outermost type on (``Write3Res.resok.count``), `detail` says what
    was expected and seen, `offset` is the byte position in the decoded buffer (-1 when encoding).
    """

    def __init__(self, path: str, detail: str, offset: int = -1) -> None:
        where = f" at byte {offset}" if offset >= 0 else ""
        super().__init__(f"{path}{where}: {detail}")
        self.path = path
        self.detail = detail
        self.offset = offset


class BadPadding(XdrError):
    """Padding of other bytes than zeros: often they are of the memory of whoever encoded it."""


class UnknownArm(XdrError):
    """A union whose discriminant, or a choice whose number, is none that the declaration has.

    An extension of the protocol may have brought it (RFC 8178): what follows it cannot be read.
    """


# ---------------------------------------------------------------- RPC (RFC 5531)


class RpcError(NfsClientError):
    """A call that brought no result: it was not answered, or refused by the RPC layer of the server."""


class ConnectFailed(RpcError):
    """No connection: `address` was tried, `cause` is what the operating system said."""

    advice = "is the server running, and is that its port?"

    def __init__(self, address: str, cause: str) -> None:
        super().__init__(f"cannot connect to {address}: {cause}; {self.advice}")
        self.address = address
        self.cause = cause


class RpcTimeout(RpcError):
    """No answer within `seconds`."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"{what} was not answered within {seconds:g} s")
        self.what = what
        self.seconds = seconds


class ConnectionLost(RpcError):
    """The connection ended before the answer came, or before a call could be sent."""

    advice = "`reconnect` makes a new one"

    def __init__(self, what: str, cause: str) -> None:
        super().__init__(f"{what}: the connection ended ({cause}); {self.advice}")
        self.what = what
        self.cause = cause


class ServerDown(RpcError):
    """The server did not come back while the patience of the client lasted."""

    advice = "is the server running? a longer patience waits longer"

    def __init__(self, what: str, address: str, seconds: float, attempts: int, cause: str) -> None:
        super().__init__(
            f"{what}: no answer from {address} for {seconds:.1f} s, in {attempts} attempts to reach it again; the last"
            f" error was: {cause}; {self.advice}"
        )
        self.what = what
        self.address = address
        self.seconds = seconds
        self.attempts = attempts
        self.cause = cause


class BadReply(RpcError):
    """Bytes from the peer that break RPC itself (RFC 5531 sections 8, 9 and 11); `data` has them."""

    def __init__(self, why: str, data: bytes, path: str = "reply") -> None:
        super().__init__(f"the peer's message is no valid RPC: {why}")
        self.why = why
        self.data = data
        self.path = path


class RpcDenied(RpcError):
    """The server refused to look at the call: MSG_DENIED (RFC 5531 section 9)."""


class RpcMismatch(RpcDenied):
    """RPC_MISMATCH: the server speaks RPC versions `low` to `high` only."""

    def __init__(self, low: int, high: int) -> None:
        super().__init__(f"the server refused RPC version 2: it says that it speaks {low} to {high}")
        self.low = low
        self.high = high


class AuthFailed(RpcDenied):
    """AUTH_ERROR: the credential was refused; `auth_stat` says why."""

    advice = "try another uid, flavour or a privileged port"

    def __init__(self, auth_stat: int, name: str) -> None:
        super().__init__(f"the server refused the credential: {name}; {self.advice}")
        self.auth_stat = auth_stat


class RpcRejected(RpcError):
    """The call was accepted but not executed (RFC 5531 section 9, accept_stat)."""


class ProgUnavail(RpcRejected):
    """PROG_UNAVAIL: the program is not served at this address."""

    advice = "is this the right port?"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: the program is not served here (PROG_UNAVAIL); {self.advice}")


class ProgMismatch(RpcRejected):
    """PROG_MISMATCH: the program is served in versions `low` to `high` only."""

    def __init__(self, what: str, low: int, high: int) -> None:
        super().__init__(f"{what}: the server has this program in versions {low} to {high} (PROG_MISMATCH)")
        self.low = low
        self.high = high


class ProcUnavail(RpcRejected):
    """PROC_UNAVAIL: the program has no such procedure at this server."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: the server does not have this procedure (PROC_UNAVAIL)")


class GarbageArgs(RpcRejected):
    """GARBAGE_ARGS: the server could not decode the arguments."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: the server could not decode the arguments (GARBAGE_ARGS)")


class SystemErr(RpcRejected):
    """SYSTEM_ERR: the server failed for an internal reason, such as lack of memory."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: the server failed inside (SYSTEM_ERR)")


# ---------------------------------------------------------------- above RPC


class NfsStatusError(NfsClientError):
    """A procedure answered with an error status; `path` is the object of the call, if it is known."""

    reply: t.Any = None
    """The reply with the status where there is one; of a compound the whole (`CompoundReply`)."""

    def __init__(self, status: t.Any, procedure: str, path: str | None = None) -> None:
        super().__init__(status, procedure, path)
        self.status = status
        self.procedure = procedure
        self.path = path

    def __str__(self) -> str:
        about = f" on {self.path}" if self.path else ""
        return f"{self.procedure}{about} answered {self.status}"


class RetriesExhausted(NfsStatusError):
    """The server kept asking for patience (JUKEBOX) until ours ended."""


class LoopEnded(NfsClientError):
    """Whoever owns the loop has set a time for the end of all waiting (`Loop.end_at`), and it has come."""

    def __init__(self) -> None:
        super().__init__("the time for the end of all calls has come (Loop.end_at)")


class NoProgress(NfsClientError):
    """The server keeps answering success without executing the calls."""


class ServerViolation(NfsClientError):
    """The server answered what the RFC forbids and what would corrupt data if it were believed."""

    def about(self, path: str) -> t.Self:
        """This error, with the path of the object that the call was about in its message."""
        self.args = (f"{path}: {self}",)
        return self


class NotInVersion(NfsClientError):
    """The version of NFS has no such operation, or cannot express its arguments; nothing was sent."""

    def __init__(self, version: str, what: str) -> None:
        super().__init__(f"{version} has no {what}")
        self.version = version


class ImpossibleResult(ServerViolation):
    """The result of one operation cannot be true, whatever a server has: more data than was requested, ..."""


class EndlessListing(NoProgress):
    """The pages of a directory do not come to an end, or not within the bounds of the caller: what was seen so far."""

    def __init__(
        self, text: str, entries: int = 0, pages: int = 0, names: int = 0, seconds: float = 0.0
    ) -> None:
        super().__init__(text)
        self.entries = entries
        self.pages = pages
        self.names = names
        """Bytes of the names of the entries."""
        self.seconds = seconds
        """Time of waiting for the pages."""


class UrlError(NfsClientError):
    """A URL that names no NFS export."""


class MountFailed(NfsClientError):
    """The way from a URL to a file handle ended at `step` ("rpcbind", "MOUNT", "export", ...)."""

    def __init__(self, step: str, detail: str) -> None:
        super().__init__(f"{step}: {detail}")
        self.step = step
        self.detail = detail

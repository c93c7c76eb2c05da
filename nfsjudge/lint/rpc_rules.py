# SPDX-License-Identifier: MIT
"""Rules that hold for the replies of any RPC program (RFC 5531, RFC 4506)."""

from __future__ import annotations

from nfsclient.errors import AuthFailed, BadReply, ProgMismatch, RpcMismatch, XdrError
from nfsclient.rpc.messages import RPC_VERSION
from nfsjudge.answers import answer_name, describe_xdr_error
from nfsjudge.lint.case import Case
from nfsjudge.lint.rule import Breach, rule
from nfsjudge.requirement import RPC_REPLY, XDR_STRICT, should, stated

ONE_REPLY = stated(
    "RFC 5531",
    "9",
    "a reply answers a call by its XID: there is none without a call, nor a second one over a stream",
)
REFUSAL_HAS_A_REASON = should(
    "RFC 5531", "9", "AUTH_ERROR comes with why authentication failed, not with AUTH_OK"
)
MISMATCH_TELLS_A_RANGE = should(
    "RFC 5531",
    "9",
    "a mismatch tells the lowest and the highest version supported, which leaves out the one refused",
)


@rule("rpc/results-decode", XDR_STRICT, of=None, killed_by="null3-returns-results", when="failed")
def results_decode(case: Case) -> Breach | None:
    """Results that break XDR: limits, padding, booleans, bytes left over."""
    error = case.exchange.error
    if isinstance(error, XdrError) and error.offset >= 0 and case.exchange.reply is not None:
        return Breach("results that decode", describe_xdr_error(error), error=error)
    return None


@rule("rpc/reply-form", RPC_REPLY, of=None, killed_by="rpc-pads-verifiers-with-stale-memory", when="failed")
def reply_form(case: Case) -> Breach | None:
    """A message that is no valid RPC reply."""
    error = case.error
    if isinstance(error, BadReply) and case.exchange.reply is not None:
        return Breach("a valid RPC reply", error.why, error=error)
    return None


@rule(
    "rpc/reply-without-call",
    ONE_REPLY,
    of=None,
    killed_by="rpc-half-close-gets-a-surplus-reply",
    when="failed",
)
def reply_without_call(case: Case) -> Breach | None:
    """A reply over a stream that answers no call which is still open."""
    exchange = case.exchange
    if exchange.call or exchange.reply is None or exchange.transport == "udp":
        return None
    return Breach("a reply to a call", f"a reply with xid 0x{exchange.xid:08x}, to which no call was open")


@rule("rpc/auth-error-ok", REFUSAL_HAS_A_REASON, of=None, killed_by="rpc-refuses-with-auth-ok", when="failed")
def auth_error_ok(case: Case) -> Breach | None:
    """A denial with the reason AUTH_OK."""
    error = case.error
    if isinstance(error, AuthFailed) and error.auth_stat == 0:
        return Breach("an auth_stat that is a failure", "AUTH_ERROR with AUTH_OK", error=error)
    return None


@rule(
    "rpc/mismatch-range",
    MISMATCH_TELLS_A_RANGE,
    of=None,
    killed_by="rpc-prog-mismatch-swaps-versions",
    when="failed",
)
def mismatch_range(case: Case) -> Breach | None:
    """A range that is empty, or has the RPC version that it refuses."""
    error = case.error
    if not isinstance(error, ProgMismatch | RpcMismatch):
        return None
    seen = f"{answer_name(error)} with {error.low} to {error.high}"
    if error.low > error.high:
        return Breach("low is at most high", seen)
    asked = int.from_bytes(case.exchange.call[8:12], "big")
    if isinstance(error, RpcMismatch) and asked == RPC_VERSION and error.low <= asked <= error.high:
        return Breach("a range without the version that was refused", f"{seen} for version {asked}")
    return None

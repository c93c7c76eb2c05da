# SPDX-License-Identifier: MIT
"""What a server demands of its callers that nfsproof does not give: TLS, or another flavor than AUTH_SYS."""

from __future__ import annotations

import re
import typing as t
from collections.abc import Callable, Sequence
from contextlib import closing, suppress

from nfsclient.clients import Nfs3
from nfsclient.errors import AuthFailed, NfsClientError
from nfsclient.rpc.auth import RawCredential
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.messages import AuthFlavor, AuthStat

_FLAVORS: t.Final = {
    0: "AUTH_NONE",
    1: "AUTH_SYS",
    2: "AUTH_SHORT",
    3: "AUTH_DH",
    6: "RPCSEC_GSS",
    390003: "krb5",
    390004: "krb5i",
    390005: "krb5p",
}
"""RFC 5531 section 8.2, and the pseudo flavors of Kerberos: RFC 2623 section 2.7."""
KRB5: t.Final = 390003
"""Then those of krb5i and krb5p, as the services of RPCSEC_GSS: none, integrity, privacy, from 1 on."""
_STARTTLS: t.Final = b"STARTTLS"
_VERIFIER: t.Final = 12
"""Where it begins in a reply that was accepted: after XID, type and state."""
SYS_ONLY: t.Final = "allow AUTH_SYS (sec=sys) for this host: nfsproof has no other flavor"
NO_TLS: t.Final = "allow calls without TLS (xprtsec=none) for this host: nfsproof tests without it"


def named(flavors: Sequence[int]) -> str:
    """Flavors by name: ``krb5, krb5p``."""
    return ", ".join(_FLAVORS.get(flavor, f"flavor {flavor}") for flavor in flavors)


_DENIED = re.compile(r"(?:ACCES|PERM|WRONGSEC)\b")


def may_be_security(refusal: str) -> bool:
    """Whether TLS may help against a refusal, by its text: Linux offers TLS where it can, required or not."""
    return _DENIED.search(refusal) is not None


def offers_tls(connect: Callable[[], RpcClient]) -> bool:
    """Whether a server answers NULL with AUTH_TLS as one that can do TLS does (RFC 9289 section 4.1)."""
    seen: list[Exchange] = []
    with suppress(NfsClientError), closing(connect()) as rpc:
        rpc.on_exchange = seen.append
        Nfs3(rpc, credential=RawCredential(AuthFlavor.AUTH_TLS)).null()
    reply = seen[-1].reply if seen else None
    if reply is None or reply[4:_VERIFIER] != (1).to_bytes(4, "big") + bytes(4):
        return False
    flavor, length = reply[_VERIFIER:][:4], int.from_bytes(reply[_VERIFIER + 4 :][:4], "big")
    return flavor == bytes(4) and reply[_VERIFIER + 8 :][:length] == _STARTTLS


def is_too_weak(error: BaseException | None) -> bool:
    """Whether a server says that the credential of a call, AUTH_SYS, is not enough: AUTH_TOOWEAK."""
    while error is not None:
        if isinstance(error, AuthFailed) and error.auth_stat == AuthStat.AUTH_TOOWEAK:
            return True
        error = error.__cause__
    return False

# SPDX-License-Identifier: MIT
"""Universal addresses, and the reachability of what they name."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

from nfsclient.protocol.rpcbind import UniversalAddressError, from_universal
from nfsjudge import Requirement, expect_that

WhyNobodyAnswers = Callable[[int, int, int, str], str]
"""The fixture `why_nobody_answers`: (program, version, port, transport) -> a reason, or an empty string."""


def expect_service(reason: str, what: str, *, because: Requirement | None = None) -> None:
    """Expect that a program answers NULL; `reason` is what `why_nobody_answers` returned."""
    __tracebackhide__ = True
    expect_that(not reason, "a reply to NULL", f"none ({reason})", what, because=because)


def expect_universal(address: str, netid: str, what: str, *, because: Requirement | None = None) -> None:
    """Expect a valid universal address of this transport."""
    __tracebackhide__ = True
    expect_that(is_universal(address, netid), "a universal address", address, what, because=because)


def is_universal(address: bytes | str, netid: str) -> bool:
    """Whether the address is a valid universal address of this transport."""
    text = address.decode(errors="replace") if isinstance(address, bytes) else address
    try:
        host, _ = from_universal(text)
    except UniversalAddressError:
        return False
    return ipaddress.ip_address(host).version == (6 if netid.endswith("6") else 4)

# SPDX-License-Identifier: MIT
"""Universal addresses, and the reachability of what they name."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

from nfsclient.protocol.rpcbind import UniversalAddressError, from_universal

WhyNobodyAnswers = Callable[[int, int, int, str], str]
"""The fixture `why_nobody_answers`: (program, version, port, transport) -> a reason, or an empty string."""


def is_universal(address: bytes | str, netid: str) -> bool:
    """Whether the address is a valid universal address of this transport."""
    text = address.decode(errors="replace") if isinstance(address, bytes) else address
    try:
        host, _ = from_universal(text)
    except UniversalAddressError:
        return False
    return ipaddress.ip_address(host).version == (6 if netid.endswith("6") else 4)

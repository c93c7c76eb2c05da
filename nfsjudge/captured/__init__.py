# SPDX-License-Identifier: MIT
"""Captures read: from pcap and pcapng files to exchanges of ONC RPC, in bounded memory, with the standard library."""

from __future__ import annotations

from nfsjudge.captured.errors import BadCapture
from nfsjudge.captured.packets import Packet, read_packets
from nfsjudge.captured.reading import Reading
from nfsjudge.captured.traffic import Statistics

__all__ = ["BadCapture", "Packet", "Reading", "Statistics", "read_packets"]

# SPDX-License-Identifier: MIT
"""ONC RPC (RFC 5531)."""

from __future__ import annotations

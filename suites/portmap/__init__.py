# SPDX-License-Identifier: MIT
"""Checks of portmap and rpcbind (RFC 1833)."""

from __future__ import annotations

import typing as t

BEGINS_WITH: t.Final = (("portmap", "Portmap", "nfsclient.clients"),)
"""The fixtures of a check that `nfsproof new-check` begins: name, type, module of the type."""

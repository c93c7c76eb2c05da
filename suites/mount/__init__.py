# SPDX-License-Identifier: MIT
"""Checks of the MOUNT protocol (RFC 1813 section 5, RFC 1094 appendix A)."""

from __future__ import annotations

import typing as t

BEGINS_WITH: t.Final = (("mount3", "Mount", "nfsclient.clients"),)
"""The fixtures of a check that `nfsproof new-check` begins: name, type, module of the type."""

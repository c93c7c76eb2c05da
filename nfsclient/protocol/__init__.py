# SPDX-License-Identifier: MIT
"""The protocols as data: wire types, procedures and programs, one module or package per protocol."""

from __future__ import annotations

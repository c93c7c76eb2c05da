# SPDX-License-Identifier: MIT
"""The embedded server as the Linux kernel mounts it."""

from __future__ import annotations

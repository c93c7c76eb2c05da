# SPDX-License-Identifier: MIT
"""Checks of NFSv2 (RFC 1094)."""

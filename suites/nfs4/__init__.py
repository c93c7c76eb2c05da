# SPDX-License-Identifier: MIT
"""Checks of NFSv4.1 and 4.2 (RFC 5661, RFC 7862)."""

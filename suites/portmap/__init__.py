# SPDX-License-Identifier: MIT
"""Checks of the port mapper (RFC 1833 section 3)."""

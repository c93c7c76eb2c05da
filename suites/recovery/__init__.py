# SPDX-License-Identifier: MIT
"""Checks of NFS version 3 (RFC 1813 section 3)."""

# SPDX-License-Identifier: MIT
"""Checks of the MOUNT protocol (RFC 1813 section 5, RFC 1094 appendix A)."""

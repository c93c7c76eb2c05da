# SPDX-License-Identifier: MIT
"""The reference server."""

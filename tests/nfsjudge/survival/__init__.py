# SPDX-License-Identifier: MIT
"""Tests of what may be there after a crash."""

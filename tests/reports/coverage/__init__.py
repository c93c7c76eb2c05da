# SPDX-License-Identifier: MIT
"""Tests of coverage."""

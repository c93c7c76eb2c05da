# SPDX-License-Identifier: MIT
"""Tests of the reader of captures."""

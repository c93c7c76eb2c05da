# SPDX-License-Identifier: MIT
"""Tests of the targets that a run can start, and of the diagnosis of one that does not answer."""

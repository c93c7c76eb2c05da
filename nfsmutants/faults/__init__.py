# SPDX-License-Identifier: MIT
"""Mutants that show only when messages are lost, doubled or late."""

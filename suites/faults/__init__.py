# SPDX-License-Identifier: MIT
"""Checks of what servers do when messages are lost, doubled, late or in pieces."""

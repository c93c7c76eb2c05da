# SPDX-License-Identifier: MIT
"""Mutants of MOUNT."""

# SPDX-License-Identifier: MIT
"""Mutants that show only after a crash or a restart, of any protocol."""

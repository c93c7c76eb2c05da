# SPDX-License-Identifier: MIT
"""Mutants that a rule of the lint catches, and no check."""

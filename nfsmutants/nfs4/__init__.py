# SPDX-License-Identifier: MIT
"""Mutants of NFSv4.1 and 4.2."""

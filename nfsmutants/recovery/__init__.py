# SPDX-License-Identifier: MIT
"""Mutants of NFSv3."""

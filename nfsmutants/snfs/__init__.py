# SPDX-License-Identifier: MIT
"""Mutants of Spritely NFS."""

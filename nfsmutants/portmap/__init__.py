# SPDX-License-Identifier: MIT
"""Mutants of portmap and rpcbind."""

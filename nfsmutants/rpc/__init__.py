# SPDX-License-Identifier: MIT
"""Mutants of RPC: messages, credentials, arguments, and what lies below messages."""

# SPDX-License-Identifier: MIT
"""Mutants of RPC: messages, credentials, arguments, fragments, connections and datagrams."""

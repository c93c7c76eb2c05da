# SPDX-License-Identifier: MIT
"""Checks of ONC RPC itself (RFC 1831), with the NFS program of the target."""

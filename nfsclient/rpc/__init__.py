# SPDX-License-Identifier: MIT
"""ONC RPC version 2 (RFC 5531): messages, record marking, a core without I/O, drivers, services."""

# SPDX-License-Identifier: MIT
"""The plan at the level of packets: a client and a server in private networks, and a bridge between them."""

# SPDX-License-Identifier: MIT
"""How a server's response time depends on load and network: curves, fits, a queueing model."""

# SPDX-License-Identifier: MIT
"""`nfsproof proxy`: a fault plan between a client and a server, what it shows, and what it writes."""

# SPDX-License-Identifier: MIT
"""`nfsproof replay`: the requests in a capture, and what a server answers to them today."""

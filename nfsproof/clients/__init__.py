# SPDX-License-Identifier: MIT
"""Clients under test: the same work under the same fault plans, between a client and the embedded server."""

# SPDX-License-Identifier: MIT
"""Clients under test."""

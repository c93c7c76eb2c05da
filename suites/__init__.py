# SPDX-License-Identifier: MIT
"""The checks: one package per protocol, one module per procedure or mechanism."""

# SPDX-License-Identifier: MIT
"""Scripts: workloads that run once, in phases. Their result is seconds by phase, calls by procedure, and bytes."""

# SPDX-License-Identifier: MIT
"""Workloads of published papers on any server: what they do, what it costs in calls, and how long it lasts."""

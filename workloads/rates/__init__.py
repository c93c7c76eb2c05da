# SPDX-License-Identifier: MIT
"""Rates: workloads of which a unit is repeated. Their result is units per second, and histograms of latencies."""

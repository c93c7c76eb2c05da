# SPDX-License-Identifier: MIT
"""One client per module, each run as a process of its own: see `benchmarks.workers.common`."""

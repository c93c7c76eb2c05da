# SPDX-License-Identifier: MIT
"""One client per module, each run in its own process: see `benchmarks.workers.common`."""

# SPDX-License-Identifier: MIT
"""How fast nfsclient is, side by side with its peers. `benchmarks/run` starts it; README.md says what is measured."""

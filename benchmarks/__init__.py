# SPDX-License-Identifier: MIT
"""How fast nfsclient is, side by side with its peers. README.md says what is measured, `run` starts it."""

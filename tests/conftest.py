# SPDX-License-Identifier: MIT
"""What all our own tests share."""

from __future__ import annotations

# Here and not beside the tests of the plugin: pytest takes this name from the first conftest files only.
pytest_plugins = ["pytester"]

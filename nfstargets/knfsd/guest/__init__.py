# SPDX-License-Identifier: MIT
"""What runs inside the virtual machine: nothing here is imported by the run."""

# SPDX-License-Identifier: MIT
"""The Linux kernel's NFS server as a target: a small virtual machine, started by the run in separate namespaces."""

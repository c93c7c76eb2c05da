# SPDX-License-Identifier: MIT
"""Results of workloads for people and for other programs. They read results (`workloads.result`) and nothing else."""

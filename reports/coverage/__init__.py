# SPDX-License-Identifier: MIT
"""Coverage: which sections of the RFCs, and which pairs of operation and error, have a check.

`rendering` makes the pages. It is not imported here: a run only draws its charts from the sections.
"""

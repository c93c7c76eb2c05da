# SPDX-License-Identifier: MIT
"""What may be there after a crash: every state of files and names that the acknowledgements of a server allow.

Pure: no calls are made here. A check reports to a `Tree` what the server has acknowledged, and gives it what is there
after the crash (`SeenNode`); the tree returns the first `Violation`.
"""

from __future__ import annotations

from nfsjudge.survival.content import Content, Level
from nfsjudge.survival.promises import Promise, Violation
from nfsjudge.survival.tree import Node, SeenNode, Tree

__all__ = ["Content", "Level", "Node", "Promise", "SeenNode", "Tree", "Violation"]
